package monitor

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"orange/internal/rules/record"
)

// screensEvery is how often the agents' screens are looked at. A screen has to be still for screensQuiet, and people
// should hear of it within five seconds.
const (
	screensEvery = 2 * time.Second
	screensQuiet = 2 * time.Second
)

// A look at the screens that have changed rests so many times its processor time, so that it costs a third of a percent
// of a processor however many agents there are. A look at all of them costs a tenth: it finds only what the others have
// missed.
const (
	screensRest = 300
	screensMost = time.Minute
	wholeRest   = 1000
	wholeMost   = 2 * time.Minute
	fewScreens  = 20
)

// restAfter is how long the watch rests after a look at screens that have changed, which cost so much processor time.
func restAfter(spent time.Duration) time.Duration {
	return min(max(screensEvery, screensRest*spent), screensMost)
}

// screenWatch knows which screens are to be looked at next: now and then all of them, and in between those that have
// changed.
type screenWatch struct {
	all  time.Time // when to look at all of them again
	from time.Time // the others were looked at as they were before
}

// next is from when on the screens that have changed are to be looked at; zero for all of them.
func (w *screenWatch) next(now time.Time) time.Time {
	if !now.Before(w.all) {
		return time.Time{}
	}
	return w.from
}

// nextLook takes what came of a look that began then at the screens that had changed since, and answers how long to
// rest. What was left, or failed, is looked at once more. The processor time is that of all that the monitor did
// meanwhile: a look at few screens costs next to nothing of it.
func (w *screenWatch) nextLook(since, began time.Time, spent time.Duration, screens int,
	more, failed bool) time.Duration {
	rest := screensEvery
	switch {
	case since.IsZero():
		rests := min(max(screensEvery, wholeRest*spent), wholeMost)
		if w.all = began.Add(rests); more && !failed { // what fails each time is not tried all the time
			w.all = began
		}
	case screens > fewScreens:
		rest = restAfter(spent)
	}
	if !more && !failed {
		w.from = began.Add(-screensQuiet - time.Second) // what was not still then; tmux knows whole seconds
	}
	return rest
}

// watchScreens tells people when an agent begins to wait for them, until ctx ends.
func (m *Monitor) watchScreens(ctx context.Context) {
	if m.Needs == nil {
		return
	}
	known, trouble := map[string]waiting{}, ""
	var watch screenWatch
	for rest := screensEvery; ctx.Err() == nil; {
		if pause(ctx, rest); ctx.Err() != nil {
			return
		}
		began, before := m.Now(), m.Spent()
		since := watch.next(began)
		screens, more, err := m.screens(ctx, known, since)
		rest = watch.nextLook(since, began, m.Spent()-before, screens, more, err != nil)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != trouble { // Orange logs the same once
			m.report(ctx, "screens", err)
		}
		trouble = text
	}
}

// goOnTime is how long one look may take for agents that are to go on: to type takes seconds, and people wait to hear
// of others.
const goOnTime = time.Second

// waiting is what is known of an agent that waits.
type waiting struct {
	kind  string    // of the need that people have heard of
	since time.Time // when the agent came to rest at its limit
	again time.Time // when to ask again whether it is to go on; zero if it is not
}

// screens tells people of agents that wait for them, each once while it does, and has agents go on whose limit is over.
// It looks at all agents where since is zero, else at those whose screens have changed since, and returns how many it
// looked at, and whether some were left. known has what is known of those that wait, by task.
func (m *Monitor) screens(ctx context.Context, known map[string]waiting, since time.Time) (
	looked int, more bool, err error) {
	tasks, err := m.taskLists(ctx)
	if err != nil {
		return 0, false, err
	}
	asked := tasks.seated
	if len(asked) == 0 {
		clear(known)
		return 0, false, nil
	}
	needs, more, err := m.Needs(ctx, asked, since)
	if needs == nil {
		return 0, more, err
	}
	began := m.Now()
	now := make(map[string]waiting, len(known))
	for i := range asked {
		id := asked[i].ID
		need, seen := needs[id]
		one, waits := known[id]
		if !seen && waits {
			now[id] = one // its screen is as it was, or could not be looked at
		}
		if need.Kind == record.NeedsLimit && need.Rest == nil {
			continue // the mark that came with the agent's end says so
		}
		switch {
		case need.Rest == nil:
		case m.Now().Sub(began) < goOnTime:
			err = errors.Join(err, m.goOn(ctx, id, *need.Rest, &one))
		default:
			more = true // the others come with the next look
		}
		if need.OnScreen() || need.Kind == record.NeedsRefused { // Orange tells of the others where they come from
			if one.kind != need.Kind {
				m.tell(ctx, asked[i], notice(need))
			}
			one.kind = need.Kind
			now[id] = one
		}
	}
	clear(known)
	maps.Copy(known, now)
	return len(needs), more, err
}

// notice is a need for people who are elsewhere: its reason, and the first command for it, which names the task.
func notice(need record.Need) string {
	do := need.Want
	if len(need.Commands) > 0 {
		do = need.Commands[0]
	}
	return "needs you: " + cmp.Or(need.Reason, need.Found) + "; " + do
}

// goOn has an agent go on that rests at its limit, if that is over. It asks once for each rest, and again when the
// engine says.
func (m *Monitor) goOn(ctx context.Context, id string, rest record.Rest, known *waiting) (err error) {
	if known.since.Equal(rest.Since) && (known.again.IsZero() || known.again.After(m.Now())) {
		return nil
	}
	known.since = rest.Since
	known.again, err = m.GoOn(ctx, id, rest)
	if err != nil {
		known.again = m.Now().Add(defaultInterval)
	}
	return err
}

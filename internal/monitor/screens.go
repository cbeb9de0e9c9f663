package monitor

import (
	"context"
	"errors"
	"maps"
	"time"

	"orange/internal/record"
	"orange/internal/task"
)

// screensEvery is how often the agents' screens are looked at. A screen has to be still for two seconds, and people
// should hear of it within five.
const screensEvery = 2500 * time.Millisecond

// screensRest is how many times the processor time of a look the watch rests after it, at least and up to the usual
// look: the looks cost a third of a percent of a processor, however many agents there are.
const screensRest = 300

// restAfter is how long the watch rests after a look that cost so much processor time.
func restAfter(spent time.Duration) time.Duration {
	return min(max(screensEvery, screensRest*spent), defaultInterval)
}

// watchScreens tells people when an agent begins to wait for them, until ctx ends.
func (m *Monitor) watchScreens(ctx context.Context) {
	if m.Needs == nil {
		return
	}
	known, trouble := map[string]waiting{}, ""
	for next := screensEvery; ctx.Err() == nil; {
		if pause(ctx, next); ctx.Err() != nil {
			return
		}
		before := m.Spent()
		err := m.screens(ctx, known)
		next = restAfter(m.Spent() - before)
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
// known has what is known of those that wait, by task.
func (m *Monitor) screens(ctx context.Context, known map[string]waiting) error {
	tasks, err := m.taskLists(ctx)
	if err != nil {
		return err
	}
	var asked []task.Task
	for i := range tasks.live {
		if tasks.live[i].Session != "" {
			asked = append(asked, tasks.live[i])
		}
	}
	if len(asked) == 0 {
		clear(known)
		return nil
	}
	needs, err := m.Needs(ctx, asked)
	if needs == nil {
		return err
	}
	began := m.Now()
	now := make(map[string]waiting, len(known))
	for i := range asked {
		id := asked[i].ID
		need, one := needs[id], known[id]
		if need.Kind == record.NeedsLimit && need.Rest == nil {
			continue // the mark that came with the agent's end says so
		}
		if need.Rest != nil && m.Now().Sub(began) < goOnTime { // the others come with the next look
			err = errors.Join(err, m.goOn(ctx, id, *need.Rest, &one))
		}
		switch need.Kind {
		case record.NeedsAnswer, record.NeedsWord, record.NeedsLimit: // Orange tells of the others where they come from
			if one.kind != need.Kind {
				m.Tell(ctx, asked[i], "needs you: "+need.String())
			}
			one.kind = need.Kind
			now[id] = one
		}
	}
	clear(known)
	maps.Copy(known, now)
	return err
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

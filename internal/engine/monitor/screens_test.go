package monitor

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// People hear once of an agent that waits for them, and again if it waits again; a failed look takes nothing back.
func TestScreens_tellOnceWhileAnAgentWaits(t *testing.T) {
	t.Parallel()
	m := &Monitor{Now: time.Now, Record: listed{{ID: "one", Live: true, Session: "s"}, {ID: "two", Live: true}}}
	var heard []string
	m.Tell = func(_ context.Context, one task.Task, text string) { heard = append(heard, one.ID+" "+text) }
	known := map[string]waiting{}
	for _, look := range []struct {
		kind string
		err  error
	}{{kind: record.NeedsAnswer}, {kind: record.NeedsAnswer}, {err: errors.New("blind")}, {kind: record.NeedsAnswer},
		{kind: record.NeedsPerson}, {kind: record.NeedsAnswer}} {
		m.Needs = func(_ context.Context, tasks []task.Task, _ time.Time) (map[string]record.Need, bool, error) {
			if len(tasks) != 1 || look.err != nil {
				return nil, false, look.err
			}
			return map[string]record.Need{"one": {Kind: look.kind, Reason: "dialog", Found: "found", Want: "do",
				Commands: []string{"orange task attach one", "other"}}}, false, nil
		}
		if _, _, err := m.screens(t.Context(), known, time.Time{}); !errors.Is(err, look.err) {
			t.Fatal(err)
		}
	}
	one := "one needs you: dialog; orange task attach one"
	if want := []string{one, one}; !slices.Equal(heard, want) {
		t.Errorf("people heard %q, want %q", heard, want)
	}
}

// Who reads of a task far from the machine can answer: every notice names the task.
func TestTell_namesTheTaskInEveryNotice(t *testing.T) {
	t.Parallel()
	var heard []string
	m := &Monitor{Tell: func(_ context.Context, _ task.Task, text string) { heard = append(heard, text) }}
	m.tell(t.Context(), task.Task{ID: "one"}, "merged")
	m.tell(t.Context(), task.Task{ID: "one"}, "dead; orange task respawn one")
	m.tell(t.Context(), task.Task{ID: "one"}, notice(record.Need{Found: "found", Want: "orange task why one"}))
	m.tell(t.Context(), task.Task{}, "restarted 2 agents")
	want := []string{"merged; orange task why one", "dead; orange task respawn one",
		"needs you: found; orange task why one", "restarted 2 agents"}
	if !slices.Equal(heard, want) {
		t.Errorf("people heard %q, want %q", heard, want)
	}
}

// An agent at its limit is asked to go on when that is over, and not with every look.
func TestScreens_haveAnAgentGoOnWhenItsLimitIsOver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	first, second := now, now.Add(2*time.Hour)
	m := &Monitor{Now: func() time.Time { return now }, Record: listed{{ID: "one", Live: true, Session: "s"}}}
	m.Tell = func(context.Context, task.Task, string) {}
	asked, known := 0, map[string]waiting{}
	var answer error
	m.GoOn = func(_ context.Context, id string, rest record.Rest) (time.Time, error) {
		if asked++; id != "one" || rest.Line != "limit" {
			t.Errorf("it asked for %s and %q", id, rest.Line)
		}
		return rest.Since.Add(time.Hour), answer
	}
	for i, look := range []struct {
		at    time.Time
		since time.Time
		kind  string
		asked int
		err   error
	}{
		{first, first, record.NeedsLimit, 1, nil}, // from when to ask again is known
		{first.Add(time.Minute), first, record.NeedsLimit, 1, nil},
		{first.Add(time.Hour), first, record.NeedsLimit, 2, nil},
		{second, second, record.NeedsLimit, 3, nil}, // it worked, and is at a limit again
		{second.Add(time.Minute), second, record.NeedsAnswer, 3, nil},
		{second.Add(time.Hour), second, record.NeedsLimit, 4, errors.New("blind")},
		{second.Add(time.Hour), second, record.NeedsLimit, 4, nil},
		{second.Add(2 * time.Hour), second, record.NeedsLimit, 5, nil},
	} {
		now, answer = look.at, look.err
		m.Needs = func(context.Context, []task.Task, time.Time) (map[string]record.Need, bool, error) {
			need := record.Need{Kind: look.kind}
			if look.kind == record.NeedsLimit {
				need.Rest = &record.Rest{Line: "limit", Since: look.since}
			}
			return map[string]record.Need{"one": need}, false, nil
		}
		if _, _, err := m.screens(t.Context(), known, time.Time{}); !errors.Is(err, look.err) || asked != look.asked {
			t.Errorf("look %d: it asked %d times, want %d: %v", i, asked, look.asked, err)
		}
	}
}

// An agent that has ended at its limit has a mark that said so: people hear of it once.
func TestScreens_tellNothingOfAnAgentThatEndedAtItsLimit(t *testing.T) {
	t.Parallel()
	m := &Monitor{Now: time.Now, Record: listed{{ID: "one", Live: true, Session: "s"}},
		Needs: func(context.Context, []task.Task, time.Time) (map[string]record.Need, bool, error) {
			return map[string]record.Need{"one": {Kind: record.NeedsLimit, Until: time.Now()}}, false, nil
		},
		Tell: func(_ context.Context, _ task.Task, text string) { t.Errorf("people heard %q", text) }}
	if _, _, err := m.screens(t.Context(), map[string]waiting{}, time.Time{}); err != nil {
		t.Error(err)
	}
}

// listed is a record with these tasks alone.
type listed []task.Task

func (listed) OpenSeats(context.Context, string) ([]record.Seat, error) { return nil, nil }

func (l listed) List(_ context.Context, f record.Filter) ([]task.Task, error) {
	if f.Live {
		return l, nil
	}
	return nil, nil
}

func (listed) Changed(context.Context) (int64, error) { return 1, nil }

func (listed) Writes(context.Context) (int64, error) { return 1, nil }

func (listed) Watch(context.Context, func()) error { return nil }

// The looks at screens cost a third of a percent of a processor at most, and people hear within five seconds as long as
// that is kept.
func TestScreens_areLookedAtLessOftenWhereALookCostsMore(t *testing.T) {
	t.Parallel()
	for spent, want := range map[time.Duration]time.Duration{
		0:                     screensEvery,
		time.Millisecond:      screensEvery,
		6 * time.Millisecond:  screensEvery,
		10 * time.Millisecond: 3 * time.Second,
		time.Second:           screensMost,
	} {
		if got := restAfter(spent); got != want {
			t.Errorf("after %v the watch rests %v, want %v", spent, got, want)
		}
	}
}

// Between the looks at all screens, which cost much where there are many, those that have changed are looked at. None
// is left out: neither one that was not still yet, nor one that could not be read.
func TestScreens_thatChangedAreReadBetweenFullLooks(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var watch screenWatch
	screens := 1
	look := func(wantAll bool, spent time.Duration, more, failed bool) (since time.Time) {
		t.Helper()
		since = watch.next(at)
		if since.IsZero() != wantAll {
			t.Errorf("it looks from %v on, want all of them: %t", since, wantAll)
		}
		at = at.Add(watch.nextLook(since, at, spent, screens, more, failed))
		return since
	}
	const dear = 15 * time.Millisecond // fifteen seconds until all of them are looked at again
	look(true, dear, true, false)
	look(true, dear, false, false) // some were left
	for n := range 7 {
		before := at.Add(-screensEvery)
		since := look(false, time.Millisecond, n == 2, n == 3)
		if n == 3 || n == 4 { // what the look before left, or could not read
			before = before.Add(-time.Duration(n-2) * screensEvery)
		}
		if want := before.Add(-screensQuiet - time.Second); !since.Equal(want) {
			t.Errorf("look %d is from %v on, want %v", n, since, want)
		}
	}
	look(true, dear, true, true)
	look(false, dear, false, false) // what fails each time is not tried all the time
	at = at.Add(15 * time.Second)
	if look(true, time.Microsecond, false, false); !watch.next(at).IsZero() {
		t.Error("where a look costs little, not all are looked at each time")
	}
	if rest := watch.nextLook(at, at, dear, fewScreens, false, false); rest != screensEvery {
		t.Errorf("after a look at few screens the watch rests %v", rest)
	}
	if rest := watch.nextLook(at, at, dear, fewScreens+1, false, false); rest != restAfter(dear) {
		t.Errorf("after a look at many screens the watch rests %v", rest)
	}
	look(true, time.Hour, false, false)
	if watch.next(at.Add(wholeMost-screensEvery-time.Second)).IsZero() || !watch.next(at.Add(wholeMost)).IsZero() {
		t.Errorf("it does not look at all of them after %v", wholeMost)
	}
}

// An agent whose screen did not change still waits: people do not hear of it again.
func TestScreens_rememberThoseThatWaitAndDidNotChange(t *testing.T) {
	t.Parallel()
	m := &Monitor{Now: time.Now, Record: listed{{ID: "one", Live: true, Session: "s"},
		{ID: "two", Live: true, Session: "s"}}}
	var heard []string
	m.Tell = func(_ context.Context, one task.Task, _ string) { heard = append(heard, one.ID) }
	asks, known := record.Need{Kind: record.NeedsAnswer}, map[string]waiting{}
	since := time.Now()
	for _, look := range []struct {
		since time.Time
		needs map[string]record.Need
	}{
		{time.Time{}, map[string]record.Need{"one": asks, "two": {}}},
		{since, map[string]record.Need{"two": asks}},
		{since, map[string]record.Need{}},
		{time.Time{}, map[string]record.Need{"one": asks, "two": asks}},
		{time.Time{}, map[string]record.Need{}}, // no one could be looked at
		{time.Time{}, map[string]record.Need{"one": asks, "two": asks}},
		{since, map[string]record.Need{"two": {}}}, // it works again
		{since, map[string]record.Need{"two": asks}},
	} {
		m.Needs = func(_ context.Context, _ []task.Task, from time.Time) (map[string]record.Need, bool, error) {
			if !from.Equal(look.since) {
				t.Errorf("it looks from %v on, want %v", from, look.since)
			}
			return look.needs, false, nil
		}
		if _, _, err := m.screens(t.Context(), known, look.since); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"one", "two", "two"}; !slices.Equal(heard, want) {
		t.Errorf("people heard of %q, want %q", heard, want)
	}
}

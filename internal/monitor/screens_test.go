package monitor

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"orange/internal/record"
	"orange/internal/task"
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
		m.Needs = func(_ context.Context, tasks []task.Task) (map[string]record.Need, error) {
			if len(tasks) != 1 || look.err != nil {
				return nil, look.err
			}
			return map[string]record.Need{"one": {Kind: look.kind, Found: "found", Want: "do"}}, nil
		}
		if err := m.screens(t.Context(), known); !errors.Is(err, look.err) {
			t.Fatal(err)
		}
	}
	if want := []string{"one needs you: found; do", "one needs you: found; do"}; !slices.Equal(heard, want) {
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
		m.Needs = func(context.Context, []task.Task) (map[string]record.Need, error) {
			need := record.Need{Kind: look.kind}
			if look.kind == record.NeedsLimit {
				need.Rest = &record.Rest{Line: "limit", Since: look.since}
			}
			return map[string]record.Need{"one": need}, nil
		}
		if err := m.screens(t.Context(), known); !errors.Is(err, look.err) || asked != look.asked {
			t.Errorf("look %d: it asked %d times, want %d: %v", i, asked, look.asked, err)
		}
	}
}

// An agent that has ended at its limit has a mark that said so: people hear of it once.
func TestScreens_tellNothingOfAnAgentThatEndedAtItsLimit(t *testing.T) {
	t.Parallel()
	m := &Monitor{Now: time.Now, Record: listed{{ID: "one", Live: true, Session: "s"}},
		Needs: func(context.Context, []task.Task) (map[string]record.Need, error) {
			return map[string]record.Need{"one": {Kind: record.NeedsLimit, Until: time.Now()}}, nil
		},
		Tell: func(_ context.Context, _ task.Task, text string) { t.Errorf("people heard %q", text) }}
	if err := m.screens(t.Context(), map[string]waiting{}); err != nil {
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
		8 * time.Millisecond:  screensEvery,
		10 * time.Millisecond: 3 * time.Second,
		time.Second:           defaultInterval,
	} {
		if got := restAfter(spent); got != want {
			t.Errorf("after %v the watch rests %v, want %v", spent, got, want)
		}
	}
}

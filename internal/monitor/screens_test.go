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
	told := map[string]string{}
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
		if err := m.screens(t.Context(), told); !errors.Is(err, look.err) {
			t.Fatal(err)
		}
	}
	if want := []string{"one needs you: found; do", "one needs you: found; do"}; !slices.Equal(heard, want) {
		t.Errorf("people heard %q, want %q", heard, want)
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

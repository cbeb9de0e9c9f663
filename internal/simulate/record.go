package simulate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// record is the real record as one run sees it. What was read is remembered until somebody writes: the database
// is what takes the time.
type recordPort struct{ r *run }

func remembered[T any](r *run, what string, ask func() (T, error)) (T, error) {
	if have, there := r.memory[what]; there {
		return have.(T), nil
	}
	got, err := ask()
	if err == nil {
		r.memory[what] = got
	}
	return got, err
}

func (r *run) load(ctx context.Context) (record.Snapshot, error) {
	got, err := remembered(r, "load", func() (record.Snapshot, error) { return r.record.Load(ctx, r.id) })
	got.Owed, got.Spent, got.Entry = slices.Clone(got.Owed), slices.Clone(got.Spent), slices.Clone(got.Entry)
	return got, err
}

func (r *run) history(ctx context.Context) ([]history.Event, error) {
	return remembered(r, "events", func() ([]history.Event, error) { return r.record.Events(ctx, r.id, 0) })
}

func (r *run) seats(ctx context.Context) ([]record.Seat, error) {
	got, err := remembered(r, "seats", func() ([]record.Seat, error) { return r.record.OpenSeats(ctx, r.id) })
	return slices.Clone(got), err
}

func (b recordPort) Load(ctx context.Context, id string) (record.Snapshot, error) {
	return at(b.r, "it reads the record", func() (record.Snapshot, error) {
		if id != b.r.id {
			return b.r.record.Load(ctx, id)
		}
		return b.r.load(ctx)
	})
}

func (b recordPort) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	r := b.r
	return at(r, "it commits "+describe(c), func() (task.Task, error) {
		t, err := r.record.Commit(ctx, c)
		clear(r.memory)
		if err == nil {
			r.committed(c, t)
		}
		return t, err
	})
}

// Hooks is no step at which a program dies: how often a waiting one looks, no dice decide.
func (b recordPort) Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error) {
	if p := b.r.at; p != nil && p.dead {
		return nil, errDied
	}
	got, err := remembered(b.r, fmt.Sprintf("hooks %d", event), func() ([]task.OwedHook, error) {
		return b.r.record.Hooks(ctx, id, event)
	})
	return slices.Clone(got), err
}

func (b recordPort) BeginHook(ctx context.Context, hook int64, now time.Time) error {
	return act(b.r, "it begins a hook", func() error {
		clear(b.r.memory)
		err := b.r.record.BeginHook(ctx, hook, now)
		if err == nil {
			b.r.begun(hook)
		}
		return err
	})
}

func (b recordPort) Delete(ctx context.Context, id string) error {
	return act(b.r, "it forgets the task", func() error {
		clear(b.r.memory)
		return b.r.record.Delete(ctx, id)
	})
}

func (b recordPort) List(ctx context.Context, f record.Filter) ([]task.Task, error) {
	return at(b.r, "it lists tasks", func() ([]task.Task, error) {
		got, err := remembered(b.r, fmt.Sprintf("list %+v", f), func() ([]task.Task, error) {
			return b.r.record.List(ctx, f)
		})
		return slices.Clone(got), err
	})
}

func (b recordPort) Holders(ctx context.Context, project string) ([]record.Holder, error) {
	return at(b.r, "it looks who has workspaces", func() ([]record.Holder, error) {
		return b.r.record.Holders(ctx, project)
	})
}

func (b recordPort) Debtors(ctx context.Context, now time.Time) ([]string, error) {
	return at(b.r, "it looks who owes hooks", func() ([]string, error) { return b.r.record.Debtors(ctx, now) })
}

func (b recordPort) Events(ctx context.Context, id string, after int) ([]history.Event, error) {
	return at(b.r, "it reads the history", func() ([]history.Event, error) {
		if id != b.r.id {
			return b.r.record.Events(ctx, id, after)
		}
		all, err := b.r.history(ctx)
		return slices.DeleteFunc(slices.Clone(all), func(e history.Event) bool { return e.Seq <= after }), err
	})
}

func (b recordPort) Lines(ctx context.Context, id string) ([]string, error) {
	return at(b.r, "it reads the lines of the history", func() ([]string, error) {
		got, err := remembered(b.r, "lines "+id, func() ([]string, error) { return b.r.record.Lines(ctx, id) })
		return slices.Clone(got), err
	})
}

func (b recordPort) WasRendered(ctx context.Context, id, field, value string) (bool, error) {
	return at(b.r, "it looks what TASK.md ever showed", func() (bool, error) {
		return b.r.record.WasRendered(ctx, id, field, value)
	})
}

func (b recordPort) Seat(ctx context.Context, hash string) (record.Seat, error) {
	return at(b.r, "it looks whose seat it is", func() (record.Seat, error) { return b.r.record.Seat(ctx, hash) })
}

func (b recordPort) SeatOf(ctx context.Context, pid int, began string) (record.Seat, error) {
	return at(b.r, "it looks whose process it is", func() (record.Seat, error) {
		return b.r.record.SeatOf(ctx, pid, began)
	})
}

func (b recordPort) OpenSeats(ctx context.Context, id string) ([]record.Seat, error) {
	return at(b.r, "it looks who has a seat", func() ([]record.Seat, error) {
		if id != b.r.id && id != "" {
			return b.r.record.OpenSeats(ctx, id)
		}
		return b.r.seats(ctx)
	})
}

// Close closes nothing: other runs come after this one.
func (b recordPort) Close() error { return nil }

// describe is a change in a few words.
func describe(c record.Change) string {
	for _, e := range c.Events {
		if e.IsMove() {
			return fmt.Sprintf("the move to %q", e.To)
		}
	}
	if len(c.Events) > 0 {
		return c.Events[len(c.Events)-1].Type
	}
	for _, s := range c.Settled {
		return "that a hook is " + string(s.State)
	}
	if c.NewSeat != nil {
		return "a seat"
	}
	return "a change"
}

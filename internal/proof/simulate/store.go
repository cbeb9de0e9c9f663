package simulate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Store is the record as one process sees it: it may end before and after every question that an engine asks for a
// move. The others go to the record itself.
func (v ProcessView) Store() Record { return store{v.Record, v} }

type store struct {
	Record
	v ProcessView
}

func (s store) Load(ctx context.Context, id string) (record.Snapshot, error) {
	return ask(s.v, "it reads the record", id, func() (record.Snapshot, error) { return s.v.Load(ctx, id) })
}

func (s store) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	return take(s.v.Process, Step{What: "it commits " + describe(c), Task: c.Task.ID}, func() (task.Task, error) {
		open, err := s.endingSeats(ctx, c)
		if err != nil {
			return task.Task{}, err
		}
		t, err := s.v.Record.Commit(ctx, c)
		s.v.forget(c.Task.ID)
		if err == nil {
			s.v.Observer.Committed(s.v, c, t, open)
		}
		return t, err
	})
}

// endingSeats are the open seats of the task of a change that may end some.
func (s store) endingSeats(ctx context.Context, c record.Change) ([]record.Seat, error) {
	if c.Expect == 0 || len(c.EndSeats) == 0 && c.DeadHook == 0 && c.TakenSeat == nil {
		return nil, nil
	}
	return s.v.OpenSeats(ctx, c.Task.ID)
}

func (s store) Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error) {
	return take(s.v.Process, Step{What: "it looks at hooks", Task: id, Poll: true}, func() ([]task.OwedHook, error) {
		got, err := remember(s.v.World, id, fmt.Sprintf("hooks %d", event), func() ([]task.OwedHook, error) {
			return s.v.Record.Hooks(ctx, id, event)
		})
		return slices.Clone(got), err
	})
}

func (s store) BeginHook(ctx context.Context, hook int64, now time.Time) error {
	return s.v.step("it begins a hook", "", func() error {
		s.v.forget("")
		err := s.v.Record.BeginHook(ctx, hook, now)
		if err == nil {
			s.v.Observer.Begun(s.v, hook)
		}
		return err
	})
}

func (s store) Refusals(ctx context.Context, id string) (record.Refusals, error) {
	return take(s.v.Process, Step{What: "it looks at refusals", Task: id}, func() (record.Refusals, error) {
		return s.v.Record.Refusals(ctx, id)
	})
}

func (s store) NoteRefusals(ctx context.Context, id string, r record.Refusals) error {
	return s.v.step("it notes a refusal", id, func() error { return s.v.Record.NoteRefusals(ctx, id, r) })
}

func (s store) Delete(ctx context.Context, id string) error {
	return s.v.step("it deletes the task", id, func() error {
		err := s.v.Record.Delete(ctx, id)
		s.v.forget(id)
		if err == nil {
			s.v.Observer.Deleted(id)
		}
		return err
	})
}

func (s store) List(ctx context.Context, f record.Filter) ([]task.Task, error) {
	return ask(s.v, "it lists tasks", "", func() ([]task.Task, error) { return s.v.List(ctx, f) })
}

func (s store) Holders(ctx context.Context, project string) ([]record.Holder, error) {
	return ask(s.v, "it looks who has workspaces", "", func() ([]record.Holder, error) {
		got, err := remember(s.v.World, "", "holders "+project, func() ([]record.Holder, error) {
			return s.v.Record.Holders(ctx, project)
		})
		return slices.Clone(got), err
	})
}

func (s store) PendingTasks(ctx context.Context, now time.Time) ([]string, error) {
	return ask(s.v, "it looks who owes hooks", "", func() ([]string, error) {
		return s.v.Record.PendingTasks(ctx, now)
	})
}

func (s store) Events(ctx context.Context, id string, after int) ([]history.Event, error) {
	return ask(s.v, "it reads the history", id, func() ([]history.Event, error) {
		all, err := s.v.Events(ctx, id)
		return slices.DeleteFunc(all, func(e history.Event) bool { return e.Seq <= after }), err
	})
}

func (s store) Tail(ctx context.Context, id string, after int) ([]string, int64, error) {
	lines, err := ask(s.v, "it reads the lines of the history", id, func() ([]string, error) {
		got, err := remember(s.v.World, id, "lines", func() ([]string, error) {
			lines, _, err := s.v.Record.Tail(ctx, id, 0)
			return lines, err
		})
		return slices.Clone(got), err
	})
	if err != nil {
		return nil, 0, err
	}
	return record.LinesOf(lines, false).Tail(after)
}

func (s store) WasRendered(ctx context.Context, id, field, value string) (bool, error) {
	return ask(s.v, "it looks what TASK.md ever showed", id, func() (bool, error) {
		return remember(s.v.World, id, "rendered "+field+" "+value, func() (bool, error) {
			return s.v.Record.WasRendered(ctx, id, field, value)
		})
	})
}

func (s store) Seat(ctx context.Context, hash string) (record.Seat, error) {
	return ask(s.v, "it looks whose seat it is", "", func() (record.Seat, error) {
		return s.v.Record.Seat(ctx, hash)
	})
}

func (s store) SeatOf(ctx context.Context, processes ...task.Process) (record.Seat, error) {
	return ask(s.v, "it looks whose process it is", "", func() (record.Seat, error) {
		return s.v.Record.SeatOf(ctx, processes...)
	})
}

func (s store) OpenSeats(ctx context.Context, id string) ([]record.Seat, error) {
	return ask(s.v, "it looks who has a seat", id, func() ([]record.Seat, error) { return s.v.OpenSeats(ctx, id) })
}

// Close closes nothing: other runs use the record after this one.
func (s store) Close() error { return nil }

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

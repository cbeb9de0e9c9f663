package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// record is the real record as one program sees it. Ports are given no context that ends: nothing here is
// cancelled, programs die.
type recordPort struct{ p *process }

// remembered asks the record once, until somebody writes what the answer may depend on: the record is what takes
// the time here. About is the task that the question is about; empty for one about many.
func remembered[T any](s *sim, about, what string, ask func() (T, error)) (T, error) {
	s.mu.Lock()
	have, there := s.cache[about][what]
	s.mu.Unlock()
	if there {
		return have.(T), nil
	}
	got, err := ask()
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.cache[about] == nil {
			s.cache[about] = map[string]any{}
		}
		s.cache[about][what] = got
	}
	return got, err
}

func (s *sim) wrote(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cache, id)
	delete(s.cache, "")
}

func (s *sim) load(id string) (record.Snapshot, error) {
	got, err := remembered(s, id, "load", func() (record.Snapshot, error) { return s.store.Load(here, id) })
	got.Owed, got.Spent, got.Entry = slices.Clone(got.Owed), slices.Clone(got.Spent), slices.Clone(got.Entry)
	return got, err
}

func (s *sim) seats(id string) ([]record.Seat, error) {
	got, err := remembered(s, id, "seats", func() ([]record.Seat, error) { return s.store.OpenSeats(here, id) })
	return slices.Clone(got), err
}

func (s *sim) hooks(id string, event int) ([]task.OwedHook, error) {
	got, err := remembered(s, id, fmt.Sprintf("hooks %d", event), func() ([]task.OwedHook, error) {
		return s.store.Hooks(here, id, event)
	})
	return slices.Clone(got), err
}

func (s *sim) history(id string) ([]history.Event, error) {
	got, err := remembered(s, id, "events", func() ([]history.Event, error) { return s.store.Events(here, id, 0) })
	return slices.Clone(got), err
}

func (s *sim) list(f record.Filter) ([]task.Task, error) {
	got, err := remembered(s, "", fmt.Sprintf("list %+v", f), func() ([]task.Task, error) {
		return s.store.List(here, f)
	})
	return slices.Clone(got), err
}

func (r recordPort) Load(_ context.Context, id string) (record.Snapshot, error) {
	return at(r.p, "load "+r.p.sim.short(id), func() (record.Snapshot, error) { return r.p.sim.load(id) })
}

func (r recordPort) Commit(_ context.Context, c record.Change) (task.Task, error) {
	s := r.p.sim
	return at(r.p, "commit "+s.short(c.Task.ID)+describe(c), func() (task.Task, error) {
		open, err := s.openSeats(c)
		if err != nil {
			return task.Task{}, err
		}
		t, err := s.store.Commit(here, c)
		s.wrote(c.Task.ID)
		if err != nil {
			s.tell(r.p, "is refused: "+err.Error())
			return t, err
		}
		s.rights.committed(s, r.p, c, t)
		s.committed(r.p, c, t, open)
		return t, nil
	})
}

// openSeats are the open seats of the task of a change that may end some.
func (s *sim) openSeats(c record.Change) ([]record.Seat, error) {
	if c.Expect == 0 || len(c.EndSeats) == 0 && c.DeadHook == 0 && c.TakenSeat == nil {
		return nil, nil
	}
	return s.seats(c.Task.ID)
}

func describe(c record.Change) string {
	var out strings.Builder
	for _, e := range c.Events {
		out.WriteString(" " + e.Type)
		if e.IsMove() {
			fmt.Fprintf(&out, " %s->%s (%s)", e.From, e.To, e.Reason)
		}
	}
	for _, one := range c.Settled {
		fmt.Fprintf(&out, " hook %d %s", one.ID, one.State)
	}
	if c.NewSeat != nil {
		fmt.Fprintf(&out, " new seat of %s for hook %d", c.NewSeat.Role, c.NewSeat.Hook)
	}
	return out.String()
}

// Hooks takes no turn: how often a waiting program looks depends on nothing that the dice decide.
func (r recordPort) Hooks(_ context.Context, id string, event int) ([]task.OwedHook, error) {
	return r.p.sim.hooks(id, event)
}

func (r recordPort) BeginHook(_ context.Context, id int64, now time.Time) error {
	s := r.p.sim
	return act(r.p, fmt.Sprintf("begin hook %d", id), func() error {
		err := s.store.BeginHook(here, id, now)
		if err == nil {
			s.begun(r.p, id)
		}
		for _, t := range s.twin.tasks {
			s.wrote(t.id)
		}
		return err
	})
}

func (r recordPort) Delete(_ context.Context, id string) error {
	s := r.p.sim
	return act(r.p, "delete "+s.short(id), func() error {
		defer s.wrote(id)
		err := s.store.Delete(here, id)
		if err == nil {
			s.forgotten(id)
		}
		return err
	})
}

func (r recordPort) List(_ context.Context, f record.Filter) ([]task.Task, error) {
	return at(r.p, "list tasks", func() ([]task.Task, error) { return r.p.sim.list(f) })
}

func (r recordPort) Holders(_ context.Context, project string) ([]record.Holder, error) {
	return at(r.p, "who has workspaces", func() ([]record.Holder, error) {
		return remembered(r.p.sim, "", "holders "+project, func() ([]record.Holder, error) {
			return r.p.sim.store.Holders(here, project)
		})
	})
}

func (r recordPort) Debtors(_ context.Context, now time.Time) ([]string, error) {
	return at(r.p, "who owes hooks", func() ([]string, error) { return r.p.sim.store.Debtors(here, now) })
}

func (r recordPort) Events(_ context.Context, id string, after int) ([]history.Event, error) {
	return at(r.p, "events of "+r.p.sim.short(id), func() ([]history.Event, error) {
		all, err := r.p.sim.history(id)
		return slices.DeleteFunc(all, func(e history.Event) bool { return e.Seq <= after }), err
	})
}

func (r recordPort) Lines(_ context.Context, id string) ([]string, error) {
	return at(r.p, "lines of "+r.p.sim.short(id), func() ([]string, error) {
		return remembered(r.p.sim, id, "lines", func() ([]string, error) { return r.p.sim.store.Lines(here, id) })
	})
}

func (r recordPort) WasRendered(_ context.Context, id, field, value string) (bool, error) {
	return at(r.p, "was "+field+" ever shown as "+value, func() (bool, error) {
		return remembered(r.p.sim, id, "rendered "+field+" "+value, func() (bool, error) {
			return r.p.sim.store.WasRendered(here, id, field, value)
		})
	})
}

func (r recordPort) Seat(_ context.Context, hash string) (record.Seat, error) {
	return at(r.p, "whose seat", func() (record.Seat, error) { return r.p.sim.store.Seat(here, hash) })
}

func (r recordPort) SeatOf(_ context.Context, pid int, began string) (record.Seat, error) {
	return at(r.p, "whose process", func() (record.Seat, error) { return r.p.sim.store.SeatOf(here, pid, began) })
}

func (r recordPort) OpenSeats(_ context.Context, id string) ([]record.Seat, error) {
	return at(r.p, "open seats of "+r.p.sim.short(id), func() ([]record.Seat, error) { return r.p.sim.seats(id) })
}

func (r recordPort) Watch(context.Context, func()) error { return nil }

func (r recordPort) Waiters(_ context.Context, id, role string) ([]task.Process, error) {
	return at(r.p, "who waits", func() ([]task.Process, error) { return r.p.sim.store.Waiters(here, id, role) })
}

// rules are the one workflow of all tasks.
type rules struct{ def *workflow.Definition }

func (r rules) Named(context.Context, string) (*workflow.Definition, error) { return r.def, nil }
func (r rules) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return r.def, nil
}

// folder is the real files as one program sees them, with locks that end with it.
type folder struct{ p *process }

func (f folder) Create(t task.Task, body string) error {
	return act(f.p, "create TASK.md", func() error { return f.p.sim.files.Create(t, body) })
}

func (f folder) Read(project, id string, whole bool) ([]byte, error) {
	return at(f.p, "read TASK.md of "+f.p.sim.short(id), func() ([]byte, error) {
		return f.p.sim.files.Read(project, id, whole)
	})
}

func (f folder) Append(project, id, text string) error {
	return act(f.p, "append to TASK.md of "+f.p.sim.short(id), func() error {
		err := f.p.sim.files.Append(project, id, text)
		if err == nil && f.p.asked != nil {
			f.p.asked.appended++
		}
		return err
	})
}

func (f folder) Adopt(t task.Task, content []byte) ([]byte, error) {
	return at(f.p, "adopt a file as TASK.md of "+f.p.sim.short(t.ID), func() ([]byte, error) {
		return f.p.sim.files.Adopt(t, content)
	})
}

func (f folder) Keep(project, id, digest, text string) (func() error, error) {
	return at(f.p, "keep evidence of "+f.p.sim.short(id), func() (func() error, error) {
		return f.p.sim.files.Keep(project, id, digest, text)
	})
}

func (f folder) Trash(project, id string) (string, error) {
	return at(f.p, "trash "+f.p.sim.short(id), func() (string, error) { return f.p.sim.files.Trash(project, id) })
}

func (f folder) Sync(t task.Task, lines []string, header string) error {
	s := f.p.sim
	return act(f.p, "mirror "+s.short(t.ID), func() error {
		if err := f.p.troubled("write the mirrors"); err != nil {
			return err
		}
		return s.files.Sync(t, lines, header)
	})
}

func (f folder) Lock(_ context.Context, name string) (func(), error) {
	s := f.p.sim
	f.p.arrive("lock "+s.shorten(name), func() bool { return s.locks[name] == nil })
	return f.lock(name), nil
}

func (f folder) TryLock(name string) (func(), bool, error) {
	s := f.p.sim
	f.p.arrive("try lock "+s.shorten(name), nil)
	s.mu.Lock()
	held := s.locks[name] != nil
	s.mu.Unlock()
	if held {
		return nil, false, nil
	}
	return f.lock(name), true, nil
}

func (f folder) lock(name string) func() {
	s := f.p.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks[name] = f.p
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.locks[name] == f.p {
			delete(s.locks, name)
		}
	}
}

// starter starts a runner of hooks: a program of its own, that nothing which it ends can end.
type starter struct{ p *process }

func (r starter) Run(_ context.Context, id string, person bool) error {
	s := r.p.sim
	if s.alone {
		return s.stroll.runs(id)
	}
	return act(r.p, "start a runner for "+s.short(id), func() error {
		s.rights.starts(s, r.p, id)
		if err := r.p.troubled("start a program"); err != nil {
			return err
		}
		s.start("runner "+s.short(id), r.p.lends(), nil, func(p *process) {
			if !person {
				shelf{p}.enter(id)
			}
			_ = p.engine.Settle(here, id) // what it could not do is still owed
		})
		return nil
	})
}

// performer notes what the real hands are asked to do.
type performer struct{ p *process }

func (h performer) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	s := h.p.sim
	what := fmt.Sprintf("perform hook %d of %s: %s", job.Hook.ID, s.short(job.Task.ID), job.Hook.Action)
	h.p.arrive(what, nil)
	s.performs(h.p, job)
	if s.alone && s.stroll.fails(job.Hook.Action) {
		return record.Effect{}, errHands
	}
	effect, err := h.p.hands.Perform(ctx, job)
	s.twin.hook(job.Hook.ID).by = nil
	if err != nil {
		s.tell(h.p, what+" failed: "+err.Error())
		return effect, err
	}
	s.figures.performed++
	s.twin.hook(job.Hook.ID).performed++
	h.p.mayDie("after it performed the hook")
	return effect, nil
}

// desktop is the task's workspace and repository.
type desktop struct{ p *process }

func (d desktop) Replaced(context.Context, task.Task) ([]byte, bool, error) { return nil, false, nil }
func (d desktop) Relink(context.Context, task.Task) error                   { return nil }
func (d desktop) CheckBranch(context.Context, string) error                 { return nil }
func (d desktop) Project(string) (task.Project, error)                      { return d.p.sim.project, nil }
func (d desktop) Ahead(context.Context, task.Task, string) (bool, error)    { return true, nil }
func (d desktop) Tip(context.Context, task.Task) (string, error)            { return "beef", nil }
func (d desktop) Within(context.Context, task.Task, string) (bool, error)   { return true, nil }

func (d desktop) Find(context.Context, string, string) ([]record.PullRequest, error) { return nil, nil }

func (d desktop) Standing(context.Context, string, []string) ([]record.PullRequest, error) {
	return nil, nil
}

func (d desktop) SetBranch(_ context.Context, _ task.Task, name string) (string, error) {
	return name, nil
}

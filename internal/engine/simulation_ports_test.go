package engine_test

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/record"
	"orange/internal/simulate"
	"orange/internal/task"
)

// simulatedRecord is the real record as one program sees it, with what a monitor and hooks ask of it.
type simulatedRecord struct {
	simulate.Record
	p *process
}

func (r simulatedRecord) Watch(context.Context, func()) error { return nil }

func (r simulatedRecord) Waiters(_ context.Context, id, role string) ([]task.Process, error) {
	return at(r.p, "looks who waits", func() ([]task.Process, error) { return r.p.sim.store.Waiters(here, id, role) })
}

// Committed is called for every change that was made durable.
func (s *sim) Committed(v simulate.ProcessView, c record.Change, t task.Task, open []record.Seat) {
	p := v.Process.(*process)
	s.tell(p, "committed "+s.short(t.ID)+describe(c))
	s.rights.committed(s, p, c, t)
	s.committed(p, c, t, open)
}

// Begun notes who performs a hook.
func (s *sim) Begun(v simulate.ProcessView, hook int64) { s.begun(v.Process.(*process), hook) }

// Deleted notes that a task is gone.
func (s *sim) Deleted(id string) { s.forgotten(id) }

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

// simulatedFolders are the real files as one program sees them.
type simulatedFolders struct {
	simulate.TaskFolders
	p *process
}

func (f simulatedFolders) Append(project, id, text string) error {
	return act(f.p, "append to TASK.md of "+f.p.sim.short(id), func() error {
		err := f.p.sim.files.Append(project, id, text)
		if err == nil && f.p.asked != nil {
			f.p.asked.appended++
		}
		return err
	})
}

func (f simulatedFolders) Sync(t task.Task, lines []string, header string) error {
	if err := f.p.Fail("write the mirrors"); err != nil {
		return err
	}
	return f.TaskFolders.Sync(t, lines, header)
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
		if err := r.p.Fail("start a program"); err != nil {
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
	s.audit.Hook(job.Hook.ID).Performed++
	h.p.mayDie("after it performed the hook")
	return effect, nil
}

// simulatedRepository is the repository as one program sees it.
type simulatedRepository struct {
	simulate.Repository
	p *process
}

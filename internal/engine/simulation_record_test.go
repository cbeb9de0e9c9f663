package engine_test

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/proof/simulate"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// simulatedRecord is the real record as one program sees it, with what a monitor and hooks ask of it.
type simulatedRecord struct {
	simulate.Record
	p *process
}

func (r simulatedRecord) Waiters(_ context.Context, id, role string) ([]task.Process, error) {
	return at(r.p, "looks who waits", func() ([]task.Process, error) {
		return r.p.sim.store.Waiters(background, id, role)
	})
}

// Committed is called for every change that was made durable.
func (s *simulation) Committed(v simulate.ProcessView, c record.Change, t task.Task, open []record.Seat) {
	p := v.Process.(*process)
	s.logf(p, "committed "+s.short(t.ID)+describe(c))
	s.environments.noteCommit(s, p, c, t)
	s.noteCommit(p, c, t, open)
}

// Begun notes which process performs a hook.
func (s *simulation) Begun(v simulate.ProcessView, hook int64) {
	s.noteBegun(v.Process.(*process), hook)
}

// Deleted notes that a task is gone.
func (s *simulation) Deleted(id string) { s.noteDeleted(id) }

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
		if err == nil && f.p.question != nil {
			f.p.question.appended++
		}
		return err
	})
}

func (f simulatedFolders) Sync(t task.Task, past record.HistoryLines, header string) error {
	if err := f.p.Fail("write the mirrors"); err != nil {
		return err
	}
	return f.TaskFolders.Sync(t, past, header)
}

// runnerStarter starts a runner of hooks: a program of its own, which no process that it ends can end.
type runnerStarter struct{ p *process }

func (r runnerStarter) Run(_ context.Context, id string, person bool) error {
	s := r.p.sim
	if s.single {
		return s.walk.runHooks(id)
	}
	return act(r.p, "start a runner for "+s.short(id), func() error {
		s.environments.noteStart(s, r.p, id)
		if err := r.p.Fail("start a program"); err != nil {
			return err
		}
		s.start("runner "+s.short(id), r.p.environmentForOthers(), nil, func(p *process) {
			if !person {
				environmentStore{p}.enter(id)
			}
			_ = p.engine.Settle(background, id) // what it could not do is still owed
		})
		return nil
	})
}

// countedPerformer notes what the real executor is asked to do.
type countedPerformer struct{ p *process }

func (h countedPerformer) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	s := h.p.sim
	what := fmt.Sprintf("perform hook %d of %s: %s", job.Hook.ID, s.short(job.Task.ID), job.Hook.Action)
	h.p.waitTurn(what, nil)
	s.checkPerform(h.p, job)
	if s.single && s.walk.hookFails(job.Hook.Action) {
		return record.Effect{}, errPerformer
	}
	effect, err := h.p.hooks.Perform(ctx, job)
	s.seen.hook(job.Hook.ID).performedBy = nil
	if err != nil {
		s.logf(h.p, what+" failed: "+err.Error())
		return effect, err
	}
	s.counts.performed++
	s.audit.Hook(job.Hook.ID).Performed++
	h.p.mayDie("after it performed the hook")
	return effect, nil
}

// simulatedRepository is the repository as one program sees it.
type simulatedRepository struct {
	simulate.Repository
	p *process
}

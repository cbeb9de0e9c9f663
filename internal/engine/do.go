package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// step is what is decided on: a task as it is on record, the rules by which it moves, and what was found of it.
type step struct {
	record.Snapshot
	def      *workflow.Definition
	evidence decide.Evidence
}

// look finds out what is decided on.
type look func(ctx context.Context, id string) (step, error)

// ruling is what follows from a look.
type ruling struct {
	change    record.Change
	in        replay.Inputs // what the history keeps of the question; without an Ask nothing was decided
	overtaken string        // why hooks are dropped that the change overtakes; empty where it leaves all as they are
}

// errAgain has do look and decide once more.
var errAgain = errors.New("look again")

// maxConflicts bounds how often the engine decides again because another process was faster.
const maxConflicts = 100

// do is the one way to change a task that is on record: it looks, decides and commits, until no other process was
// faster. Without a ruling it commits nothing, and the task is not changed. It answers the task as it is then, without
// hooks that the change sets going; with an error, as it was looked at. Where no workspace is free the error of the
// commit is a task.ErrPoolFull.
func (e *core) do(ctx context.Context, id string, look look, rule func(step) (*ruling, error)) (
	s step, changed bool, err error) {
	for range maxConflicts {
		if s, err = look(ctx, id); err != nil && !errors.Is(err, errAgain) {
			return s, false, err
		}
		var r *ruling
		if err == nil {
			r, err = rule(s)
		}
		if err == nil && r != nil {
			var then step
			if then, err = e.commit(ctx, s, *r); err == nil {
				return then, true, nil
			}
		}
		if !errors.Is(err, errAgain) {
			return s, false, err
		}
	}
	return step{}, false, task.Notef(task.ErrConflict,
		"cannot change task %s: other processes keep changing it; try again", id)
}

// startingFrom looks at nothing the first time, as the caller has just done so, and then at the record.
func (e *core) startingFrom(s step) look {
	looked := false
	return func(ctx context.Context, id string) (step, error) {
		if looked {
			return e.onRecord(ctx, id)
		}
		looked = true
		return s, nil
	}
}

// withAttempt is the task with one more attempt at a hook.
func (s step) withAttempt(hook int64) step {
	s.Owed = slices.Clone(s.Owed)
	for i := range s.Owed {
		if s.Owed[i].ID == hook {
			s.Owed[i].Attempts++
		}
	}
	return s
}

// after is the task as a change leaves it, without the hooks that it sets going.
func (s step) after(c record.Change, t task.Task) step {
	s.Task, s.Owed = t, slices.Clone(s.Owed)
	for _, settled := range c.Settled {
		at := slices.IndexFunc(s.Owed, func(h task.OwedHook) bool { return h.ID == settled.ID })
		switch {
		case at < 0:
		case settled.State == task.HookFailed || settled.State == task.HookPending:
			h := &s.Owed[at]
			h.State, h.Error, h.NextTry = settled.State, settled.Error, settled.NextTry
		default:
			s.Owed = slices.Delete(s.Owed, at, at+1)
		}
	}
	return s
}

// onRecord looks at the record alone, for what is noted and not decided.
func (e *core) onRecord(ctx context.Context, id string) (step, error) {
	s, err := e.load(ctx, id)
	return step{Snapshot: s}, err
}

// load loads a task. The error is a notOnRecord where it is not on record: what else is not found is no word on that.
func (e *core) load(ctx context.Context, id string) (record.Snapshot, error) {
	s, err := e.record.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		err = notOnRecord{err}
	}
	return s, err
}

// notOnRecord says that a task is not on record any more.
type notOnRecord struct{ error }

// Unwrap is the store's own error.
func (d notOnRecord) Unwrap() error { return d.error }

func isDeleted(err error) bool {
	_, is := errors.AsType[notOnRecord](err)
	return is
}

// withRules looks at the record and at the task's rules.
func (e *core) withRules(ctx context.Context, id string) (s step, err error) {
	if s, err = e.onRecord(ctx, id); err == nil {
		s.def, err = e.rulesOf(ctx, s.Task)
	}
	return s, err
}

// change is do for what needs no rules: build tells what follows, if that is due.
func (e *core) change(ctx context.Context, id string, build func(record.Snapshot) (
	c record.Change, due bool, err error)) (t task.Task, changed bool, err error) {
	s, changed, err := e.do(ctx, id, e.onRecord, func(s step) (*ruling, error) {
		c, due, err := build(s.Snapshot)
		if err != nil || !due {
			return nil, err
		}
		return &ruling{change: c}, nil
	})
	return s.Task, changed, err
}

// mayMove is the ruling of a change that may contain a move. why is noted for the hooks that the move overtakes.
func mayMove(s step, c *record.Change, in replay.Inputs, why string) *ruling {
	if !c.Entered {
		return &ruling{change: *c, in: in} // it keeps the evidence of the refused move too
	}
	if left := decide.LeftAlone(s.def, s.Owed, *c); left != "" { // else the decision's own mark stays
		c.Task.Attention = left
	}
	return &ruling{change: *c, in: in, overtaken: why}
}

// withInputs is the change with what the history keeps of how it was decided.
func (r ruling) withInputs(s step) (record.Change, error) {
	if r.in.Ask == "" {
		return r.change, nil
	}
	return r.in.Keep(s.def, s.Snapshot, s.evidence, r.change)
}

// commit commits what follows from a look, and keeps the exact texts that it rests on, and others that were read, where
// a later look finds them. They are written before the commit, and hardened against a power cut after it: no one who
// waits for the change waits for that.
func (e *core) commit(ctx context.Context, s step, r ruling) (step, error) {
	c, err := r.withInputs(s)
	if err != nil {
		return step{}, err
	}
	if c.Lease == record.LeaseReserve {
		project, err := e.projectOf(c.Task)
		if err != nil {
			return step{}, err
		}
		c.PoolSize = project.PoolSize
	}
	if r.overtaken != "" {
		c.Settled = settleOwed(s.Owed, c, r.overtaken)
	}
	var fresh []string
	for _, rested := range slices.Concat(c.Spent, c.Seen) {
		text, _ := s.evidence.Text(rested)
		isFresh, err := e.folder.Keep(c.Task.Project, c.Task.ID, rested.Digest, text)
		if err != nil {
			return step{}, err
		}
		if isFresh {
			fresh = append(fresh, rested.Digest)
		}
	}
	t, err := e.record.Commit(ctx, c)
	if errors.Is(err, task.ErrConflict) {
		err = errAgain
	}
	if err != nil {
		return step{}, err
	}
	if err := e.folder.Harden(t.Project, t.ID, fresh...); err != nil { // the move is made, and its text is there
		e.logFailure("evidence may not outlive a power cut", t.ID, err)
	}
	return s.after(c, t), nil
}

// OnWarn has a person hear what is no part of an answer.
func (e *core) OnWarn(hear func(text string)) { e.hear = hear }

// logFailure writes into the log what could not be done for a task; the act that it belongs to goes on.
func (e *core) logFailure(what, id string, err error) {
	e.log.Warn(what, "component", "engine", "task", id, "error", err.Error())
}

// warn passes on to the caller of this process what a person should know.
func (e *core) warn(id, text string) {
	e.log.Warn(text, "component", "engine", "task", id)
	e.hear(text)
}

// note adds an event to a task's history that changes nothing else, except for what every act of a person resets.
func (e *core) note(ctx context.Context, id string, actor task.Actor, event history.Event) error {
	_, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		return noteRuling(s, s.Task, actor, event, e.now()), nil
	})
	return err
}

// noteRuling is the ruling of an event that moves nothing; it leaves the task as after.
func noteRuling(s step, after task.Task, actor task.Actor, event history.Event, now time.Time) *ruling {
	after.UpdatedAt, event.Time = now, now
	r := &ruling{change: decide.Note(s.def, s.Task, after, actor, event)}
	if len(r.change.Events[0].Counters) > 0 { // else it tells of what was done, and nothing was decided
		r.in = replay.Inputs{Ask: replay.AskNote}.By(actor)
	}
	return r
}

// hasSeat reports whether a task has an open seat of a kind.
func (e *core) hasSeat(ctx context.Context, id string, is func(record.Seat) bool) (bool, error) {
	seats, err := e.record.OpenSeats(ctx, id)
	return slices.ContainsFunc(seats, is), err
}

// seatedAs reports whether an agent of the role has an open seat: then no process has found one of that role dead.
func (e *core) seatedAs(ctx context.Context, id, role string) (bool, error) {
	return e.hasSeat(ctx, id, func(s record.Seat) bool { return s.Role == role })
}

// rulesOf is the workflow by which a task moves now: the one that it was created under, with what its project protects
// and a person did not allow it to change.
func (e *core) rulesOf(ctx context.Context, t task.Task) (*workflow.Definition, error) {
	def, err := e.workflow(ctx, t.Workflow)
	if err != nil {
		return nil, err
	}
	project, err := e.projectOf(t)
	if err != nil || len(project.Protected) == 0 {
		return def, err
	}
	events, err := e.record.Events(ctx, t.ID, 0)
	if err != nil {
		return nil, err
	}
	return replay.Protecting(def, project.Protected, events), nil
}

// projectOf is the project of a task; empty where it is not registered any more.
func (e *core) projectOf(t task.Task) (task.Project, error) {
	project, err := e.project(t.Project)
	if errors.Is(err, task.ErrNotFound) {
		err = nil
	}
	return project, err
}

// projectFor is the project of a task that there is already; empty where that is gone.
func (e *core) projectFor(ctx context.Context, id string) (task.Project, error) {
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return task.Project{}, err
	}
	return e.projectOf(s.Task)
}

// present is the present workflow of a name; a person hears what is new of it.
func (e *core) present(ctx context.Context, rules Rules, name string, of task.Project) (*workflow.Definition, error) {
	def, news, err := rules.Named(ctx, name, of)
	for _, text := range news {
		e.warn("", text)
	}
	return def, err
}

// timeoutsOf are those that a task's project sets. A project that is not registered sets none.
func (e *core) timeoutsOf(t task.Task) (task.Timeouts, error) {
	project, err := e.projectOf(t)
	if err != nil {
		return nil, err
	}
	return project.ReadTimeouts()
}

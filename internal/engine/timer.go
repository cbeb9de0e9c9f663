package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/replay"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Timeouts looks how long a task has been in its status, notes every new level of lateness, and makes the move that
// the workflow wants after the last level. It returns when to ask again, zero if there is nothing to wait for,
// and a notice for people; empty if nothing is new.
// If several processes ask, one of them gets the notice: it is committed on the version that it was decided on.
// Timeouts sets the hooks of the move going and does not wait for them.
func (e *Engine) Timeouts(ctx context.Context, id string) (next time.Time, told string, err error) {
	for range maxConflicts {
		next, told, err = e.timeouts(ctx, id)
		if !errors.Is(err, task.ErrConflict) {
			return next, told, err
		}
	}
	return time.Time{}, "", task.Notef(task.ErrConflict,
		"cannot note how late task %s is: other processes keep changing it; try again", id)
}

// evidencePause is the time between two looks at evidence that is being gathered, such as the result of a check.
const evidencePause = time.Second

func (e *Engine) timeouts(ctx context.Context, id string) (next time.Time, told string, err error) {
	s, err := e.Store.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return next, "", nil
	}
	if err != nil {
		return next, "", err
	}
	def, err := e.rules(ctx, s.Task)
	if err != nil {
		return next, "", err
	}
	own, size, err := e.projectSettings(s.Task.Project)
	if err != nil {
		return next, "", err
	}
	t, c, due, err := e.enough(ctx, def, s, size, late(own))
	switch {
	case errors.Is(err, errNotNow):
		return e.Now().Add(evidencePause), "", nil
	case err != nil:
		return next, "", err
	case due: // it is committed: people get the notice even if what follows fails
		told, err = c.LateNotice(), e.reportEnough(ctx, t, c)
	}
	next, _ = decide.NextDeadline(def, own, t, e.Now())
	return next, told, err
}

// projectSettings is what a project sets for timeouts and workspaces. A project that is not registered sets nothing.
func (e *Engine) projectSettings(project string) (task.Timeouts, int, error) {
	p, err := e.Workspaces.Project(project)
	if errors.Is(err, task.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	own, err := p.ReadTimeouts()
	return own, p.PoolSize, err
}

// limits are what a task has had enough of, such as its time: what follows, and from which inputs.
type limits struct {
	judge  func(def *workflow.Definition, t task.Task, now time.Time) (c record.Change, due bool)
	inputs func(t task.Task) replay.Inputs
	name   string // for people
}

// enough commits what follows where a task has had enough of something: an event, and perhaps a move. While evidence
// for the move is being gathered it returns errNotNow.
func (e *Engine) enough(ctx context.Context, def *workflow.Definition, s record.Snapshot, size int, l limits) (
	t task.Task, c record.Change, due bool, err error) {
	if c, due = l.judge(def, s.Task, e.Now()); !due {
		return s.Task, c, false, nil
	}
	if to, wanted := decide.Escalation(def, c); wanted {
		t, c, err = e.escalate(ctx, s.Task.ID, to, size, l)
	} else if c, err = l.inputs(s.Task).Keep(def, s, decide.Evidence{}, c); err == nil {
		t, err = e.Store.Commit(ctx, c)
	}
	return t, c, true, err
}

// escalate commits the move that the workflow wants where a task has had enough of something, or the reason why that
// move was refused. It first waits for owed hooks, as before any other move.
func (e *Engine) escalate(ctx context.Context, id string, to task.Status, size int, l limits) (
	task.Task, record.Change, error) {
	r := ruleTo(id, to)
	if err := e.finishPending(ctx, id, r.Actor); err != nil {
		return task.Task{}, record.Change{}, err
	}
	s, def, evidence, err := e.look(ctx, r)
	if err != nil {
		return task.Task{}, record.Change{}, err
	}
	if s.Task.Displaced() { // its workspace comes first
		return task.Task{}, record.Change{}, errNotNow
	}
	for _, fact := range evidence.Facts {
		if fact.Pending {
			return task.Task{}, record.Change{}, errNotNow
		}
	}
	now := e.Now()
	level, due := l.judge(def, s.Task, now)
	if _, wanted := decide.Escalation(def, level); !due || !wanted {
		return task.Task{}, record.Change{}, task.ErrConflict // it moved on while escalate waited for its hooks
	}
	in := l.inputs(s.Task)
	c, err := in.Keep(def, s, evidence, decide.Escalate(def, level, s.Task, evidence, now))
	if err != nil {
		return task.Task{}, c, err
	}
	t, err := e.commitLate(ctx, def, s, c, evidence, size, "overtaken by the "+l.name)
	if errors.Is(err, task.ErrPoolFull) {
		c = decide.Escalate(def, level, s.Task, decide.Evidence{NoRoom: true}, now)
		in.NoRoom = true
		if c, err = in.Keep(def, s, evidence, c); err == nil {
			t, err = e.Store.Commit(ctx, c)
		}
	}
	return t, c, err
}

// ruleTo is the request of a rule of the workflow. Its caller has finished the hooks of earlier moves.
func ruleTo(id string, to task.Status) *request {
	return &request{Request: task.Request{Task: id, To: to, Actor: task.Actor{Rule: true}}, waited: true}
}

// late is the limit of a task's time in its status, as its project or its workflow sets it.
func late(own task.Timeouts) limits {
	return limits{name: "timeout",
		judge: func(def *workflow.Definition, t task.Task, now time.Time) (record.Change, bool) {
			return decide.Timer(def, own, t, now)
		},
		inputs: func(t task.Task) replay.Inputs {
			in := replay.Inputs{Ask: replay.AskTimeout}.By(task.Actor{Rule: true})
			if limit, said := own[t.Status]; said {
				in.Limit = &limit
			}
			return in
		}}
}

// commitLate commits a change that may contain a move. why is the reason noted for the hooks that the move overtakes.
func (e *Engine) commitLate(ctx context.Context, def *workflow.Definition, s record.Snapshot, c record.Change,
	evidence decide.Evidence, size int, why string) (task.Task, error) {
	if !c.Entered {
		return e.commit(ctx, c, evidence) // keep the evidence of the refused move too
	}
	c.PoolSize = size
	if left := decide.LeftAlone(def, s.Owed, c); left != "" { // else keep the decision's own mark
		c.Task.Attention = left
	}
	c.Settled = settleOwed(s.Owed, c, why)
	return e.commit(ctx, c, evidence)
}

// reportEnough mirrors what was noted where a task has had enough of something, writes it into the log, and has the
// hooks of its move performed.
func (e *Engine) reportEnough(ctx context.Context, t task.Task, c record.Change) error {
	if len(c.Events) == 0 {
		e.Log.Warn("the clock was set back: the time in the status counts from the start again", "component", "engine",
			"task", t.ID, "status", string(t.Status))
		return nil
	}
	for i := range c.Events {
		switch event := &c.Events[i]; {
		case event.IsMove():
		case event.Type == history.AgentRefused:
			e.Log.Warn("refused too often", "component", "engine", "task", t.ID, "status",
				event.Data[history.DataStatus], "reason", event.Reason)
		default:
			e.Log.Warn("late", "component", "engine", "task", t.ID, "event", event.Type, "status",
				event.Data[history.DataStatus],
				"late", event.Data[history.DataLevel], "in_state", event.Data[history.DataInState], "after",
				event.Data[history.DataAfter])
		}
	}
	out, err := e.announce(ctx, t, t.Seq)
	if out.Warning != "" {
		e.Log.Warn("the files could not be made equal to the record", "component", "engine", "task", t.ID,
			"error", out.Warning)
	}
	if err == nil && len(c.Hooks) > 0 {
		err = e.Runner.Run(ctx, t.ID, false)
	}
	if err != nil {
		return fmt.Errorf("after what was noted of task %s: %w", t.ID, err)
	}
	return nil
}

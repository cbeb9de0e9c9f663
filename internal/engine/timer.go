package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Timeouts looks how long a task has been in its status, notes every new level of lateness, and makes the move that
// the workflow wants after the last level. It returns when to ask again, zero if there is nothing to wait for,
// and a notice for people; empty if nothing is new.
// If several processes ask, one of them gets the notice: it is committed on the version that it was decided on.
// Timeouts sets the hooks of the move going and does not wait for them.
func (e *reactions) Timeouts(ctx context.Context, id string) (next time.Time, told string, err error) {
	var own task.Timeouts
	t, c, due, err := e.judgeLimit(ctx, id, e.timeLimit(&own))
	switch {
	case isDeleted(err):
		return next, "", nil
	case errors.Is(err, errNotNow):
		return e.now().Add(evidencePause), "", nil
	case err != nil:
		return next, "", err
	case due: // it is committed: people get the notice even if what follows fails
		told, err = c.LateNotice(), e.reportEnough(ctx, t, c)
	}
	def, unread := e.rulesOf(ctx, t)
	if unread != nil {
		return next, told, errors.Join(err, unread)
	}
	next, _ = decide.NextDeadline(def, own, t, e.now())
	return next, told, err
}

// evidencePause is the time between two looks at evidence that is being gathered, such as the result of a check.
const evidencePause = time.Second

// limits are what a task has had enough of, such as its time: what follows, and from which inputs.
type limits struct {
	judge  func(def *workflow.Definition, t task.Task, now time.Time) (c record.Change, due bool, err error)
	inputs func(t task.Task) replay.Inputs
	name   string // for people
}

// judgeLimit commits what follows where a task has had enough of something: an event, and perhaps a move. While
// evidence for the move is being gathered the error is errNotNow.
func (e *reactions) judgeLimit(ctx context.Context, id string, l limits) (
	t task.Task, c record.Change, due bool, err error) {
	var to task.Status
	s, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		if c, due, err = l.judge(s.def, s.Task, e.now()); err != nil || !due {
			return nil, err
		}
		if to, _ = decide.Escalation(s.def, c); to != "" {
			return nil, nil
		}
		return &ruling{change: c, in: l.inputs(s.Task)}, nil
	})
	if err != nil || to == "" {
		return s.Task, c, due, err
	}
	if t, c, err = e.escalate(ctx, id, to, l, false); errors.Is(err, task.ErrPoolFull) {
		t, c, err = e.escalate(ctx, id, to, l, true)
	}
	return t, c, true, err
}

// escalate commits the move that the workflow wants where a task has had enough of something, or the reason why that
// move was refused, such as that there is no room for it. It first waits for owed hooks, as before any other move.
func (e *reactions) escalate(ctx context.Context, id string, to task.Status, l limits, noRoom bool) (
	t task.Task, c record.Change, err error) {
	r := ruleTo(id, to)
	if err := e.outcomes.finishPending(ctx, id, r.Actor); err != nil {
		return t, c, err
	}
	s, _, err := e.do(ctx, id, e.looks.lookFor(r), func(s step) (*ruling, error) {
		if s.Task.Displaced() || isGathering(s.evidence) { // its workspace comes first
			return nil, errNotNow
		}
		now := e.now()
		level, due, err := l.judge(s.def, s.Task, now)
		if err != nil {
			return nil, err
		}
		if still, _ := decide.Escalation(s.def, level); !due || still != to {
			return nil, errNotNow // it moved on while its hooks were waited for
		}
		in := l.inputs(s.Task)
		evidence := s.evidence
		if in.NoRoom = noRoom; noRoom {
			evidence = decide.Evidence{NoRoom: true}
		}
		c = decide.Escalate(s.def, level, s.Task, evidence, now)
		return mayMove(s, &c, in, "overtaken by the "+l.name), nil
	})
	return s.Task, c, err
}

// ruleTo is the request of a rule of the workflow. Its caller has finished the hooks of earlier moves.
func ruleTo(id string, to task.Status) *request {
	return &request{Request: task.Request{Task: id, To: to, Actor: task.Actor{Rule: true}}, waited: true}
}

// timeLimit is the limit of a task's time in its status, as its project or its workflow sets it. own gets what the
// project sets.
func (e *reactions) timeLimit(own *task.Timeouts) limits {
	return limits{name: "timeout",
		judge: func(def *workflow.Definition, t task.Task, now time.Time) (c record.Change, due bool, err error) {
			if *own, err = e.timeoutsOf(t); err == nil {
				c, due = decide.Timer(def, *own, t, now)
			}
			return c, due, err
		},
		inputs: func(t task.Task) replay.Inputs {
			in := replay.Inputs{Ask: replay.AskTimeout}.By(task.Actor{Rule: true})
			if limit, said := (*own)[t.Status]; said {
				in.Limit = &limit
			}
			return in
		}}
}

// reportEnough mirrors what was noted where a task has had enough of something, writes it into the log, and has the
// hooks of its move performed.
func (e *reactions) reportEnough(ctx context.Context, t task.Task, c record.Change) error {
	if len(c.Events) == 0 {
		e.log.Warn("the clock was set back: the time in the status counts from the start again", "component", "engine",
			"task", t.ID, "status", string(t.Status))
		return nil
	}
	for i := range c.Events {
		switch event := &c.Events[i]; {
		case event.IsMove():
		case event.Type == history.AgentRefused:
			e.log.Warn("refused too often", "component", "engine", "task", t.ID, "status",
				event.Data[history.DataStatus], "reason", event.Reason)
		default:
			e.log.Warn("late", "component", "engine", "task", t.ID, "event", event.Type, "status",
				event.Data[history.DataStatus],
				"late", event.Data[history.DataLevel], "in_state", event.Data[history.DataInState], "after",
				event.Data[history.DataAfter])
		}
	}
	out, err := e.outcomes.announceAndRun(ctx, t, len(c.Hooks) > 0)
	if out.Warning != "" {
		e.log.Warn("the files could not be made equal to the record", "component", "engine", "task", t.ID,
			"error", out.Warning)
	}
	if err != nil {
		return fmt.Errorf("after what was noted of task %s: %w", t.ID, err)
	}
	return nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// noteRefusal logs the refusal of a request, and counts it where an agent has asked. Other errors it returns as they
// are.
func (e *reactions) noteRefusal(ctx context.Context, req task.Request, err error) error {
	no, is := errors.AsType[*rejection.Rejection](err)
	if !is {
		return err
	}
	e.log.Info("refused", "component", "engine", "task", req.Task, "from", string(no.From), "to", string(req.To),
		"actor", req.Actor.Name(), "as", req.Actor.As, "code", no.Code)
	if req.Actor.Rule || req.Actor.Role == task.RoleHuman {
		return err
	}
	answer, failure := e.countRefusal(ctx, req.Task, no)
	if failure != nil { // the refusal counts: what follows from many of them comes with the next one
		e.logFailure("a refusal could not be counted", req.Task, failure)
		return err
	}
	return answer
}

// countRefusal counts one more refusal of an agent. If there are too many, a person is asked to look, or the task is
// moved as its workflow says; the agent hears of that.
func (e *reactions) countRefusal(ctx context.Context, id string, no *rejection.Rejection) (
	*rejection.Rejection, error) {
	release, err := e.folder.Lock(ctx, id+".refusals") // an agent may ask twice at once
	if err != nil {
		return no, err
	}
	defer release()
	before, err := e.record.Refusals(ctx, id)
	if err != nil {
		return no, err
	}
	now := before
	t, c, due, err := e.judgeLimit(ctx, id, refusalLimit(before, no.Reason(), &now))
	switch {
	case errors.Is(err, errNotNow):
		t.Status, due = now.Status, false
	case err != nil:
		return no, err
	case due:
		now.Told = now.Count
	}
	answer := *no
	if now.Told > 0 {
		answer.Repeated = "a person has been asked to look: this was refused " + now.String()
		if t.Status != now.Status {
			answer.Repeated = fmt.Sprintf("the task is %q now: this was refused %s", t.Status, now)
		}
	}
	if err := e.record.NoteRefusals(ctx, id, now); err != nil {
		return no, err
	}
	if due {
		if err := e.reportEnough(ctx, t, c); err != nil {
			return no, err
		}
	}
	answer.Wait = now.Wait(e.now())
	return &answer, nil
}

// resetRefusals begins the count of a task's refusals again: a person has looked at them, or has answered the agent.
func (e *reactions) resetRefusals(ctx context.Context, id string, actor task.Actor) error {
	if actor.Role != task.RoleHuman || actor.Rule || actor.Via != "" {
		return nil
	}
	release, err := e.folder.Lock(ctx, id+".refusals")
	if err != nil {
		return err
	}
	defer release()
	return e.record.NoteRefusals(ctx, id, record.Refusals{})
}

// refusalLimit is the limit of an agent's refusals, as its workflow sets it, with one more refusal than before. now
// gets all of them.
func refusalLimit(before record.Refusals, reason string, now *record.Refusals) limits {
	return limits{name: "refusals",
		judge: func(def *workflow.Definition, t task.Task, at time.Time) (record.Change, bool, error) {
			*now = before.Again(t, reason, at)
			c, due := decide.RefusedOften(def, t, *now, at)
			return c, due, nil
		},
		inputs: func(task.Task) replay.Inputs {
			kept := *now
			kept.Entered = kept.Entered.UTC()
			return replay.Inputs{Ask: replay.AskRefused, Refused: &kept}.By(task.Actor{Rule: true})
		}}
}

package engine

import (
	"context"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// rules is the workflow by which a task moves now: the one that it was created under, with what its project protects
// and a person did not allow it to change.
func (e *Engine) rules(ctx context.Context, t task.Task) (*workflow.Definition, error) {
	def, err := e.Rules.Pinned(ctx, t.Workflow)
	if err != nil {
		return nil, err
	}
	project, err := e.projectOf(t)
	if err != nil || len(project.Protected) == 0 {
		return def, err
	}
	events, err := e.Record.Events(ctx, t.ID, 0)
	if err != nil {
		return nil, err
	}
	return replay.Protecting(def, project.Protected, events), nil
}

// atCreation is the reason for what a person allows a task when they create it.
const atCreation = "said when the task was created"

// mayChange is the event of a person who allows a task to change what its project protects.
func mayChange(t task.Task, u task.Update) (history.Event, error) {
	if err := decide.MayAllow(t, u.Actor, u.Reason); err != nil {
		return history.Event{}, err
	}
	return history.Event{Type: history.Updated, Reason: u.Reason,
		Data: map[string]string{replay.DataMayChange: strings.Join(u.MayChange, "\n")}}, nil
}

// seen takes away the mark of a task that is over.
func (e *Engine) seen(ctx context.Context, id string, u task.Update) error {
	_, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		if err := decide.MaySee(s.Task, u.Actor); err != nil || s.Task.Attention == "" {
			return nil, err
		}
		after := s.Task
		after.Attention = ""
		return noted(s, after, u.Actor, history.Event{Type: history.Updated, Reason: u.Reason,
			Data: map[string]string{"seen": s.Task.Attention}}, e.Now()), nil
	})
	if err != nil {
		return err
	}
	return e.looked(ctx, id, u.Actor)
}

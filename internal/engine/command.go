package engine

import (
	"context"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Command asks for the move that a command means in the task's workflow.
func (e *Engine) Command(ctx context.Context, id, command string, actor task.Actor,
	reason string) (record.Outcome, error) {
	r := &request{
		Request: task.Request{Task: id, Actor: actor, Reason: reason, Command: true},
		target: func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
			to, err := decide.MoveTarget(def, t, command)
			return to, err == nil && decide.Started(t, command, to), err
		},
	}
	return e.once(ctx, id, actor, func() (record.Outcome, error) { return e.request(ctx, r) })
}

// RequestChanges writes a person's change requests into the document and sends the task back to its worker.
func (e *Engine) RequestChanges(ctx context.Context, id, text string, actor task.Actor) (record.Outcome, error) {
	r := &request{Request: task.Request{Task: id, Actor: actor, Reason: text, Command: true}}
	r.target = func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
		to, err := decide.MoveTarget(def, t, workflow.MoveRequestChanges)
		if err == nil && t.Status == to && text != "" {
			err = decide.AtWork(def, t, actor)
		}
		return to, false, err
	}
	r.before = func(t task.Task, evidence decide.Evidence) error {
		if text == "" {
			return evidence.Instructed(t, r.To)
		}
		return e.Documents.Append(t.Project, t.ID, "\n"+decide.FixInstructions+"\n\n"+document.Demote(text)+"\n")
	}
	return e.once(ctx, id, actor, func() (record.Outcome, error) { return e.request(ctx, r) })
}

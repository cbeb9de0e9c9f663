package engine

import (
	"bytes"
	"context"
	"errors"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Command asks for the move that a command means in the task's workflow.
func (e *requests) Command(ctx context.Context, id, command string, actor task.Actor,
	reason string) (record.Outcome, error) {
	r := &request{
		Request: task.Request{Task: id, Actor: actor, Reason: reason, Command: true},
		target: func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
			return decide.MoveTarget(def, t, command)
		},
	}
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) { return e.request(ctx, r) })
}

// Spawn starts a task. One that has begun goes on in its status, as by Respawn, and is left alone where its agent
// lives.
func (e *requests) Spawn(ctx context.Context, id string, alive func(task.Task, string) (bool, error), actor task.Actor,
	reason string) (record.Outcome, error) {
	begun := false
	r := &request{
		Request: task.Request{Task: id, Actor: actor, Reason: reason, Command: true},
		target: func(def *workflow.Definition, t task.Task) (to task.Status, _ bool, err error) {
			to, begun, err = decide.MoveTarget(def, t, workflow.MoveSpawn)
			return to, begun, err
		},
	}
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) {
		out, err := e.request(ctx, r)
		if err != nil || !begun {
			return out, err
		}
		lives := false
		again, err := e.crew.respawn(ctx, id, func(t task.Task, role string) (bool, error) {
			var err error
			lives, err = alive(t, role)
			return lives, err
		}, actor)
		if refused, is := errors.AsType[*rejection.Rejection](err); is && lives &&
			refused.Code == rejection.RespawnRefused {
			return out, nil // it runs: there is nothing to do
		}
		return again, err
	})
}

// RequestChanges writes a person's change requests into the document and sends the task back to its worker.
func (e *requests) RequestChanges(ctx context.Context, id, text string, actor task.Actor) (record.Outcome, error) {
	r := &request{Request: task.Request{Task: id, Actor: actor, Reason: text, Command: true}}
	r.target = func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
		to, _, err := decide.MoveTarget(def, t, workflow.MoveRequestChanges)
		if err == nil && t.Status == to && text != "" {
			err = decide.AtWork(def, t, actor)
		}
		return to, false, err
	}
	r.before = func(t task.Task, evidence decide.Evidence) error {
		if text == "" {
			return evidence.Instructed(t, r.To)
		}
		block := "\n" + decide.FixInstructions + "\n\n" + document.Demote(text) + "\n"
		whole, err := e.folder.Read(t.Project, t.ID, true)
		if err == nil && bytes.HasSuffix(whole, []byte(block)) {
			return nil // a program that was ended before its commit has written it
		}
		return e.folder.Append(t.Project, t.ID, block)
	}
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) { return e.request(ctx, r) })
}

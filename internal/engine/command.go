package engine

import (
	"context"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Command asks for the move that a command stands for in the task's workflow.
func (e *Engine) Command(ctx context.Context, id, command string, actor task.Actor,
	reason string) (record.Outcome, error) {
	to, err := e.target(ctx, id, command)
	if err != nil {
		return record.Outcome{}, err
	}
	s, err := e.Store.Load(ctx, id)
	if err != nil {
		return record.Outcome{}, err
	}
	if command == workflow.MoveSpawn && s.Task.Status == to && s.Task.Workspace != "" {
		return record.Outcome{Task: s.Task}, nil // it is started: an edge from the status to itself would start it anew
	}
	return e.Request(ctx, task.Request{Task: id, To: to, Actor: actor, Reason: reason, Command: true})
}

func (e *Engine) target(ctx context.Context, id, command string) (task.Status, error) {
	s, err := e.Store.Load(ctx, id)
	if err != nil {
		return "", err
	}
	def, err := e.Rules.Pinned(ctx, s.Task.Workflow)
	if err != nil {
		return "", err
	}
	return decide.MoveTarget(def, s.Task, command)
}

// RequestChanges writes a person's wishes into the document and sends the task back to its worker.
func (e *Engine) RequestChanges(ctx context.Context, id, text string, actor task.Actor) (record.Outcome, error) {
	to, err := e.target(ctx, id, workflow.MoveRequestChanges)
	if err != nil {
		return record.Outcome{}, err
	}
	s, err := e.Store.Load(ctx, id)
	if err != nil {
		return record.Outcome{}, err
	}
	if s.Task.Status == to && text != "" {
		def, err := e.Rules.Pinned(ctx, s.Task.Workflow)
		if err != nil {
			return record.Outcome{}, err
		}
		return record.Outcome{}, decide.AtWork(def, s.Task, actor)
	}
	req := task.Request{Task: id, To: to, Actor: actor, Reason: text, Command: true}
	return e.request(ctx, req, func(t task.Task, evidence decide.Evidence) error {
		if text == "" {
			return decide.Instructed(t, to, evidence)
		}
		return e.Documents.Append(t.Project, t.ID, "\n"+decide.FixInstructions+"\n\n"+document.Demote(text)+"\n")
	}, nil)
}

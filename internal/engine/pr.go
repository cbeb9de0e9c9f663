package engine

import (
	"context"

	"orange/internal/decide"
	"orange/internal/task"
)

// RequestPR has the task's branch pushed and a pull request opened for it, and waits for that a while. A refusal is a *decide.Rejection.
func (e *Engine) RequestPR(ctx context.Context, id string, actor task.Actor) (task.Outcome, error) {
	if err := e.finishOwed(ctx, id, actor); err != nil {
		return task.Outcome{}, err
	}
	// The header may name another branch by now: it is taken over first.
	s, _, _, err := e.refresh(ctx, id, false)
	if err != nil {
		return task.Outcome{}, err
	}
	ahead := false
	if s.Task.Live && s.Task.Workspace != "" { // else there may be no branch yet
		if ahead, err = e.Merger.Ahead(ctx, s.Task); err != nil {
			return task.Outcome{}, err
		}
	}
	t, err := e.change(ctx, id, func(s task.Snapshot) (*task.Change, error) {
		def, err := e.Rules.Pinned(ctx, s.Task.Workflow)
		if err != nil {
			return nil, err
		}
		c, err := decide.RequestPR(def, s, ahead, actor, e.Now())
		return &c, err
	})
	if err != nil {
		return task.Outcome{}, err
	}
	out, err := e.conclude(ctx, t, t.Seq, actor)
	out.Moved = false
	return out, err
}

package hook

import (
	"context"

	"orange/internal/record"
)

// acquireWorkspace prepares the worktree whose lease the transition reserved. One that is on the branch already
// stays as it is.
func (h *Executor) acquireWorkspace(ctx context.Context, job record.Job) (record.Effect, error) {
	cleared, err := h.Workspaces.Prepare(ctx, job.Task)
	if err != nil {
		return h.giveBack(ctx, job), err
	}
	return record.Effect{Events: clearedEvents(cleared), Said: "workspace " + job.Task.Workspace}, nil
}

// giveBack gives a workspace back that could not be made ready, so that a task that waits in line can have it: the next
// try takes one again. Where an agent of the task lives, or the worktree cannot be left clean, the task keeps it.
func (h *Executor) giveBack(ctx context.Context, job record.Job) record.Effect {
	if ctx.Err() != nil {
		return record.Effect{} // the one who asked has gone, and the attempt was cut short
	}
	effect, err := h.releaseWorkspace(ctx, job)
	if err != nil {
		return record.Effect{} // what kept the workspace from being ready is the error that people hear of
	}
	return effect
}

package hook

import (
	"context"

	"orange/internal/rules/record"
	"orange/internal/work/worktree"
)

// acquireWorkspace prepares the worktree whose lease the transition reserved. One that is on the branch already
// stays as it is.
func (h *Executor) acquireWorkspace(ctx context.Context, job record.Job) (record.Effect, error) {
	cleared, err := h.Work.Prepare(ctx, job.Task)
	if err != nil {
		return h.giveBack(ctx, job, cleared), err
	}
	return record.Effect{Events: clearedEvents(cleared), Said: "workspace " + job.Task.Workspace}, nil
}

// giveBack gives a workspace back that could not be made ready, so that a task that waits in line can have it: the next
// try takes one again. One in which agents of the task have worked the task keeps, and so it does where the worktree
// cannot be left clean, and where the attempt was cut short.
func (h *Executor) giveBack(ctx context.Context, job record.Job, found worktree.Cleared) record.Effect {
	if !found.Fresh || ctx.Err() != nil {
		return record.Effect{}
	}
	effect, err := h.releaseWorkspace(ctx, job)
	if err != nil {
		return record.Effect{} // what kept the workspace from being ready is the error that people hear of
	}
	return effect
}

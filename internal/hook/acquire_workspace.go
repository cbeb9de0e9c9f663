package hook

import (
	"context"

	"orange/internal/task"
)

// acquireWorkspace prepares the worktree whose lease the transition reserved. One that is on the branch already
// stays as it is.
func (h *Hands) acquireWorkspace(ctx context.Context, job task.Job) (task.Effect, error) {
	rescued, err := h.Workspaces.Prepare(ctx, job.Task)
	if err != nil {
		return task.Effect{}, err
	}
	return task.Effect{Events: rescuedEvents(rescued), Said: "workspace " + job.Task.Workspace}, nil
}

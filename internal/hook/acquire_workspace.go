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
		return record.Effect{}, err
	}
	return record.Effect{Events: clearedEvents(cleared), Said: "workspace " + job.Task.Workspace}, nil
}

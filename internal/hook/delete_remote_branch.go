package hook

import (
	"context"

	"orange/internal/task"
)

// deleteRemoteBranch deletes the task's branch on origin, if Orange pushed it and nothing on it would be lost.
func (h *Hands) deleteRemoteBranch(ctx context.Context, job task.Job) (task.Effect, error) {
	deleted, err := h.Workspaces.DeleteRemoteBranch(ctx, job.Task)
	if err != nil {
		return task.Effect{}, err
	}
	if deleted == "" {
		return task.Effect{Said: "no remote branch to delete"}, nil
	}
	return task.Effect{Said: "deleted " + deleted}, nil
}

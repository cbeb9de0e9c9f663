package hook

import (
	"context"

	"orange/internal/task"
)

// spawnNext starts the task of the project that has waited longest for a workspace. No such task is no error.
func (h *Hands) spawnNext(ctx context.Context, job task.Job) (task.Effect, error) {
	started, err := h.Next.StartNext(ctx, job.Task.Project)
	if err != nil {
		return task.Effect{}, err
	}
	if started == "" {
		return task.Effect{Said: "no task waits"}, nil
	}
	return task.Effect{Said: "started task " + started}, nil
}

package hook

import (
	"context"

	"orange/internal/rules/record"
)

// spawnNext starts the task of the project that has waited longest for a workspace. No such task is no error.
func (h *Executor) spawnNext(ctx context.Context, job record.Job) (record.Effect, error) {
	started, err := h.StartNext(ctx, job.Task.Project)
	if err != nil {
		return record.Effect{}, err
	}
	if started == "" {
		return record.Effect{Said: "no task waits"}, nil
	}
	return record.Effect{Said: "started task " + started}, nil
}

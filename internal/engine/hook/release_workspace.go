package hook

import (
	"context"
	"fmt"

	"orange/internal/rules/record"
)

// releaseWorkspace keeps what would be lost, leaves a clean tree behind and gives the lease back. It starts nothing.
func (h *Executor) releaseWorkspace(ctx context.Context, job record.Job) (record.Effect, error) {
	if job.Task.Workspace == "" {
		return record.Effect{Said: "no workspace to release"}, nil
	}
	own, err := h.panesOf(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	for _, p := range own {
		if !p.Dead {
			return record.Effect{},
				fmt.Errorf("cannot release workspace %q: the %s of the task still runs in it; end it first",
					job.Task.Workspace, p.Role)
		}
	}
	cleared, err := h.Work.Release(ctx, job.Task)
	if err != nil {
		return record.Effect{}, err
	}
	return record.Effect{Events: clearedEvents(cleared), Lease: record.LeaseFree,
		Said: "released " + job.Task.Workspace}, nil
}

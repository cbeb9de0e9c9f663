package hook

import (
	"context"
	"fmt"

	"orange/internal/rules/action"
	"orange/internal/rules/record"
)

// makeAgain has the worktree and the branch made again that a hook is to work in, where others have removed them.
// Agents whose folder is gone end first: nothing that they do has any effect.
func (h *Executor) makeAgain(ctx context.Context, job record.Job) (effect record.Effect, err error) {
	if row, known := action.Of(job.Hook.Action); job.Task.Workspace == "" || !known || !row.WorksThere() {
		return effect, nil
	}
	missing, left, err := h.Work.MissingOf(ctx, job.Task)
	if err != nil || missing == "" {
		return effect, err
	}
	if left && job.Task.Session != "" { // else none was started there
		own, err := h.panesOf(ctx, job)
		if err != nil {
			return effect, err
		}
		for _, p := range own {
			if err := h.end(ctx, p, &effect); err != nil {
				return effect, err
			}
		}
		if len(own) > 0 {
			none := ""
			effect.EndSeats, effect.Session = []string{record.EveryRole}, &none
		}
	}
	if job.Hook.Action == action.AcquireWorkspace {
		return effect, nil // it does the rest
	}
	cleared, err := h.Work.Prepare(ctx, job.Task)
	if err != nil {
		return effect, fmt.Errorf("%s, and could not be made again: %w", missing, err)
	}
	effect.Events = clearedEvents(cleared)
	return effect, nil
}

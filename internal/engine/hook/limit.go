package hook

import (
	"context"
	"fmt"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// heedLimit refuses to start an agent that is held up by a limit of its provider: it would run into it.
func (h *Executor) heedLimit(ctx context.Context, job record.Job, provider string) error {
	waiting, err := h.Record.List(ctx, record.Filter{Limited: true})
	if err != nil {
		return fmt.Errorf("look for limits of %q: %w", provider, err)
	}
	if len(waiting) == 0 {
		return nil
	}
	own, err := h.Record.Events(ctx, job.Task.ID, job.Hook.Event-1)
	if err != nil {
		return fmt.Errorf("look for limits of %q: %w", provider, err)
	}
	for _, t := range waiting {
		limited, err := h.Record.Events(ctx, t.ID, 0)
		if err != nil {
			return fmt.Errorf("look for limits of %q: %w", provider, err)
		}
		if until, held := decide.Held(provider, limited, own, h.Now()); held {
			return fmt.Errorf("%q is at a limit until %s, and task %s waits for it; the monitor tries again, or you: "+
				"orange task retry %s", provider, task.Limit{Until: until}.Over(), t.ID, job.Task.ID)
		}
	}
	return nil
}

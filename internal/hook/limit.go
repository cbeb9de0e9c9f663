package hook

import (
	"context"
	"fmt"

	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// Limits has what is on record of the limits at which agents have ended.
type Limits interface {
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
}

// heedLimit refuses to start an agent while a task waits for a limit of the same provider: the agent would run into it.
// A person who knows better starts that task's agent again first.
func (h *Executor) heedLimit(ctx context.Context, job record.Job, provider string) error {
	waiting, err := h.Limits.List(ctx, record.Filter{Limited: true})
	if err != nil {
		return fmt.Errorf("look for limits of %q: %w", provider, err)
	}
	for _, t := range waiting {
		events, err := h.Limits.Events(ctx, t.ID, 0)
		if err != nil {
			return fmt.Errorf("look for limits of %q: %w", provider, err)
		}
		end, until := history.LimitEnd(events)
		now := h.Now()
		if end != nil && end.Data[history.DataProvider] == provider && until.After(now) && !now.Before(end.Time) {
			return fmt.Errorf("%q is at a limit until %s, and task %s waits for it; the monitor tries again, or if it "+
				"is over: orange task respawn %s, then orange task retry %s", provider,
				record.LimitText(until), t.ID, t.ID, job.Task.ID)
		}
	}
	return nil
}

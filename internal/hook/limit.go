package hook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// Limits has what is on record of the limits at which agents have ended.
type Limits interface {
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
}

// longestHold is how long others of a provider are held up by one limit: then one of them tries, because a limit may be
// of a model that it does not use, and the time that was read may be wrong.
const longestHold = time.Hour

// heedLimit refuses to start an agent while a task waits for a limit of the same provider: the agent would run into it.
// It refuses nothing to a person who asked for this very start again.
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
		if end == nil || end.Data[history.DataProvider] != provider || now.Before(end.Time) || !until.After(now) ||
			!end.Time.Add(longestHold).After(now) {
			continue
		}
		insists, err := h.insists(ctx, job)
		if err != nil || insists {
			return err
		}
		return fmt.Errorf("%q is at a limit until %s, and task %s waits for it; the monitor tries again, or you: "+
			"orange task retry %s", provider, record.LimitText(until), t.ID, job.Task.ID)
	}
	return nil
}

// insists reports whether a person has asked for this start again: for the agent, or for another try of the hook.
func (h *Executor) insists(ctx context.Context, job record.Job) (bool, error) {
	events, err := h.Limits.Events(ctx, job.Task.ID, job.Hook.Event-1)
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Actor == task.RoleHuman && (e.Type == history.AgentRespawned || e.Type == history.HooksRetried)
	}), err
}

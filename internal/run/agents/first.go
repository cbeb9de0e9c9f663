package agents

import (
	"context"
	"strings"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

const (
	// firstQuiet is how long the screen of an agent must be still that has done nothing since its start.
	firstQuiet = 10 * time.Second
	// startTime is how long after its start Orange itself may still write for an agent.
	startTime = 3 * time.Second
)

// showsUnknown reports whether a screen shows something, and not that the program is at work. An empty terminal says
// nothing: a program that answers once writes nothing until its end.
func showsUnknown(h *harness.Harness, screen string) bool {
	return strings.TrimSpace(screen) != "" && (h.Busy == nil || !h.Busy.MatchString(screen))
}

// hasTurned reports whether an agent has done something since its start: it asked Orange for something that its task's
// history has, or that was refused, or its task's document, branch or worktree has changed.
func (o *Observer) hasTurned(ctx context.Context, p tmux.Pane, t *task.Task) (bool, error) {
	events, err := o.Record.Events(ctx, t.ID, 0)
	if err != nil {
		return false, err
	}
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		started := e.Type == history.AgentSpawned || e.Type == history.ReviewStarted
		if started && e.Data["role"] == p.Role {
			refused, err := o.Record.Refusals(ctx, t.ID)
			if err != nil || refused.Of(*t) && refused.Minute.After(e.Time) {
				return true, err
			}
			touched, err := o.Touched(ctx, *t)
			return touched.After(e.Time.Add(startTime)), err
		}
		if e.Actor == p.Role || e.Type == history.ConversationNoted && e.Data["role"] == p.Role {
			return true, nil
		}
	}
	return true, nil // its start is not on record yet
}

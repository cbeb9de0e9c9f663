package agents

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"orange/internal/history"
	"orange/internal/task"
	"orange/internal/tmux"
)

// limitQuiet is how long an agent's terminal must be still before it is read: an agent at work is at no limit.
const limitQuiet = 10 * time.Second

// LimitCache knows which agents do nothing because their provider lets them do no more for now. A terminal is read
// once after it became still, and not again until it has moved.
type LimitCache struct {
	mu   sync.Mutex
	read map[string]stillness // by pane
}

// stillness is what a terminal that is still says of a limit.
type stillness struct {
	since time.Time
	limit string
}

// Limits has, by their ids, the line of each pane that tells of a limit. The panes are those of agents that live.
func (l *LimitCache) Limits(ctx context.Context, o *Observer, panes []tmux.Pane, tasks map[string]task.Task,
	now time.Time) (map[string]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, read := map[string]string{}, map[string]stillness{}
	var all error
	for _, p := range panes {
		if now.Sub(p.Activity) < limitQuiet {
			continue
		}
		one, known := l.read[p.ID]
		if !known || !one.since.Equal(p.Activity) {
			limit, err := o.limitOf(ctx, p, tasks[p.Task])
			if err != nil {
				all = errors.Join(all, err)
				continue
			}
			one = stillness{p.Activity, limit}
		}
		read[p.ID] = one
		if one.limit != "" {
			out[p.ID] = one.limit
		}
	}
	l.read = read
	return out, all
}

// limitOf reads the terminal of one agent.
func (o *Observer) limitOf(ctx context.Context, p tmux.Pane, t task.Task) (string, error) {
	events, err := o.Record.Events(ctx, t.ID, 0)
	if err != nil {
		return "", err
	}
	usual := t.Harness // where the history does not say: an old one, or one that was lost
	if p.Role == task.RoleReviewer {
		usual = cmp.Or(t.ReviewHarness, t.Harness)
	}
	program, err := o.Setup.Harness(cmp.Or(history.HarnessOf(events, p.Role), usual))
	if err != nil {
		return "", err
	}
	if program.Limited == nil {
		return "", nil
	}
	text, err := o.Capture(ctx, p.ID, 0)
	if errors.Is(err, tmux.ErrEnded) {
		return "", nil // it has gone since it was listed
	}
	return program.Limit(text), err
}

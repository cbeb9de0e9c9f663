package agents

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"orange/internal/history"
	"orange/internal/record"
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

// Liveness is how the agent of a task's status is.
type Liveness struct {
	State  string    // one of record's words for it
	Active time.Time // when its terminal last changed; zero when that is not known
	Limit  string    // what its terminal says of its provider's limit, which lets it do no more for now
}

// Observe has how the agents of tasks are, by the tasks' ids. With an error it has what is known.
func (l *LimitCache) Observe(ctx context.Context, o *Observer, tasks []task.Task, now time.Time) (
	map[string]Liveness, error) {
	states, panes, err := o.States(ctx, tasks)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Liveness, len(states))
	for id, state := range states {
		out[id] = Liveness{State: state}
	}
	byID := make(map[string]task.Task, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
	}
	var living []tmux.Pane
	for _, p := range panes {
		one, asked := out[p.Task]
		if !asked || p.Role == "" {
			continue
		}
		if p.Activity.After(one.Active) {
			one.Active = p.Activity
			out[p.Task] = one
		}
		if !p.Dead && one.State == record.AgentAlive && o.worksIn(ctx, byID[p.Task], p.Role) {
			living = append(living, p)
		}
	}
	limits, err := l.limits(ctx, o, living, byID, now)
	for _, p := range living {
		if one := out[p.Task]; limits[p.ID] != "" {
			one.Limit = limits[p.ID]
			out[p.Task] = one
		}
	}
	return out, err
}

// worksIn reports whether a role is the one that works in a task's status.
func (o *Observer) worksIn(ctx context.Context, t task.Task, role string) bool {
	def, err := o.Setup.Pinned(ctx, t.Workflow)
	if err != nil {
		return false // the error is reported where the rules are read
	}
	state, _ := def.State(t.Status)
	return state.Role == role
}

// limits has, by their ids, the line of each pane that tells of a limit. The panes are those of agents that live.
func (l *LimitCache) limits(ctx context.Context, o *Observer, panes []tmux.Pane, tasks map[string]task.Task,
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

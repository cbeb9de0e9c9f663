package agents

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

const (
	// screenQuiet is how long an agent's terminal must be still before it is read: a program that works draws.
	screenQuiet = 2 * time.Second
	// How many terminals are read at once: where a person waits for the answer, and where a watch has just begun.
	mostScreens        = 50
	mostScreensOfWatch = 250
	// newsTime is how long the hooks of a move may take to end other agents and to tell this one of it.
	newsTime = 10 * time.Second
)

// Screens knows what the terminals of agents that do nothing say to people. A terminal is read once after it became
// still, and not again until it has moved.
type Screens struct {
	mu   sync.Mutex
	read map[string]stillness // by pane
}

// stillness is what a terminal that is still says.
type stillness struct {
	since time.Time
	inbox.Sight
	first bool // no one knows what it shows, and its agent may have done nothing since its start
}

// Liveness is how the agent of a task's status is.
type Liveness struct {
	State  string    // one of record's words for it
	Active time.Time // when its terminal last changed; zero when that is not known
	Limit  string    // what its terminal says of its provider's limit, which lets it do no more for now
	Need   record.Need
}

// Observe has how the agents of tasks are, by the tasks' ids, with one call of tmux, and one more for those terminals
// that have changed since and are still, at most so many. More reports that some of these were not read yet. With an
// error it has what is known.
func (l *Screens) Observe(ctx context.Context, o *Observer, tasks []task.Task, now time.Time,
	most int) (out map[string]Liveness, more bool, err error) {
	states, panes, blind := o.States(ctx, tasks)
	out = make(map[string]Liveness, len(states))
	for id, state := range states {
		out[id] = Liveness{State: state}
	}
	byID := map[string]*task.Task{} // the live ones, and those with a mark: no one is needed for the others
	for i := range tasks {
		if tasks[i].Live || tasks[i].Attention != "" {
			byID[tasks[i].ID] = &tasks[i]
		}
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
		if t := byID[p.Task]; t != nil && !p.Dead && one.State == record.AgentAlive && o.worksIn(ctx, t, p.Role) {
			living = append(living, p)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make(map[string]stillness, len(living)) // without those that are gone
	for _, p := range living {
		if one, before := l.read[p.ID]; before {
			known[p.ID] = one
		}
	}
	l.read = known
	seen, more, err := l.see(ctx, o, living, byID, now, most)
	o.explain(ctx, byID, out, seen)
	return out, more, errors.Join(blind, err)
}

// ObserveChanged is Observe for those agents alone whose terminals have changed at a time or after it: with as many
// calls of tmux, which has less to say.
func (l *Screens) ObserveChanged(ctx context.Context, o *Observer, tasks []task.Task, since, now time.Time) (
	out map[string]Liveness, more bool, err error) {
	panes, err := o.PanesSince(ctx, since)
	if err != nil {
		return nil, false, err
	}
	byID := make(map[string]*task.Task, len(panes))
	for _, p := range panes {
		byID[p.Task] = nil
	}
	for i := range tasks {
		if _, changed := byID[tasks[i].ID]; changed && tasks[i].Live {
			byID[tasks[i].ID] = &tasks[i]
		}
	}
	out = map[string]Liveness{}
	var living []tmux.Pane
	for _, p := range panes {
		if t := byID[p.Task]; t != nil && p.Role != "" && !p.Dead && o.worksIn(ctx, t, p.Role) {
			living = append(living, p)
			out[p.Task] = Liveness{State: record.AgentAlive, Active: p.Activity}
		}
	}
	maps.DeleteFunc(byID, func(id string, _ *task.Task) bool { return out[id].State == "" })
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, more, err := l.see(ctx, o, living, byID, now, mostScreensOfWatch)
	o.explain(ctx, byID, out, seen)
	return out, more, err
}

// explain adds what the tasks need, of which the terminals say something.
func (o *Observer) explain(ctx context.Context, tasks map[string]*task.Task, found map[string]Liveness,
	seen map[string]inbox.Sight) {
	for id, t := range tasks {
		def, unread := o.Setup.Pinned(ctx, t.Workflow)
		if unread != nil {
			continue // the error is reported where the rules are read
		}
		one := found[id]
		one.Need = inbox.NeedOf(def, *t, one.State, seen[id])
		one.Limit = seen[id].Rest.Line
		found[id] = one
	}
}

// roleOf is the role that works in a task's status; empty where none does. known is false where its rules cannot be
// read: that is reported where they are.
func (o *Observer) roleOf(ctx context.Context, t *task.Task) (role string, known bool) {
	def, err := o.Setup.Pinned(ctx, t.Workflow)
	if err != nil {
		return "", false
	}
	state, _ := def.State(t.Status)
	return state.Role, true
}

// worksIn reports whether a role is the one that works in a task's status.
func (o *Observer) worksIn(ctx context.Context, t *task.Task, role string) bool {
	own, known := o.roleOf(ctx, t)
	return known && own == role
}

// see reads the terminals that are still, and answers what they say by their tasks' ids. The panes are those of agents
// that live. At most so many are read, those with the latest news first; more reports that some were left. The caller
// has the lock.
func (l *Screens) see(ctx context.Context, o *Observer, panes []tmux.Pane, tasks map[string]*task.Task,
	now time.Time, most int) (out map[string]inbox.Sight, more bool, err error) {
	if l.read == nil {
		l.read = map[string]stillness{}
	}
	var still []tmux.Pane
	for _, p := range panes {
		if one, before := l.read[p.ID]; before && one.since.Equal(p.Activity) {
			continue
		}
		delete(l.read, p.ID)
		if now.Sub(p.Activity) >= screenQuiet {
			still = append(still, p)
		}
	}
	slices.SortStableFunc(still, func(a, b tmux.Pane) int { return b.Activity.Compare(a.Activity) })
	more = len(still) > most
	still = still[:min(len(still), most)]
	ids := make([]string, len(still))
	for i, p := range still {
		ids[i] = p.ID
	}
	screens, err := o.Screens(ctx, ids)
	for _, p := range still {
		if screen, was := screens[p.ID]; was {
			program, unread := o.harnessOf(ctx, p, tasks[p.Task])
			if unread != nil {
				err = errors.Join(err, unread)
				continue
			}
			sight := readScreen(program, screen, p.Activity)
			l.read[p.ID] = stillness{p.Activity, sight, sight.Kind == "" && showsUnknown(program, screen)}
		}
	}
	out = make(map[string]inbox.Sight, len(panes))
	for _, p := range panes {
		one, is := l.read[p.ID]
		if is && one.first && now.Sub(one.since) >= firstQuiet {
			turned, untold := o.hasTurned(ctx, p, tasks[p.Task])
			if err = errors.Join(err, untold); !turned && untold == nil {
				out[p.Task] = inbox.Sight{Kind: record.NeedsStart, Since: one.since}
				continue
			}
			one.first = untold != nil
			l.read[p.ID] = one
		}
		if is && (one.Kind != record.NeedsWord || !unheard(tasks[p.Task], one.since, now)) {
			out[p.Task] = one.Sight
		}
	}
	return out, more, err
}

// unheard reports whether an agent that rests may not know yet that its task has moved: its terminal, which tmux knows
// to the second, has been still since before the status began, and that is not long ago.
func unheard(t *task.Task, since, now time.Time) bool {
	return since.Before(t.EnteredAt.Truncate(time.Second)) && now.Sub(t.EnteredAt) < newsTime
}

// harnessOf is the harness of the agent in a window.
func (o *Observer) harnessOf(ctx context.Context, p tmux.Pane, t *task.Task) (*harness.Harness, error) {
	events, err := o.Record.Events(ctx, t.ID, 0)
	if err != nil {
		return nil, err
	}
	return o.Setup.Harness(history.HarnessFor(*t, p.Role, events))
}

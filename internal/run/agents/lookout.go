package agents

import (
	"context"
	"errors"
	"slices"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/conflict"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Lookout knows how the agents of tasks are, and why people should look after tasks. Every field but Documents, Missing
// and Conflicts is required: without them there are fewer words, and no word of what a task has lost.
type Lookout struct {
	*Observer
	Screens   *Screens
	Documents Documents
	// Missing says what is not there any more of tasks' worktrees, or of their branches, by the tasks' ids.
	Missing func(ctx context.Context, tasks []task.Task) map[string]string
	// Conflicts is what was found last of the conflicts of a project's branches.
	Conflicts func(ctx context.Context, project string) (conflict.Overview, error)
	Zone      *time.Location // in which words have times; nil for that of this process
}

// Documents has the documents of tasks.
type Documents interface {
	Read(project, id string, whole bool) ([]byte, error)
}

// Look is how the agents of tasks are, and why people should look after tasks now, in words. With an error it has what
// is known.
func (l Lookout) Look(ctx context.Context, tasks []task.Task) (map[string]Liveness, error) {
	now := time.Now()
	found, _, err := l.Screens.Observe(ctx, l.Observer, tasks, now, mostScreens)
	l.word(ctx, tasks, found, now)
	return found, errors.Join(err, l.wait(ctx, found, now))
}

// wait says of each task that needs no one, and for which Orange has been at a step for long, what that waits for.
func (l Lookout) wait(ctx context.Context, found map[string]Liveness, now time.Time) error {
	all, err := l.Record.UnderWay(ctx, now.Add(-action.Slow))
	for _, h := range all {
		if one, asked := found[h.Task]; asked && one.Need.Kind == "" {
			one.Need.Found = h.Action + ": " + action.UnderWay(h.Action, now.Sub(h.Began))
			found[h.Task] = one
		}
	}
	return err
}

// Needs are the states of agents, and why people should look after tasks now. With an error it has what is known.
func (l Lookout) Needs(ctx context.Context, tasks []task.Task) (map[string]string, map[string]record.Need, error) {
	found, err := l.Look(ctx, tasks)
	if found == nil {
		return nil, nil, err
	}
	states, needs := make(map[string]string, len(found)), map[string]record.Need{}
	for id, one := range found {
		if states[id] = one.State; one.Need.Kind+one.Need.Found != "" {
			needs[id] = one.Need
		}
	}
	return states, needs, err
}

// Need is why a person should look after one task now.
func (l Lookout) Need(ctx context.Context, t task.Task) (record.Need, error) {
	_, needs, err := l.Needs(ctx, []task.Task{t})
	return needs[t.ID], err
}

// Explain adds to an explanation what the agent's screen says; the rest is among what the task waits for.
func (l Lookout) Explain(ctx context.Context, e decide.Explanation) decide.Explanation {
	need, err := l.Need(ctx, e.Task)
	if need.Kind != "" {
		e.Need = need
	}
	if err != nil {
		e.Waits = append(e.Waits, rejection.Detail{Condition: "a look at its agent", Found: err.Error(),
			Want: "try again"})
	}
	if need.Kind == record.NeedsLimit && need.Rest == nil {
		return e // the task's own mark says so
	}
	if need.OnScreen() || need.Kind == record.NeedsDocument || need.Kind == record.NeedsWorktree {
		// The record knows that the agent lives, and not that it does nothing, or cannot.
		e.Waits = slices.DeleteFunc(e.Waits, func(d rejection.Detail) bool { return d.Found == record.AtWork })
		e.Waits = slices.Insert(e.Waits, 0, rejection.Detail{Condition: "a person", Found: need.Found,
			Want: need.Want})
	}
	return e
}

// Waiting are the needs of tasks, with an empty one for a task that needs no one: of all tasks where since is zero,
// else of those alone whose agents' terminals have changed at that time or after it. More reports that some terminals
// that are still were not read yet.
func (l Lookout) Waiting(ctx context.Context, tasks []task.Task, since time.Time) (
	needs map[string]record.Need, more bool, err error) {
	now := time.Now()
	var found map[string]Liveness
	if since.IsZero() {
		found, more, err = l.Screens.Observe(ctx, l.Observer, tasks, now, mostScreensOfWatch)
	} else {
		found, more, err = l.Screens.ObserveChanged(ctx, l.Observer, tasks, since, now)
	}
	if found == nil {
		return nil, false, err
	}
	l.word(ctx, tasks, found, now)
	needs = make(map[string]record.Need, len(found))
	for id, one := range found {
		if one.State != record.AgentUnknown { // else no one has looked at it
			needs[id] = one.Need
		}
	}
	return needs, more, err
}

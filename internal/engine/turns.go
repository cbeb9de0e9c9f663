package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/decide"
	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Before looks at the tasks that a task waits for. With look it finds out whether a new task would start with their
// commits, as far as is known without a fetch; else it reads the record alone.
func (e *turns) Before(ctx context.Context, t task.Task, look bool) ([]record.Before, error) {
	w, err := e.waitingFor(ctx, t, look)
	return w.Before, err
}

func (e *turns) waitingFor(ctx context.Context, t task.Task, look bool) (decide.Waiting, error) {
	w, err := e.predecessors(ctx, t)
	if err != nil || !look || !t.WaitsForTasks() {
		return w, err
	}
	met := e.addLanded(ctx, &w)
	for i := range w.Before {
		if b := &w.Before[i]; met != nil && b.State == record.BeforeOver {
			b.Found = fmt.Sprintf("it is %q, and its commit cannot be looked for: %v", b.Status, met)
		}
	}
	return w, nil
}

// predecessors are the tasks that a task waits for, as far as the record knows.
func (e *turns) predecessors(ctx context.Context, t task.Task) (decide.Waiting, error) {
	w := decide.Waiting{Task: t}
	for _, id := range t.After {
		s, err := e.record.Load(ctx, id)
		if errors.Is(err, task.ErrNotFound) {
			w.Gone(id)
			continue
		}
		if err != nil {
			return w, err
		}
		def, err := e.rulesOf(ctx, s.Task)
		if err != nil {
			return w, err
		}
		var events []history.Event
		if !s.Task.Live {
			if events, err = e.record.Events(ctx, id, 0); err != nil {
				return w, err
			}
		}
		w.Add(def, s.Task, events)
		if last := &w.Before[len(w.Before)-1]; last.State == record.BeforeOver && last.Commit == "" {
			// it was never judged; where its branch is gone too it has nothing to bring
			if last.Commit, err = e.work.Tip(ctx, s.Task); err != nil {
				return w, err
			}
		}
	}
	return w, nil
}

// addLanded adds whether a task that starts now would start with the commits of those that ended well.
func (e *turns) addLanded(ctx context.Context, w *decide.Waiting) error {
	var commits []string
	for _, b := range w.Before {
		if b.State == record.BeforeOver && b.Commit != "" {
			commits = append(commits, b.Commit)
		}
	}
	base, lacks, err := e.work.Lacks(ctx, w.Task, commits)
	if err == nil {
		w.Landed(base, lacks)
	}
	return err
}

// mayWait judges whether a new task can wait for the tasks that it names.
func (e *turns) mayWait(ctx context.Context, def *workflow.Definition, n task.New, status task.Status) error {
	if len(n.After) == 0 {
		return nil
	}
	w, err := e.predecessors(ctx, task.Task{Project: n.Project.Name, After: n.After})
	if err != nil {
		return err
	}
	return w.MayBegin(def, n, status)
}

// waits keeps a new task's environment for its start, and starts it at once if nothing is missing.
func (e *turns) waits(ctx context.Context, created record.Outcome, actor task.Actor) (record.Outcome, error) {
	e.outcomes.keepEnvironment(ctx, created.Task.ID, actor)
	out, err := e.StartWaiting(ctx, created.Task.ID, true)
	if err != nil {
		return created, fmt.Errorf("task %s was created and is %s; whether it can start is not known: %w; the "+
			"monitor tries again, or start it with: orange task spawn %s", created.Task.ID, created.Task.Status, err,
			created.Task.ID)
	}
	if !out.Moved && !out.Queued {
		created.Task, created.Before = out.Task, out.Before
		return created, nil
	}
	return out, nil
}

// StartWaiting starts a task that waits for others, if all of them ended well and it would start with their commits.
// Else the outcome says what is missing, and the task gets a mark if that will not come. With fetch it asks origin
// first, once all of them ended well.
func (e *turns) StartWaiting(ctx context.Context, id string, fetch bool) (record.Outcome, error) {
	s, err := e.record.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return record.Outcome{}, nil
	}
	if err != nil || !s.Task.WaitsForTasks() {
		return record.Outcome{Task: s.Task}, err
	}
	w, err := e.predecessors(ctx, s.Task)
	if err != nil {
		return record.Outcome{}, err
	}
	if w.AllWell() {
		if fetch {
			if err := e.work.Fetch(ctx, s.Task); err != nil { // without a network what is known of origin counts
				e.logFailure("origin could not be fetched; what is known of it counts for the task can start", id, err)
			}
		}
		if err = e.addLanded(ctx, &w); err != nil {
			return record.Outcome{}, err
		}
	}
	against := ""
	if w.MayStart() {
		out, err := e.startWaited(ctx, &w)
		var refused *rejection.Rejection
		if !errors.As(err, &refused) {
			return out, err
		}
		against = refused.Message
	}
	return e.stillWaits(ctx, w, against)
}

func (e *turns) startWaited(ctx context.Context, w *decide.Waiting) (record.Outcome, error) {
	t := w.Task
	def, err := e.rulesOf(ctx, t)
	if err != nil {
		return record.Outcome{}, err
	}
	to, err := decide.SpawnTarget(def, t)
	if err != nil {
		return record.Outcome{}, err
	}
	return e.requests.Request(ctx, task.Request{Task: t.ID, To: to, Waited: true, Actor: task.Actor{Rule: true},
		Reason: w.StartReason()})
}

// stillWaits marks a task that waits for what will not come, and takes the mark away where that has changed.
func (e *turns) stillWaits(ctx context.Context, w decide.Waiting, against string) (record.Outcome, error) {
	t, changed, err := e.files.amend(ctx, w.Task.ID, func(s record.Snapshot) (record.Change, bool, error) {
		w.Task = s.Task
		c, due := w.Stays(against, e.now())
		return c, due, nil
	})
	if !changed && errors.Is(err, task.ErrNotFound) {
		return record.Outcome{}, nil
	}
	return record.Outcome{Task: t, Before: w.Before}, err
}

// startThoseAfter starts the tasks that wait for one that is over or was deleted, as far as nothing else is missing.
// What fails is logged: the monitor tries again.
func (e *turns) startThoseAfter(ctx context.Context, id string) {
	waiting, err := e.record.List(ctx, record.Filter{WaitsFor: id})
	for i := range waiting {
		_, failed := e.StartWaiting(ctx, waiting[i].ID, true)
		err = errors.Join(err, failed)
	}
	if err != nil {
		e.logFailure("tasks that waited for this one may not have been started; the monitor tries again", id, err)
	}
}

// startNext starts the task of the project that has waited longest for a workspace. That it cannot be started is noted
// with that task, and is no failure of this one.
func (e *turns) startNext(ctx context.Context, t task.Task) {
	if _, err := e.StartNext(ctx, t.Project); err != nil {
		e.warn(t.ID, fmt.Sprintf("the next task of project %q could not be started: %v", t.Project, err))
	}
}

// StartNext starts the task of a project that has waited longest for a workspace. No such task is no error.
func (e *turns) StartNext(ctx context.Context, project string) (started string, err error) {
	queued, err := e.record.List(ctx, record.Filter{Project: project, Queued: true})
	if err != nil {
		return "", err
	}
	var all error
	for _, t := range queued {
		s, err := e.record.Load(ctx, t.ID)
		if err != nil && !errors.Is(err, task.ErrNotFound) {
			all = errors.Join(all, fmt.Errorf("start task %s: %w", t.ID, err))
		}
		if err != nil || s.Task.QueuedFor != t.QueuedFor {
			continue // another process was first, or the task is gone
		}
		out, next, err := record.Outcome{}, false, error(nil)
		if s.Task.Displaced() {
			out, next, err = e.goOn(ctx, t.ID)
		} else {
			out, err = e.requests.Request(ctx, task.Request{Task: t.ID, To: t.QueuedFor, Queued: true,
				Actor: task.Actor{Rule: true}, Reason: "a workspace became free"})
		}
		var refused *rejection.Rejection
		switch {
		case next && err == nil, errors.As(err, &refused):
			continue // its turn, but not its time: the next one may go
		case err != nil:
			all = errors.Join(all, fmt.Errorf("start task %s: %w", t.ID, err))
			continue // the others need not wait for it
		case out.Queued:
			return "", all
		}
		return t.ID, all
	}
	return "", all
}

// goOn is settleIn for a task that is next in the queue. Where its branch is missing it gets a mark, and the next task
// may have the workspace.
func (e *turns) goOn(ctx context.Context, id string) (out record.Outcome, next bool, err error) {
	out, err = e.rooms.settleIn(ctx, id)
	missing, is := errors.AsType[*noBranch](err)
	if !is {
		return out, false, err
	}
	_, _, err = e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		c, due := fencing.WithoutBranch(s.Task, missing.Error(), e.now())
		return c, due, nil
	})
	return record.Outcome{}, true, err
}

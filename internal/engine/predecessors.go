package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/decide"
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
			e.fetchFor(ctx, s.Task)
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

// fetchFor asks origin where its default branch is. Without a network what is known of it counts.
func (e *turns) fetchFor(ctx context.Context, t task.Task) {
	if err := e.work.Fetch(ctx, t); err != nil {
		e.logFailure("origin could not be fetched; what is known of it counts for the task can start", t.ID, err)
	}
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

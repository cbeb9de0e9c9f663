package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// poolFull is the error of a task that cannot be created, because its state needs a workspace and none is free.
func (e *rooms) poolFull(ctx context.Context, p task.Project, status task.Status) error {
	holders, err := e.record.Holders(ctx, p.Name)
	if err != nil {
		return err
	}
	return task.Notef(task.ErrPoolFull, "cannot create a task in %q: %s", status, takenBy(p, holders))
}

// noRoom is the error of a task that needs a workspace now, and cannot wait for one in a queue.
func (e *rooms) noRoom(ctx context.Context, t task.Task) error {
	project, err := e.registered(t.Project)
	if err != nil {
		return err
	}
	holders, err := e.record.Holders(ctx, t.Project)
	if err != nil {
		return err
	}
	return task.Notef(task.ErrPoolFull, "cannot give task %s a workspace: %s", t.ID,
		takenBy(project, holders))
}

// takenBy says that a project's workspaces are all taken, and by whom.
func takenBy(p task.Project, holders []record.Holder) string {
	text := fmt.Sprintf("all %d workspaces of %q are taken", p.PoolSize, p.Name)
	for i, h := range holders {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s (%s, %s)", sep, h.Task, h.Branch, h.Status)
	}
	return text
}

// queue marks a task that waits for a workspace, and names the tasks that have them.
func (e *rooms) queue(ctx context.Context, t task.Task, req task.Request) (record.Outcome, error) {
	if _, err := e.registered(t.Project); err != nil {
		return record.Outcome{}, err // no workspace of it becomes free
	}
	s, _, err := e.do(ctx, t.ID, e.withRules, func(s step) (*ruling, error) {
		if s.Task.QueuedFor == req.To || s.Task.Status != t.Status {
			return nil, nil
		}
		return queueRuling(s, req.To, req.Actor, e.now()), nil
	})
	if err != nil {
		return record.Outcome{}, err
	}
	e.outcomes.keepEnvironment(ctx, t.ID, req.Actor) // the process that gives a workspace back may start it
	if err := e.files.Sync(ctx, t.ID); err != nil {
		return record.Outcome{}, err
	}
	holders, err := e.record.Holders(ctx, t.Project)
	return record.Outcome{Task: s.Task, Queued: true, Holders: holders}, err
}

// queueRuling has a task wait for a workspace, for a move to a status or in its own.
func queueRuling(s step, to task.Status, actor task.Actor, now time.Time) *ruling {
	return &ruling{change: decide.Queue(s.def, s.Task, to, actor, now),
		in: replay.Inputs{Ask: replay.AskQueue, To: to}.By(actor)}
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

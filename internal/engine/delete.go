package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Forget drops what the record still holds for a task that it does not have, such as the lease of a workspace.
func (e *departures) Forget(ctx context.Context, id string) error {
	_, err := e.record.Load(ctx, id)
	if err == nil {
		return fmt.Errorf("cannot forget task %s: it is on record", id)
	}
	if !errors.Is(err, task.ErrNotFound) {
		return err
	}
	return e.record.Delete(ctx, id)
}

// Delete removes a task from the record and moves its folder to the trash. It first cancels a live task by the usual
// request.
func (e *departures) Delete(ctx context.Context, id string, actor task.Actor) (gone record.DeletedTask, err error) {
	s, err := e.record.Load(ctx, id)
	if err == nil {
		err = decide.Delete(s.Task, actor)
	}
	if err != nil {
		return gone, err
	}
	if s.Task.Live {
		if _, err := e.requests.Command(ctx, id, workflow.MoveCancel, actor, "deleted"); err != nil {
			return gone, err
		}
	}
	if err := e.giveBack(ctx, id, actor); err != nil {
		return gone, err
	}
	if gone.Stayed, err = e.outcomes.leftBehindSince(ctx, id, 0); err != nil {
		return gone, err
	}
	// A process that mirrors the task at this moment would create its folder again.
	release, err := e.folder.Lock(ctx, FilesLock(id))
	if err != nil {
		return gone, err
	}
	defer release()
	if err := e.record.Delete(ctx, id); err != nil {
		return gone, err
	}
	e.outcomes.dropEnvironment(ctx, id)
	gone.Folder, err = e.folder.Trash(s.Task.Project, id)
	err = errors.Join(err, e.environments.Forget(ctx, id))
	e.turns.startThoseAfter(ctx, id)
	return gone, err
}

// giveBack has a task that has ended give its workspace back. What has failed is tried once more now: git, tmux and a
// program that ends late may refuse for a moment.
func (e *departures) giveBack(ctx context.Context, id string, actor task.Actor) error {
	for tried := false; ; tried = true {
		s, err := e.record.Load(ctx, id)
		if err != nil || s.Task.Workspace == "" && !s.Task.Live {
			return err
		}
		if tried || s.Task.Live {
			why := "what gives it back is not done yet"
			for _, h := range s.Owed {
				if h.Error != "" {
					why = h.Action + ": " + h.Error
				}
			}
			return fmt.Errorf("cannot delete task %s yet: it still has its workspace (%s): %s; run %q and try again",
				id, s.Task.Workspace, why, "orange task retry "+id)
		}
		if _, err := e.hooks.retry(ctx, id, actor); err != nil {
			return err
		}
	}
}

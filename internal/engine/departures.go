package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/decide"
	"orange/internal/rules/fencing"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Leave lets a task go: it ends the task's agents, keeps under refs what no branch holds, gives the workspace back,
// moves the folder aside and forgets the task. It returns the new place of the folder, and the refs. Where the
// workspace cannot be given back the task stays, and Leave goes on when it is asked again. A refusal is a
// *rejection.Rejection.
func (e *departures) Leave(ctx context.Context, id, reason string, actor task.Actor) (folder string, refs []string,
	err error) {
	if err := e.outcomes.finishPending(ctx, id, actor); err != nil {
		return "", nil, err
	}
	// What people wrote into the header goes along.
	if _, _, err := e.files.refresh(ctx, id); err != nil {
		return "", nil, err
	}
	t, _, err := e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		c, err := fencing.Leave(s, actor, reason, e.now())
		return c, true, err
	})
	if err != nil {
		return "", nil, err
	}
	ctx = context.WithoutCancel(ctx) // its agents are ending
	if _, err := e.outcomes.conclude(ctx, t, t.Seq, actor); err != nil {
		return "", nil, err
	}
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return "", nil, err
	}
	if folder, err = e.setAside(ctx, id); err != nil {
		return "", nil, err
	}
	e.turns.startThoseAfter(ctx, id)
	_, err = e.turns.StartNext(ctx, t.Project)
	return folder, fencing.RescueRefs(events), err
}

// BeginToLeave ends the agents of a task that is about to leave, so that no one writes what it has any more. It says so
// once, however often it is asked. A refusal is a *rejection.Rejection.
func (e *departures) BeginToLeave(ctx context.Context, id, reason string, actor task.Actor) error {
	if err := e.outcomes.finishPending(ctx, id, actor); err != nil {
		return err
	}
	t, changed, err := e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		return fencing.BeginLeave(s, actor, reason, e.now())
	})
	if err != nil || !changed {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := e.outcomes.conclude(ctx, t, t.Seq, actor); err != nil {
		return err
	}
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return err
	}
	if unended := fencing.WhyAgentsLive(s); unended != "" {
		return fmt.Errorf("cannot let task %s leave yet: %s; run %q and try again", id, unended,
			"orange task retry "+id)
	}
	return nil
}

// setAside moves the folder of a task aside that has nothing left here, and forgets the task. The folder goes first: a
// program that is killed in between leaves a task on record, and never a folder that a rebuild would take for a lost
// task.
func (e *departures) setAside(ctx context.Context, id string) (string, error) {
	if err := e.files.Sync(ctx, id); err != nil {
		return "", err
	}
	// A process that mirrors the task at this moment would create its folder again.
	release, err := e.folder.Lock(ctx, FilesLock(id))
	if err != nil {
		return "", err
	}
	defer release()
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return "", err
	}
	if undone := fencing.LeftToEnd(s); undone != "" {
		return "", fmt.Errorf("cannot let task %s leave yet: %s; its agents are ended; run %q and try again", id,
			undone, "orange task retry "+id)
	}
	folder, err := e.folder.SetAside(s.Task.Project, id)
	if err != nil {
		return "", err
	}
	err = e.record.Delete(ctx, id)
	e.outcomes.dropEnvironment(ctx, id)
	return folder, errors.Join(err, e.environments.Forget(ctx, id))
}

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
		if _, err := e.hooks.retry(ctx, id, actor, false); err != nil {
			return err
		}
	}
}

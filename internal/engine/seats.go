package engine

import (
	"context"
	"errors"
	"slices"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// hasSeat reports whether a task has an open seat of a kind.
func (e *core) hasSeat(ctx context.Context, id string, is func(record.Seat) bool) (bool, error) {
	seats, err := e.record.OpenSeats(ctx, id)
	return slices.ContainsFunc(seats, is), err
}

// isStarting reports whether a process still performs a hook that was dropped meanwhile. That process records which
// agent it started when it is done, and no other process performs the hook again.
func (e *crew) isStarting(ctx context.Context, id string, hook int64) (bool, error) {
	dropped, err := e.hasSeat(ctx, id, func(s record.Seat) bool { return s.Hook == hook && s.Dropped && s.PID == 0 })
	if err != nil || !dropped {
		return false, err
	}
	release, idle, err := e.folder.TryLock(hooksLock(id))
	if idle {
		release()
	}
	return err == nil && !idle, err
}

// EndUnusedSeats ends the seats that were issued for a hook which started no agent. No agent has died. While a
// process still performs the hook, EndUnusedSeats leaves them for later.
func (e *crew) EndUnusedSeats(ctx context.Context, id string, hook int64) error {
	if starting, err := e.isStarting(ctx, id, hook); err != nil || starting {
		return err
	}
	_, _, err := e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		return record.Change{Task: s.Task, Expect: s.Task.Version, DeadHook: hook}, true, nil
	})
	if errors.Is(err, task.ErrNotFound) || errors.Is(err, task.ErrNobody) {
		return nil // another process was first
	}
	return err
}

// seatedAs reports whether an agent of the role has an open seat: then no process has found one of that role dead.
func (e *core) seatedAs(ctx context.Context, id, role string) (bool, error) {
	return e.hasSeat(ctx, id, func(s record.Seat) bool { return s.Role == role })
}

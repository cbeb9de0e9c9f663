package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// hookPoll is how often a waiting request checks whether the runner has settled its hooks.
const hookPoll = 10 * time.Millisecond

// awaitHooks starts the runner if the event owes anything, and waits until it does not. It returns the event's hooks
// as they are then.
func (e *outcomes) awaitHooks(ctx context.Context, interrupted <-chan struct{}, id string, event int,
	actor task.Actor) ([]task.OwedHook, error) {
	hooks, err := e.record.Hooks(ctx, id, event)
	if err != nil || !isOwing(hooks) {
		return hooks, err
	}
	if err := e.runHooks(ctx, id, actor.Role == task.RoleHuman); err != nil {
		return hooks, fmt.Errorf("start the runner of hooks: %w", err)
	}
	patience := time.NewTimer(e.patience)
	defer patience.Stop()
	tick := time.NewTicker(hookPoll)
	defer tick.Stop()
	began := time.Now()
	defer e.tellWait("", 0)
	for {
		if hooks, err = e.record.Hooks(ctx, id, event); err != nil || !isOwing(hooks) {
			return hooks, err
		}
		e.tellWait(pendingAction(hooks), time.Since(began))
		select {
		case <-interrupted:
			return hooks, nil // they go on without us
		case <-patience.C:
			return hooks, nil
		case <-tick.C:
		}
	}
}

// OnWait has what a request waits for told: the action of the hook, and for how long the request has waited.
// An empty action is the end of it.
func (e *outcomes) OnWait(tell func(action string, waited time.Duration)) { e.waiting = tell }

func (e *outcomes) tellWait(action string, waited time.Duration) {
	if e.waiting != nil {
		e.waiting(action, waited)
	}
}

// pendingAction is the action of the hook that is performed now or next.
func pendingAction(hooks []task.OwedHook) string {
	for _, h := range hooks {
		if h.State == task.HookPending {
			return h.Action
		}
	}
	return ""
}

// isOwing reports whether the hooks of an event have one that was not tried yet, or that a try may still settle.
func isOwing(hooks []task.OwedHook) bool {
	var failed []task.OwedHook
	for _, h := range hooks {
		switch {
		case h.State == task.HookFailed:
			failed = append(failed, h)
		case h.State == task.HookPending && !decide.Waits(failed, h):
			return true
		}
	}
	return false
}

// finishPending lets hooks of earlier moves finish before a decision that is no move of a request.
func (e *outcomes) finishPending(ctx context.Context, id string, actor task.Actor) error {
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return err
	}
	if event, pending := firstPending(s.Owed); pending {
		_, err = e.awaitHooks(ctx, ctx.Done(), id, event, actor)
	}
	return err
}

// firstPending is the event whose hook is the first of the owed ones that was not tried yet.
func firstPending(owed []task.OwedHook) (event int, found bool) {
	for _, h := range owed {
		if h.State == task.HookPending {
			return h.Event, true
		}
	}
	return 0, false
}

// leftBehind tells what stayed behind when the hooks of an event gave the workspace back: none of it is on the branch.
func (e *outcomes) leftBehind(ctx context.Context, id string, event int, hooks []task.OwedHook) ([]string, error) {
	released := func(h task.OwedHook) bool { return h.Action == action.ReleaseWorkspace }
	if !slices.ContainsFunc(hooks, released) {
		return nil, nil
	}
	return e.leftBehindSince(ctx, id, event)
}

// leftBehindSince tells what stayed behind of a task's work after an event.
func (e *outcomes) leftBehindSince(ctx context.Context, id string, event int) (out []string, err error) {
	events, err := e.record.Events(ctx, id, event)
	if err != nil {
		return nil, fmt.Errorf("look what stayed behind: %w", err)
	}
	for _, one := range events {
		switch ref := one.Data["ref"]; {
		case one.Type != history.WorkRescued:
		case one.Data["aside"] != "":
			out = append(out, one.Data["aside"]+", set aside: orange workspace restore "+id+" PATH")
		case one.Data["files"] != "":
			out = append(out, one.Data["files"]+", kept as "+ref)
		case ref != "":
			out = append(out, "commits, kept as "+ref)
		}
	}
	return out, nil
}

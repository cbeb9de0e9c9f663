package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// CrashesPass reports whether a task's crashes are forgotten as soon as it has no pending hook that holds it up.
// After a move they are, unless too many crashes caused the move or an agent has crashed since. Passing is the answer
// before these events. It is the move that counts, and not whose hook is performed last: a respawn may have dropped
// the hooks of the move.
func CrashesPass(passing bool, events []history.Event) bool {
	for i := range events {
		switch e := &events[i]; {
		case e.IsMove():
			passing = e.Data[history.DataCrash] == ""
		case e.Type == history.AgentCrashed:
			passing = false
		}
	}
	return passing
}

// withoutCrashes are the counters with no crash counted.
func withoutCrashes(c task.Counters) task.Counters {
	if c.Get(task.CrashCount) == 0 {
		return c
	}
	return c.With(task.CrashCount, 0)
}

// HoldsUp reports whether the work on a task waits for a hook. It does not wait for a hook that the decision itself
// performs, nor for one that is independent of the work. It waits for a hook that this program does not know.
func HoldsUp(h task.Hook) bool {
	class, known := action.ClassOf(h.Action)
	return !known || class != action.ClassRecord && class != action.ClassApart
}

// HookEnded is what follows from one attempt at a hook: the hook is settled or tried again later, and the task gets
// the effect of the attempt. If a later step has dropped the hook meanwhile, it is settled already: then owed is
// false, and its effect is recorded all the same. A failed attempt has no effect but to end agents and to give back a
// workspace that could not be made ready; it finds its other effects when it runs again. failure is nil if there is
// none.
func HookEnded(s record.Snapshot, hook task.OwedHook, effect record.Effect, failure error, now time.Time) (
	c record.Change, owed bool) {
	if failure != nil {
		gave := effect.Lease == record.LeaseFree
		effect = record.Effect{EndSeats: effect.EndSeats, Lease: effect.Lease, Events: effect.Events}
		if !gave {
			effect.Lease, effect.Events = record.LeaseKeep, nil
		}
	}
	c = record.Change{Task: s.Task, Expect: s.Task.Version, Events: slices.Clone(effect.Events), Lease: effect.Lease,
		EndSeats: effect.EndSeats, NewNotice: effect.NewNotice}
	c.Task.UpdatedAt = now
	others := without(s.Owed, hook.ID)
	switch owed = len(others) < len(s.Owed); {
	case owed && failure != nil:
		failHook(&c, hook, failure.Error(), now)
	case owed:
		c.Settled = []record.Settled{{ID: hook.ID, State: task.HookDone}}
		failed := slices.ContainsFunc(others, func(h task.OwedHook) bool { return h.State == task.HookFailed })
		if !failed && strings.HasPrefix(c.Task.Attention, record.HookMark) {
			c.Task.Attention = ""
		}
	}
	if effect.Session != nil {
		c.Task.Session = *effect.Session
	}
	if effect.Pushed != nil {
		c.Task.Pushed = *effect.Pushed
	}
	if effect.PR != nil {
		c.Task.PRURL, c.Task.PRState = effect.PR.URL, effect.PR.State
	}
	for i := range c.Events {
		c.Events[i].Time, c.Events[i].Actor = now, task.ActorEngine
	}
	return c, owed
}

// failHook has a hook tried again later and marks its task. Consecutive failures with the same text get one event.
func failHook(c *record.Change, hook task.OwedHook, failure string, now time.Time) {
	c.Settled = []record.Settled{{ID: hook.ID, State: task.HookFailed, Error: failure,
		NextTry: now.Add(backOff(hook.Attempts + 1))}}
	c.Task.Attention = record.HookMark + hook.Action + ": " + failure
	if failure != hook.Error {
		c.Events = append(c.Events, history.Event{Type: history.HookFailure, Reason: failure,
			Data: map[string]string{"hook": hook.Action}})
	}
}

// without lists the pending hooks except one.
func without(owed []task.OwedHook, id int64) []task.OwedHook {
	return slices.DeleteFunc(slices.Clone(owed), func(h task.OwedHook) bool { return h.ID == id })
}

// MayForgetCrashes reports whether ForgetCrashes can follow when a task has performed a hook: then it needs the
// task's history. Others are the hooks that are still pending.
func MayForgetCrashes(s record.Snapshot, hook int64) (others []task.OwedHook, may bool) {
	others = without(s.Owed, hook)
	return others, mayForget(s.Task, others)
}

func mayForget(t task.Task, owed []task.OwedHook) bool {
	return t.Counters.Get(task.CrashCount) != 0 &&
		!slices.ContainsFunc(owed, func(h task.OwedHook) bool { return HoldsUp(h.Hook) })
}

// Explains reports whether one of the pending hooks may be the cause of an agent's end, or is about to start the next
// agent. If so, Orange judges the end after the hook is settled. A hook that holds up nothing can be the cause only
// while an attempt at it is under way: where the worktree is gone, the attempt ends those who sat in it.
func Explains(owed []task.OwedHook) bool {
	return slices.ContainsFunc(owed, func(h task.OwedHook) bool {
		row, known := action.Of(h.Action)
		return !known || row.Class == action.ClassStart || row.Class == action.ClassEnd ||
			row.WorksThere() && !h.Began.IsZero()
	})
}

// Stalled marks a task whose agent lives and has done nothing since a time; a zero time removes the mark. The mark is
// for people: it moves nothing. Due is false if the task already has that mark.
func Stalled(t task.Task, since, now time.Time) (c record.Change, due bool) {
	if since.IsZero() == t.StalledAt.IsZero() {
		return c, false
	}
	c = record.Change{Task: t, Expect: t.Version}
	c.Task.StalledAt = since
	if !since.IsZero() {
		c.Events = []history.Event{{
			Time: now, Type: history.AgentStalled, Actor: task.ActorEngine,
			Reason: "its agent lives, and neither its window nor TASK.md nor its branch has changed since " +
				task.FormatTime(since),
			Data: map[string]string{"status": string(t.Status), "since": task.FormatTime(since)},
		}}
	}
	return c, true
}

// AgentOf is the harness of an agent if it is not the task's own, and the agent's permissions. The harness of the
// hook overrides the role's; the permissions of the role override the hook's.
func AgentOf(def *workflow.Definition, role string, hook task.Hook) (harness, permissions string) {
	permissions = hook.Permissions
	for _, r := range def.Roles {
		if r.Name != role {
			continue
		}
		harness = r.Harness
		permissions = cmp.Or(r.Permissions, permissions)
	}
	if hook.Harness != "" && hook.Harness != task.HarnessTask && hook.Harness != task.HarnessReview {
		harness = hook.Harness
	}
	return harness, permissions
}

// ForgetCrashes is the change of the crash count when a hook of a task has been performed and these are still
// pending; due is false if nothing changes. Events are the task's whole history.
func ForgetCrashes(t task.Task, owed []task.OwedHook, events []history.Event,
	now time.Time) (c record.Change, due bool) {
	if !mayForget(t, owed) || !CrashesPass(false, events) {
		return c, false
	}
	c = record.Change{Task: t, Expect: t.Version}
	c.Task.Counters = withoutCrashes(t.Counters)
	c.Events = []history.Event{{
		Time: now, Type: history.CrashesForgotten, Actor: task.ActorEngine, Counters: c.Task.Counters,
		Reason: "the hooks of its last move are done",
	}}
	return c, true
}

// Retry judges a request to try failed hooks again, or to drop those that nothing waits for. If a person asks, the
// counters that people reset start again.
func Retry(def *workflow.Definition, s record.Snapshot, drop bool, actor task.Actor, now time.Time) (record.Change,
	error) {
	t := s.Task
	some, kept := failedHooks(s.Owed, drop)
	if drop {
		if err := mayDrop(def, t, some, kept, actor); err != nil {
			return record.Change{}, err
		}
	}
	var names []string
	for _, h := range some {
		names = append(names, h.Action)
	}
	c := record.Change{Task: t, Expect: t.Version}
	c.Task.Counters = resetBy(def, t.Counters, actor)
	if !t.Queued() { // this time orders the tasks that wait for a workspace
		c.Task.UpdatedAt = now
	}
	event := history.Event{Time: now, Type: history.HooksRetried, Counters: c.Task.Counters, Workflow: def.Digest,
		Data: map[string]string{"hook": strings.Join(names, ", ")}}
	if drop {
		event.Data["dropped"] = "true"
		dropHooks(&c, some, s.Owed)
	}
	c.Events = []history.Event{history.Sign(actor, event)}
	return c, nil
}

// failedHooks are the hooks that failed; with drop only those that nothing waits for. Kept are the actions of the
// others.
func failedHooks(owed []task.OwedHook, drop bool) (some []task.OwedHook, kept []string) {
	for _, h := range owed {
		class, known := action.ClassOf(h.Action)
		switch {
		case h.State != task.HookFailed:
		case !drop || known && class == action.ClassApart:
			some = append(some, h)
		default:
			kept = append(kept, h.Action)
		}
	}
	return some, kept
}

// mayDrop says why failed hooks cannot be dropped; nil if they can.
func mayDrop(def *workflow.Definition, t task.Task, some []task.OwedHook, kept []string, actor task.Actor) error {
	refuse := func(condition, found, want string) error {
		return &rejection.Rejection{
			Code: rejection.DropRefused, Task: t.ID, From: t.Status, To: t.Status, MayAsk: MayAsk(def, t, actor),
			Message: fmt.Sprintf("cannot drop what failed of task %s", t.ID),
			Details: []rejection.Detail{{Condition: condition, Found: found, Want: want}},
		}
	}
	switch {
	case actor.Role != task.RoleHuman:
		return refuse("who may ask", fmt.Sprintf("the role %q", actor.Role),
			"have a person ask: the workflow wanted it, and they answer for its being left out")
	case len(some) == 0 && len(kept) > 0:
		return refuse("a hook that nothing waits for", strings.Join(kept, ", "),
			"correct what failed and run orange task retry "+t.ID+", or cancel the task")
	case len(some) == 0:
		return refuse("a hook that failed", "none", "nothing: no hook of the task has failed")
	}
	return nil
}

// dropHooks adds to a change what becomes of dropped hooks and of the mark that they left.
func dropHooks(c *record.Change, some, owed []task.OwedHook) {
	for _, h := range some {
		c.Settled = append(c.Settled, record.Settled{ID: h.ID, State: task.HookSuperseded,
			Error: "dropped by a person; it had failed: " + h.Error})
		owed = without(owed, h.ID)
	}
	if !strings.HasPrefix(c.Task.Attention, record.HookMark) {
		return
	}
	c.Task.Attention = ""
	for _, h := range owed {
		if h.State == task.HookFailed {
			c.Task.Attention = record.HookMark + h.Action + ": " + h.Error
		}
	}
}

// Free ends the session of a task that is over and releases its workspace, if the task's last move has not done so.
// Due is false if the task lives, or a hook that may still do it is pending.
func Free(t task.Task, owed []task.OwedHook, now time.Time) (c record.Change, due bool) {
	if t.Live || len(owed) > 0 {
		return c, false
	}
	hooks := []task.Hook{{Action: action.KillSession}}
	if t.Workspace != "" {
		hooks = append(hooks, task.Hook{Action: action.ReleaseWorkspace})
	}
	return record.Change{Task: t, Expect: t.Version, Hooks: hooks, Events: []history.Event{{
		Time: now, Type: history.OrphanFreed, Actor: task.ActorEngine, Hooks: actions(hooks),
		Reason: fmt.Sprintf("the task is over (%s), and still held something", t.Status),
		Data:   map[string]string{"session": t.Session, "workspace": t.Workspace},
	}}}, true
}

package decide

import (
	"fmt"
	"slices"
	"time"

	"orange/internal/action"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// CrashesPass says whether a task's crashes are forgotten as soon as it owes no hook that holds it up: after a
// move they are, unless too many crashes made it or somebody has crashed since. passing is what was true before
// these events. It is the move that counts, and not whose hook is performed last: a respawn may have dropped
// those of the move.
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

// WithoutCrashes are counters that count none.
func WithoutCrashes(c task.Counters) task.Counters {
	if c.Get(task.CrashCount) == 0 {
		return c
	}
	return c.With(task.CrashCount, 0)
}

// HoldsUp reports whether the work on a task waits for a hook: not for one that the decision itself performs,
// nor for one that stands apart. It waits for one that this program does not know.
func HoldsUp(h task.Hook) bool {
	class, known := action.ClassOf(h.Action)
	return !known || class != action.ClassRecord && class != action.ClassApart
}

// ForgetCrashes is what follows for the count of crashes when a hook of a task has been performed, and these are
// still owed; due is false where nothing follows. Events are the task's whole history.
func ForgetCrashes(t task.Task, owed []task.OwedHook, events []history.Event,
	now time.Time) (c record.Change, due bool) {
	if slices.ContainsFunc(owed, func(h task.OwedHook) bool { return HoldsUp(h.Hook) }) ||
		t.Counters.Get(task.CrashCount) == 0 || !CrashesPass(false, events) {
		return c, false
	}
	c = record.Change{Task: t, Expect: t.Version}
	c.Task.Counters = WithoutCrashes(t.Counters)
	c.Events = []history.Event{{
		Time: now, Type: history.CrashesForgotten, Actor: task.ActorEngine, Counters: c.Task.Counters,
		Reason: "the hooks of its last move are done",
	}}
	return c, true
}

// Retry is somebody's wish that hooks that have failed be tried again, which a task owes. A person's wish sets
// back what people set back.
func Retry(def *workflow.Definition, t task.Task, failed string, actor task.Actor, now time.Time) record.Change {
	c := record.Change{Task: t, Expect: t.Version}
	c.Task.Counters = resetBy(def, t.Counters, actor)
	if !t.Queued() { // those who wait for a workspace wait in the order of this time
		c.Task.UpdatedAt = now
	}
	c.Events = []history.Event{history.Sign(actor, history.Event{
		Time: now, Type: history.HooksRetried, Counters: c.Task.Counters, Workflow: def.Digest,
		Data: map[string]string{"hook": failed},
	})}
	return c
}

// Free is the end of the session of a task that is over, and of its hold on a workspace, where its last move has
// not seen to that; due is false where the task lives, or owes a hook that may still do it.
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

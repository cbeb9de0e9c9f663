package decide

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// byForce is a move that only a rule of the workflow makes: guards and gates of a transition between the same states do
// not apply. Its event, the only one of the change, tells what the task was moved past: no good end is open to it until
// it has passed that, or a person sets it aside.
func byForce(def *workflow.Definition, t task.Task, to task.Status, ev Evidence, data map[string]string,
	now time.Time) record.Change {
	hooks := escalationHooks(def, t, to)
	c := record.Change{Expect: t.Version, Hooks: hooks, Entered: true, Entry: Digests(def, to, ev)}
	if skipped := guarantee.Skipped(def, t.Status, to); len(skipped) > 0 {
		data[guarantee.DataSkipped] = strings.Join(skipped, "\n")
	}
	from := t.Status
	t = enter(def, t, to, hooks, now)
	t.Subject = subjectAtEntry(def, to, task.Actor{Rule: true}, ev)
	c.Task, c.Lease = t, lease(t, hooks)
	c.Events = []history.Event{{
		Time: now, Type: history.AutoAdvanced, Actor: task.ActorEngine, From: from, To: to, Counters: t.Counters,
		Workflow: def.Digest, Hooks: actions(hooks), Subject: t.Subject, Data: data,
	}}
	return c
}

// mayForce reports whether a timeout moves a task by force: to where a person decides, and past nothing that has to be
// passed on the way.
func mayForce(def *workflow.Definition, t task.Task, to task.Status) bool {
	state, exists := def.State(to)
	person := state.Escalation || state.Role == "" || state.Role == task.RoleHuman
	return exists && person && !state.Terminal && len(guarantee.Skipped(def, t.Status, to)) == 0
}

// endsWell reports whether a file says that a task ends well in a state: with success: true, or because a merge leads
// there.
func endsWell(def *workflow.Definition, to task.Status) bool {
	state, _ := def.State(to)
	merge, said := def.Move(workflow.MoveMerge)
	return Marks(def, to).Good && (state.Success || said && merge == to)
}

// goodByForce says why too many crashes do not end a task well.
func goodByForce(to task.Status) string {
	return fmt.Sprintf("its rule leads to %q, and no task comes to a good end by force", to)
}

// escalationHooks are the hooks of the declared edge if it starts an agent or ends the task. Otherwise they end a
// reviewer and notify the worker. A worker that has died starts with the prompt of the new status.
func escalationHooks(def *workflow.Definition, t task.Task, to task.Status) []task.Hook {
	state, _ := def.State(to)
	for _, edge := range edges(def, t, to) {
		if edge.Spawns() || state.Terminal {
			return hooksOf(edge.Hooks)
		}
	}
	if state.Terminal {
		return []task.Hook{{Action: action.KillSession}, {Action: action.ReleaseWorkspace}}
	}
	return []task.Hook{{Action: action.KillReviewer}, {Action: action.NotifyWorker}}
}

// givesUp reports whether a person asks to have a live task cancelled. That is never refused because the workflow has
// no transition for it.
func givesUp(def *workflow.Definition, t task.Task, req task.Request) bool {
	to, said := def.Move(workflow.MoveCancel)
	over, exists := def.State(to)
	state, known := def.State(t.Status)
	return said && exists && over.Terminal && !Marks(def, to).Good && req.To == to && known && !state.Terminal &&
		req.Actor.Role == task.RoleHuman && !req.Actor.Rule
}

// cancellation is the transition of a task that is given up where the workflow has none: its agents end, and it gives
// its workspace back.
func cancellation(from, to task.Status) *workflow.Transition {
	return &workflow.Transition{From: from, To: to, By: []string{task.RoleHuman}, Hooks: []workflow.Hook{
		{Hook: task.Hook{Action: action.KillSession}}, {Hook: task.Hook{Action: action.ReleaseWorkspace}}}}
}

package decide

import (
	"fmt"
	"slices"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Note is the change of an event that changes no more of a task than the task's given fields. The event records who
// asked. If it names a person, it resets the counters that people reset, like everything that a person does to a
// task; one that begins something resets none.
func Note(def *workflow.Definition, before, after task.Task, actor task.Actor, event history.Event) record.Change {
	if slices.Contains(begins(), event.Type) {
		event = history.Sign(actor, event)
	} else {
		after, event = signReset(def, after, actor, event)
	}
	if event.Type == history.PersonSaid && isPerson(actor) && before.RefusedOften() { // an answer to them
		after.Attention = ""
	}
	return record.Change{Task: after, Expect: before.Version, Events: []history.Event{event}}
}

// begins are the types of events that name a person and are no act of theirs yet: what they begin may fail. A merge
// that fails may send the task back, which is counted.
func begins() []string { return []string{history.MergeBegun} }

// signReset is a task and an event with the actor who asked and, if that is a person, with the counters that people
// reset.
func signReset(def *workflow.Definition, t task.Task, actor task.Actor,
	event history.Event) (task.Task, history.Event) {
	if counters := resetBy(def, t.Counters, actor); !counters.Equal(t.Counters) {
		t.Counters, event.Counters, event.Workflow = counters, counters, def.Digest
	}
	return t, history.Sign(actor, event)
}

// isPerson reports whether a person asks themself: no agent, no rule, and no program in their place.
func isPerson(actor task.Actor) bool {
	return actor.Role == task.RoleHuman && !actor.Rule && actor.Via == ""
}

// resetBy returns the counters after an actor's request: a person resets some of them, any other actor none. A program
// that asks for a person may do so as often as it likes, and bounds of agents' moves are there for that.
func resetBy(def *workflow.Definition, c task.Counters, actor task.Actor) task.Counters {
	if !isPerson(actor) {
		return c
	}
	for _, name := range def.ResetByPerson() {
		if c.Get(name) != 0 {
			c = c.With(name, 0)
		}
	}
	return c
}

// MaySee refuses to take the mark of a task away because someone has looked after it: a person does that, once the task
// is over. The mark of a live one goes with its next move, but for one that tells of refusals: they count from then on.
func MaySee(t task.Task, actor task.Actor) error {
	no := &rejection.Rejection{Code: rejection.ActorDenied, Task: t.ID,
		Message: fmt.Sprintf("cannot take the mark of task %s away", t.ID)}
	switch {
	case !isPerson(actor):
		no.Details = []rejection.Detail{{Condition: "who has looked", Found: asker(actor), Want: "ask a person to"}}
	case t.Live && !t.RefusedOften():
		no.Details = []rejection.Detail{{Condition: "a task that is over",
			Found: fmt.Sprintf("one that is %q", t.Status),
			Want:  "do what the mark says; the next move takes it away"}}
	default:
		return nil
	}
	return no
}

package decide

import (
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Note is an event that changes nothing of a task but what is in it, put on record for whoever asked. One that
// names a person sets back the counters that people set back, as all that a person does to a task.
func Note(def *workflow.Definition, before, after task.Task, actor task.Actor, event history.Event) record.Change {
	after, event = signed(def, after, actor, event)
	return record.Change{Task: after, Expect: before.Version, Events: []history.Event{event}}
}

// signed is a task and an event with whoever asked, and with the counters that are set back where that is a person.
func signed(def *workflow.Definition, t task.Task, actor task.Actor, event history.Event) (task.Task, history.Event) {
	if counters := resetBy(def, t.Counters, actor); !counters.Equal(t.Counters) {
		t.Counters, event.Counters, event.Workflow = counters, counters, def.Digest
	}
	return t, history.Sign(actor, event)
}

// resetBy are the counters as a person's act leaves those that it sets back; whoever else acts leaves them as they are.
func resetBy(def *workflow.Definition, c task.Counters, actor task.Actor) task.Counters {
	if actor.Role != task.RoleHuman || actor.Rule {
		return c
	}
	for _, name := range def.ResetByPerson() {
		if c.Get(name) != 0 {
			c = c.With(name, 0)
		}
	}
	return c
}

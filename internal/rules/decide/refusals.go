package decide

import (
	"cmp"
	"strconv"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// How many refusals in one stay need a person where the workflow does not say.
const (
	mostRefusals     = 20
	mostSameRefusals = 5 // in a row, for the same reason
)

// dataRefusals is the key in the data of a history.AgentRefused that says how often the agents were refused.
const dataRefusals = "refusals"

// RefusedOften is the change of a task whose agent has been refused too often: a person is asked to look, and the
// workflow may want a move, see Escalation. Due is false where that is not so, or a person was asked, and since then
// the refusals have not doubled.
func RefusedOften(def *workflow.Definition, t task.Task, r record.Refusals, now time.Time) (c record.Change, due bool) {
	c = record.Change{Task: t, Expect: t.Version}
	state, _ := def.State(t.Status)
	most := cmp.Or(state.Refused.Most, mostRefusals)
	same := state.Refused.Most == 0 && r.Same >= mostSameRefusals
	switch {
	case !t.Live || !r.Of(t):
		return c, false
	case r.Told > 0 && r.Count < 2*r.Told, r.Told == 0 && r.Count < most && !same:
		return c, false
	}
	c.Events = []history.Event{{Time: now, Type: history.AgentRefused, Actor: task.ActorEngine, Workflow: def.Digest,
		Reason: "refused " + r.String(), Data: map[string]string{history.DataStatus: string(t.Status),
			dataRefusals: strconv.Itoa(r.Count)}}}
	c.Task.UpdatedAt = now
	if t.Attention == "" || t.RefusedOften() { // what needs a person already goes before it
		c.Task.MarkRefused(r.String())
	}
	return c, true
}

package decide

import (
	"fmt"
	"slices"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Turn finds out whose act is next, for an agent that is about to end its turn. It moves nothing. The ways are those
// moves that a role may ask for, if one of them is next; else there are none, and awaits says whose act is next.
// need is why a person should look after the task.
func (e Explanation) Turn(def *workflow.Definition, need record.Need, role string) (own Explanation, awaits string) {
	own = e.For(role)
	own.Ways = slices.DeleteFunc(own.Ways, func(w Option) bool { // no evidence changes a counter
		return slices.ContainsFunc(w.Guards, func(g Counted) bool { return !g.Holds })
	})
	if awaits = before(def, e.Task, need, role); awaits == "" && len(own.Ways) == 0 {
		awaits = fmt.Sprintf("no move out of %q is the %s's to ask for", e.Task.Status, role)
	}
	if awaits != "" {
		own.Ways = nil
	}
	return own, awaits
}

// before says who or what comes before the role; empty if it is the role's own turn. That its agent rests at its prompt
// is no reason to let it.
func before(def *workflow.Definition, t task.Task, need record.Need, role string) string {
	state, _ := def.State(t.Status)
	switch {
	case !t.Live:
		return fmt.Sprintf("the task is %q, which is final", t.Status)
	case t.Queued():
		return "the task waits for a workspace"
	case t.WaitsForTasks():
		return "the task waits for other tasks"
	case t.Attention != "":
		return "a person has to look after the task: " + t.Attention
	case state.Role == "" || state.Role == task.RoleHuman || state.Role == role && def.WaitsForPerson(t.Status):
		return fmt.Sprintf("a person's act is next: the task is in %q", t.Status)
	case state.Role != role:
		return fmt.Sprintf("the %s's act is next: the task is in %q", state.Role, t.Status)
	case !slices.Contains([]string{"", record.NeedsWord}, need.Kind):
		return "a person has to look after the task: " + need.Found
	}
	return ""
}

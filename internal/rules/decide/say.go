package decide

import (
	"cmp"
	"fmt"
	"slices"

	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Say judges whether someone may say something to the agent of a role; without a role, to that of the status, or to
// the worker if the status has none or waits for a person itself. It returns the role. Only people may: what one
// agent has for another belongs into the task's document, where gates and people read it too.
func Say(def *workflow.Definition, t task.Task, role string, actor task.Actor) (string, error) {
	if state, _ := def.State(t.Status); state.Role != task.RoleHuman {
		role = cmp.Or(role, state.Role)
	}
	role = cmp.Or(role, task.RoleWorker)
	switch {
	case actor.Role != task.RoleHuman || actor.Rule:
		return role, rejection.Denied(t.ID,
			fmt.Sprintf("the role %q, which wants to type into an agent's window", actor.Role),
			"write it into the task's document; only people say something to agents")
	case !may(actor, workflow.MayVerdict) && judges(def, role): // who tells a judge what to write gives the verdict
		return role, &rejection.Rejection{Code: rejection.ActorDenied, Task: t.ID,
			Message: fmt.Sprintf("cannot say it to the %s of task %s, who judges", role, t.ID),
			Details: []rejection.Detail{notAllowed(actor, workflow.MayVerdict)}}
	case !t.Live:
		return role, &rejection.Rejection{
			Code: rejection.SayRefused, Task: t.ID,
			Message: fmt.Sprintf("cannot say it to the %s of task %s", role, t.ID),
			Details: []rejection.Detail{{Condition: "a live task", Found: fmt.Sprintf("one that is %q", t.Status),
				Want: "say it to the agent of a live one"}},
		}
	}
	return role, nil
}

// judges reports whether agents of a role give verdicts.
func judges(def *workflow.Definition, role string) bool {
	return slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool {
		from, _ := def.State(edge.From)
		return from.Role == role && len(workflow.Verdicts(edge.Gate)) > 0
	})
}

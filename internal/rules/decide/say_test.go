package decide_test

import (
	"errors"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestSay_isForPeopleAndReachesTheAgentOfTheStatus(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	attended := &workflow.Definition{States: []workflow.State{{Name: "help", Role: task.RoleHuman}}}
	person := task.Actor{Role: task.RoleHuman}
	for name, c := range map[string]struct {
		def    *workflow.Definition
		status task.Status
		role   string
		actor  task.Actor
		over   bool
		hears  string
		code   string
	}{
		"the agent of the status":   {def: def, status: "agent-review", actor: person, hears: "reviewer"},
		"a worker that asks":        {def: def, status: "clarification", actor: person, hears: "worker"},
		"a status without an agent": {def: def, status: "reviewing", actor: person, hears: "worker"},
		"a status of people":        {def: attended, status: "help", actor: person, hears: "worker"},
		"a role that is named":      {def: def, status: "agent-review", role: "worker", actor: person, hears: "worker"},
		"an agent that says it to itself": {def: def, status: "working", actor: task.Actor{Role: "worker"},
			hears: "worker", code: rejection.ActorDenied},
		"an agent to another": {def: def, status: "working", actor: task.Actor{Role: "reviewer"},
			hears: "worker", code: rejection.ActorDenied},
		"a rule": {def: def, status: "working", actor: task.Actor{Role: task.RoleHuman, Rule: true},
			hears: "worker", code: rejection.ActorDenied},
		"a program to a judge": {def: def, status: "agent-review", actor: program(workflow.MayDone),
			hears: "reviewer", code: rejection.ActorDenied},
		"a program that may give verdicts": {def: def, status: "agent-review", actor: program(workflow.MayVerdict),
			hears: "reviewer"},
		"a program to a worker": {def: def, status: "working", actor: program(), hears: "worker"},
		"a task that is over": {def: def, status: "done", actor: person, over: true,
			hears: "worker", code: rejection.SayRefused},
	} {
		hears, err := decide.Say(c.def, task.Task{ID: "t", Status: c.status, Live: !c.over}, c.role, c.actor)
		no, refused := errors.AsType[*rejection.Rejection](err)
		if hears != c.hears || refused != (c.code != "") || refused && no.Code != c.code || !refused && err != nil {
			t.Errorf("%s: %q hears it, %v", name, hears, err)
		}
	}
}

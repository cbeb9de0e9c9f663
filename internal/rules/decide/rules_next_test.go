package decide_test

import (
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestNext_takesAnUnconditionalMoveOnlyWhereItLeadsOn(t *testing.T) {
	t.Parallel()
	worker := task.Actor{Role: task.RoleWorker}
	for _, c := range []struct {
		name       string
		edges      []workflow.Transition
		escalation bool
		want       task.Status
	}{
		{"it goes on", []workflow.Transition{{From: "busy", To: "help"}}, false, "help"},
		{"it takes the task out of its way", []workflow.Transition{{From: "busy", To: "help"}}, true, ""},
		{"it gives the task up", []workflow.Transition{{From: "busy", To: "lost"}}, false, ""},
		{"somebody else's move asks for evidence", []workflow.Transition{
			{From: "busy", To: "todo", By: []string{task.RoleHuman}, Gate: []workflow.Part{note("")}},
			{From: "busy", To: "help"},
		}, false, "help"},
		{"another move asks for evidence", []workflow.Transition{
			{From: "busy", To: "todo", Gate: []workflow.Part{note("")}}, {From: "busy", To: "help"}}, false, ""},
	} {
		def := tiny(c.edges)
		def.States[2].Escalation = c.escalation
		def.Moves = []workflow.Move{{Command: workflow.MoveCancel, To: "lost"}}
		to, _, err := decide.Next(def, newTask("busy"), evidence(""), worker, "", noon)
		if to != c.want || c.want == "" && refusal(t, err).Code != rejection.NoNext {
			t.Errorf("%s: %q, %v", c.name, to, err)
		}
	}
}

func TestOverridable_isTheOnlyMoveThatAllowsIt(t *testing.T) {
	t.Parallel()
	edge := func(to task.Status, override bool) workflow.Transition {
		return workflow.Transition{From: "busy", To: to, Override: override}
	}
	one := newTask("busy")
	if to, err := decide.Overridable(tiny([]workflow.Transition{edge("help", true), edge("lost", false)}), one,
		human()); err != nil || to != "help" {
		t.Errorf("of one: %q, %v", to, err)
	}
	for name, second := range map[string]bool{"of none": false, "of several": true} {
		_, err := decide.Overridable(tiny([]workflow.Transition{edge("help", second), edge("lost", second)}), one,
			human())
		if no := refusal(t, err); no.Code != rejection.OverrideDenied || (len(no.Details) == 2) != second {
			t.Errorf("%s: %+v", name, no)
		}
	}
}

func TestRedo_forgetsTheFailuresOfItsState(t *testing.T) {
	t.Parallel()
	def := tiny(nil)
	def.Redo = []workflow.Named{{Name: "busy"}}
	one := newTask("help")
	one.Counters = one.Counters.With(task.Failures("busy"), 2).With(task.Failures("todo"), 1)
	been := []history.Event{{Type: history.StatusChanged, From: "todo", To: "busy"}}
	c, err := decide.Redo(def, one, "busy", decide.Evidence{}, been, human(), "anew", noon)
	if err != nil || c.Task.Counters.Failures("busy") != 0 || c.Task.Counters.Failures("todo") != 1 {
		t.Errorf("%v: %v", err, c.Task.Counters)
	}
}

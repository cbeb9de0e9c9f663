package decide_test

import (
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestMarks_sayWhatAStatusMeans(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{
		States: []workflow.State{
			{Name: "dig", Role: "worker"}, {Name: "cto", Role: "cto", Escalation: true},
			{Name: "alone", Escalation: true},
			{Name: "person", Role: "human", Escalation: true}, {Name: "done", Terminal: true},
			{Name: "left", Terminal: true}, {Name: "closed", Terminal: true},
		},
		Moves: []workflow.Move{{Command: workflow.MoveCancel, To: "left"},
			{Command: workflow.MovePRClosed, To: "closed"}, {Command: workflow.MoveMerge, To: "done"}},
	}
	for status, want := range map[task.Status]stats.Marks{
		"dig": {}, "nowhere": {}, "cto": {Escalation: true}, "alone": {Escalation: true, Human: true,
			Asks: true}, "person": {Escalation: true, Human: true, Asks: true},
		"done": {Terminal: true, Well: true, Good: true}, "left": {Terminal: true}, "closed": {Terminal: true},
	} {
		if got := decide.Marks(def, status); got != want {
			t.Errorf("%s: %+v, want %+v", status, got, want)
		}
	}
	// Where a state says that it is a good end, it alone is one, whatever leads there.
	def.States[5].Success = true
	for status, good := range map[task.Status]bool{"done": false, "left": true, "closed": false} {
		if got := decide.Marks(def, status); got.Good != good || got.Well != (status == "done") {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// The look before a merge is the usual one; questions and stuck are needs.
func TestMarks_asksWhereATaskWaitsForMoreThanItsMerge(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, state := range def.States {
		want := state.Name == "clarification" || state.Name == "stuck"
		if got := decide.Marks(def, state.Name).Asks; got != want {
			t.Errorf("%s: %t", state.Name, got)
		}
	}
}

package decide_test

import (
	"testing"

	"orange/internal/decide"
	"orange/internal/stats"
	"orange/internal/task"
	"orange/internal/workflow"
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
		"dig": {}, "nowhere": {}, "cto": {Escalation: true}, "alone": {Escalation: true, Human: true}, "person": {
			Escalation: true, Human: true},
		"done": {Terminal: true, Well: true}, "left": {Terminal: true}, "closed": {Terminal: true},
	} {
		if got := decide.Marks(def, status); got != want {
			t.Errorf("%s: %+v, want %+v", status, got, want)
		}
	}
}

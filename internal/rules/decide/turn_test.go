package decide_test

import (
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestTurn_isTheAgentsOnlyWhereTheNextActIsItsOwn(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	tests := []struct {
		name   string
		change func(*task.Task)
		need   string
		role   string
		ways   string
		awaits string
	}{
		{"at work", func(*task.Task) {}, "", "worker", "agent-review clarification stuck", ""},
		{"at rest", func(*task.Task) {}, record.NeedsWord, "worker", "agent-review clarification stuck", ""},
		{"asked too often", func(one *task.Task) { one.Counters = one.Counters.With("questions", 5) }, "", "worker",
			"agent-review stuck", ""},
		{"at a limit", func(*task.Task) {}, record.NeedsLimit, "worker", "",
			"a person has to look after the task: seen"},
		{"at a dialog", func(*task.Task) {}, record.NeedsAnswer, "worker", "",
			"a person has to look after the task: seen"},
		{"reviewed", func(one *task.Task) { one.Status = "agent-review" }, "", "worker", "",
			`the reviewer's act is next: the task is in "agent-review"`},
		{"another's status", func(*task.Task) {}, "", "reviewer", "",
			`the worker's act is next: the task is in "working"`},
		{"with questions", func(one *task.Task) { one.Status = "clarification" }, "", "worker", "",
			`a person's act is next: the task is in "clarification"`},
		{"put up", func(one *task.Task) { one.Status = "reviewing" }, "", "worker", "",
			`a person's act is next: the task is in "reviewing"`},
		{"marked", func(one *task.Task) { one.Attention = "no tmux" }, "", "worker", "",
			"a person has to look after the task: no tmux"},
		{"queued", func(one *task.Task) { one.QueuedFor = "planning" }, "", "worker", "",
			"the task waits for a workspace"},
		{"over", func(one *task.Task) { one.Status, one.Live = "done", false }, "", "worker", "",
			`the task is "done", which is final`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			one := task.Task{ID: "x", Status: "working", Live: true}
			test.change(&one)
			e := decide.Explanation{Task: one, Ways: decide.Why(def, one, evidence(""))}
			own, awaits := e.Turn(def, record.Need{Kind: test.need, Found: "seen"}, test.role)
			var ways []string
			for _, w := range own.Ways {
				ways = append(ways, string(w.To))
			}
			if got := strings.Join(ways, " "); got != test.ways || awaits != test.awaits {
				t.Errorf("ways %q, awaits %q, want %q, %q", got, awaits, test.ways, test.awaits)
			}
		})
	}
}

func TestTurn_ofAnAgentWithoutAMoveOfItsOwnIsOver(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "busy", To: "done", By: []string{task.RoleHuman}}})
	one := task.Task{ID: "x", Status: "busy", Live: true}
	state, _ := def.State("busy")
	own, awaits := decide.Explanation{Task: one, Ways: decide.Why(def, one, evidence(""))}.
		Turn(def, record.Need{}, state.Role)
	if len(own.Ways) > 0 || !strings.Contains(awaits, `no move out of "busy" is the`) {
		t.Errorf("role %q: ways %v, awaits %q", state.Role, own.Ways, awaits)
	}
}

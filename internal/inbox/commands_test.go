package inbox_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/inbox"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// At their turn people read commands that work as they are, and not the names of states.
func TestNeedOf_hasTheCommandsThatPeopleUseThere(t *testing.T) {
	t.Parallel()
	def := defaultRules(t)
	for name, c := range map[string]struct {
		status task.Status
		note   string
		agent  string
		seen   string
		want   string
	}{
		"put up":       {status: "reviewing", want: `diff T; merge T; request-changes T "..."`},
		"questions":    {status: "clarification", want: `say T "..."; attach T --role worker; why T`},
		"stuck":        {status: "stuck", want: `say T "..."; attach T --role worker; why T`},
		"a dialog":     {status: "working", seen: record.NeedsAnswer, want: "attach T --role worker"},
		"first screen": {status: "working", seen: record.NeedsStart, want: "attach T --role worker"},
		"at rest":      {status: "working", seen: record.NeedsWord, want: `say T "..."; attach T --role worker`},
		"refused":      {status: "agent-review", seen: record.NeedsModel, want: `say T "..."; attach T --role reviewer`},
		"at a limit":   {status: "working", seen: record.NeedsLimit, want: `attach T --role worker; say T "..."`},
		"ended at one": {status: "working", note: record.LimitMark("worker", "acme", time.Time{}), want: "respawn T"},
		"dead":         {status: "working", agent: record.AgentDead, want: "respawn T; logs T"},
		"a mark":       {status: "working", note: "hook push_branch: no", want: "why T; retry T; respawn T"},
		"at work":      {status: "working", agent: record.AgentAlive},
	} {
		one := task.Task{ID: "T", Status: c.status, Attention: c.note, Live: true}
		need := inbox.NeedOf(def, one, c.agent, inbox.Sight{Kind: c.seen})
		got := strings.ReplaceAll(strings.Join(need.Commands, "; "), "orange task ", "")
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A workflow without a merge has its own moves, the one that cancels last of all.
func TestNeedOf_namesTheMovesOfAStatusThatIsNoMerge(t *testing.T) {
	t.Parallel()
	move := func(to task.Status, by ...string) workflow.Transition {
		return workflow.Transition{From: "asked", To: to, By: by}
	}
	def := &workflow.Definition{Initial: "new",
		States: []workflow.State{{Name: "new"}, {Name: "asked"}, {Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "off"}},
		Moves:  []workflow.Move{{Command: workflow.MoveCancel, To: "off"}},
		Transitions: []workflow.Transition{move("off"), move("b", "worker"), move("a", "human"), move("a"),
			move("asked"), {From: "asked", To: "c", Reason: true}, move("new")}}
	need := inbox.NeedOf(def, task.Task{ID: "T", Status: "asked", Live: true}, "", inbox.Sight{})
	want := "orange task update T --status a; orange task update T --status c --reason TEXT; orange task why T"
	if got := strings.Join(need.Commands, "; "); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if need.Want != strings.ReplaceAll(want, "; ", ", or ") {
		t.Errorf("to do: %s", need.Want)
	}
}

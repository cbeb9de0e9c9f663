package inbox_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
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
		keys   string // the actions of the dashboard that do the same
		waits  string
	}{
		"put up": {status: "reviewing", want: `diff T; merge T; request-changes T "..."`,
			keys: "review merge request-changes", waits: "the task waits for you"},
		"questions": {status: "clarification", want: `say T "..."; attach T --role worker; why T`,
			keys: "say start part-3", waits: "its worker waits for your answer"},
		"stuck": {status: "stuck", want: `say T "..."; attach T --role worker; why T`, keys: "say start part-3",
			waits: "the task waits for you"},
		"a dialog": {status: "working", seen: record.NeedsAnswer, want: "attach T --role worker", keys: "start",
			waits: "its worker waits for your answer at its terminal"},
		"first screen": {status: "working", seen: record.NeedsStart, want: "attach T --role worker", keys: "start",
			waits: "its worker waits for your answer at its terminal"},
		"at rest": {status: "working", seen: record.NeedsWord, want: `say T "..."; attach T --role worker`,
			keys: "say start", waits: "its worker waits for a word of yours"},
		"refused": {status: "agent-review", seen: record.NeedsModel, want: `say T "..."; attach T --role reviewer`,
			keys: "say start", waits: "its reviewer waits for a word of yours"},
		"refused often": {status: "working", note: "refused 5 times: x", want: `say T "..."; attach T --role worker`,
			keys: "say start", waits: "its worker waits for a word of yours"},
		"moved by refusals": {status: "reviewing", note: "refused 5 times: x",
			want: `diff T; merge T; request-changes T "..."`, keys: "review merge request-changes",
			waits: "the task waits for you"},
		"at a limit": {status: "working", seen: record.NeedsLimit, want: `attach T --role worker; say T "..."`,
			keys: "start say", waits: "its worker waits for its provider"},
		"ended at one": {status: "working", note: limitMark(time.Time{}), want: "respawn T",
			keys: "start", waits: "its worker waits for its provider"},
		"dead": {status: "working", agent: record.AgentDead, want: "respawn T; logs T", keys: "start part-5",
			waits: "the task waits for you"},
		"a hook": {status: "working", note: "hook push_branch: no", want: "retry T; why T", keys: "retry part-3",
			waits: "the task waits for you"},
		"a crash": {status: "working", note: `crash 1: no; start it again with "orange task respawn T"`,
			want: "respawn T; why T", keys: "start part-3", waits: "the task waits for you"},
		"a mark": {status: "working", note: "look", want: "why T; respawn T", keys: "part-3 start",
			waits: "the task waits for you"},
		"marked at its end": {status: "done", note: "look", want: "history T; retry T; update T --seen",
			keys: "part-2 retry ", waits: "the task waits for you"},
		"at work": {status: "working", agent: record.AgentAlive},
	} {
		one := task.Task{ID: "T", Status: c.status, Attention: c.note, Live: c.status != "done"}
		need := inbox.NeedOf(def, one, c.agent, inbox.Sight{Kind: c.seen})
		got := strings.ReplaceAll(strings.Join(need.Commands, "; "), "orange task ", "")
		keys := strings.Join(need.Actions, " ")
		if got != c.want || keys != c.keys || need.Waits != c.waits {
			t.Errorf("%s: %s; %s; %s; want %s; %s; %s", name, got, keys, need.Waits, c.want, c.keys, c.waits)
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

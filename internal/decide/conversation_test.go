package decide_test

import (
	"testing"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/task"
)

func started(kind, role, harness, commit, conversation string) history.Event {
	return history.Event{Type: kind, Data: map[string]string{"role": role, history.DataHarness: harness,
		"commit": commit, history.DataConversation: conversation}}
}

func TestConversation_goesOnWithThatOfTheLastAgentOfTheRole(t *testing.T) {
	t.Parallel()
	worker := func(harness, commit, conversation string) history.Event {
		return started(history.AgentSpawned, task.RoleWorker, harness, commit, conversation)
	}
	reviewer := func(harness, commit, conversation string) history.Event {
		return started(history.ReviewStarted, task.RoleReviewer, harness, commit, conversation)
	}
	move := history.Event{Type: "task.moved", From: "working", To: "agent-review"}
	here := task.Subject{Commit: "c2"}
	for name, tt := range map[string]struct {
		role   string
		at     task.Subject
		events []history.Event
		want   string
	}{
		"of no agent":          {task.RoleWorker, here, []history.Event{move}, ""},
		"of another role only": {task.RoleWorker, here, []history.Event{reviewer("pi", "c2", "r")}, ""},
		"the last": {task.RoleWorker, here,
			[]history.Event{worker("pi", "c1", "a"), worker("pi", "c1", "b"), move}, "b"},
		"of another harness": {task.RoleWorker, here,
			[]history.Event{worker("pi", "c1", "a"), worker("codex", "c2", "b")}, ""},
		"without a name": {task.RoleWorker, here,
			[]history.Event{worker("pi", "c1", "a"), worker("pi", "c1", "")}, ""},
		"a worker elsewhere": {task.RoleWorker, task.Subject{Trouble: "unread"},
			[]history.Event{worker("pi", "c1", "a")}, "a"},
		"a judge here":      {task.RoleReviewer, here, []history.Event{reviewer("pi", "c2", "r")}, "r"},
		"a judge elsewhere": {task.RoleReviewer, here, []history.Event{reviewer("pi", "c1", "r")}, ""},
		"a judge nowhere": {task.RoleReviewer, task.Subject{Trouble: "unread"},
			[]history.Event{reviewer("pi", "", "r")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decide.Conversation(
				shippedWorkflow(t, "default"),
				task.Task{Status: "agent-review"},
				tt.role,
				"pi",
				tt.at,
				tt.events,
			)
			if got != tt.want {
				t.Errorf("it goes on with %q, want %q", got, tt.want)
			}
		})
	}
}

func TestConversation_ofAnAgentThatIsNoJudgeGoesOnWhereverTheWorkIs(t *testing.T) {
	t.Parallel()
	events := []history.Event{started(history.AgentSpawned, task.RoleWorker, "pi", "c1", "a")}
	got := decide.Conversation(shippedWorkflow(t, "default"), task.Task{Status: "working"}, task.RoleWorker, "pi",
		task.Subject{Commit: "c2"}, events)
	if got != "a" {
		t.Errorf("it goes on with %q", got)
	}
}

func TestConversation_ofAJudgeWithARoleOfItsOwnIsOfItsCommitToo(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "phases")
	for _, state := range def.States {
		if len(decide.NeedsOnStart(def, state.Name)) == 0 {
			continue
		}
		one := task.Task{Status: state.Name}
		events := []history.Event{started(history.AgentSpawned, state.Role, "pi", "c1", "a")}
		if got := decide.Conversation(def, one, state.Role, "pi", task.Subject{Commit: "c2"}, events); got != "" {
			t.Errorf("in %s the %s goes on with %q", state.Name, state.Role, got)
		}
		if got := decide.Conversation(def, one, state.Role, "pi", task.Subject{Commit: "c1"}, events); got != "a" {
			t.Errorf("in %s the %s on its commit goes on with %q", state.Name, state.Role, got)
		}
	}
}

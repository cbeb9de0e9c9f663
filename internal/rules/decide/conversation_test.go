package decide_test

import (
	"reflect"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func started(kind, role, harness, commit, conversation string) history.Event {
	return history.Event{Type: kind, Data: map[string]string{"role": role, history.DataHarness: harness,
		"commit": commit, history.DataConversation: conversation}}
}

func TestConversations_continueThatOfTheRolesLastAgent(t *testing.T) {
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
			got := decide.Conversations(tt.events).ToContinue(shippedWorkflow(t, "default"),
				task.Task{Status: "agent-review"}, tt.role, "pi", tt.at)
			if got != tt.want {
				t.Errorf("it goes on with %q, want %q", got, tt.want)
			}
		})
	}
}

func TestConversations_ofAWorkerContinueAtAnyCommit(t *testing.T) {
	t.Parallel()
	events := []history.Event{started(history.AgentSpawned, task.RoleWorker, "pi", "c1", "a")}
	got := decide.Conversations(events).ToContinue(shippedWorkflow(t, "default"), task.Task{Status: "working"},
		task.RoleWorker, "pi", task.Subject{Commit: "c2"})
	if got != "a" {
		t.Errorf("it goes on with %q", got)
	}
}

func TestConversations_ofANamedJudgeContinueOnlyAtItsCommit(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "phases")
	for _, state := range def.States {
		if len(decide.NeedsOnStart(def, state.Name)) == 0 {
			continue
		}
		one := task.Task{Status: state.Name}
		past := decide.Conversations{started(history.AgentSpawned, state.Role, "pi", "c1", "a")}
		if got := past.ToContinue(def, one, state.Role, "pi", task.Subject{Commit: "c2"}); got != "" {
			t.Errorf("in %s the %s goes on with %q", state.Name, state.Role, got)
		}
		if got := past.ToContinue(def, one, state.Role, "pi", task.Subject{Commit: "c1"}); got != "a" {
			t.Errorf("in %s the %s on its commit goes on with %q", state.Name, state.Role, got)
		}
	}
}

func noted(role, conversation string) history.Event {
	return history.Event{Type: history.ConversationNoted, Actor: role,
		Data: map[string]string{"role": role, history.DataConversation: conversation}}
}

func TestConversations_continueTheOneThatTheAgentNamed(t *testing.T) {
	t.Parallel()
	worker := func(conversation string) history.Event {
		return started(history.AgentSpawned, task.RoleWorker, "codex", "c1", conversation)
	}
	for name, tt := range map[string]struct {
		past decide.Conversations
		want string
	}{
		"it told one":                 {decide.Conversations{worker(""), noted("worker", "a")}, "a"},
		"the one before it told one":  {decide.Conversations{worker(""), noted("worker", "a"), worker("")}, ""},
		"another role told one":       {decide.Conversations{worker(""), noted("reviewer", "a")}, ""},
		"it could not go on with one": {decide.Conversations{worker("a"), noted("worker", "b")}, "b"},
		"it went on with one":         {decide.Conversations{noted("worker", "a"), worker("a")}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tt.past.ToContinue(shippedWorkflow(t, "default"), task.Task{Status: "working"}, task.RoleWorker,
				"codex", task.Subject{Commit: "c1"})
			if got != tt.want {
				t.Errorf("it goes on with %q, want %q", got, tt.want)
			}
		})
	}
}

func TestConversations_namedByAJudgeContinueOnlyAtItsCommit(t *testing.T) {
	t.Parallel()
	past := decide.Conversations{started(history.ReviewStarted, task.RoleReviewer, "codex", "c1", ""),
		noted(task.RoleReviewer, "r")}
	for commit, want := range map[string]string{"c1": "r", "c2": "", "": ""} {
		got := past.ToContinue(shippedWorkflow(t, "default"), task.Task{Status: "agent-review"}, task.RoleReviewer,
			"codex", task.Subject{Commit: commit})
		if got != want {
			t.Errorf("on %q it goes on with %q, want %q", commit, got, want)
		}
	}
}

func TestConversations_noteWhatAnAgentTellsOnceAndOnlyOfItsOwn(t *testing.T) {
	t.Parallel()
	worker := func(conversation string) history.Event {
		return started(history.AgentSpawned, task.RoleWorker, "codex", "c1", conversation)
	}
	reviewer := func(conversation string) history.Event {
		return started(history.ReviewStarted, task.RoleReviewer, "codex", "c1", conversation)
	}
	for name, tt := range map[string]struct {
		past decide.Conversations
		tell string
		want bool
	}{
		"the first":             {decide.Conversations{worker("")}, "01a20bb9-a022", true},
		"another form":          {decide.Conversations{worker("")}, "ses_5aXY", true},
		"before it was started": {nil, "a", false},
		"of another role":       {decide.Conversations{reviewer("")}, "a", false},
		"the same again":        {decide.Conversations{worker(""), noted("worker", "a")}, "a", false},
		"another one":           {decide.Conversations{worker(""), noted("worker", "a")}, "b", false},
		"after another start":   {decide.Conversations{worker(""), noted("worker", "a"), worker("")}, "b", true},
		"the same, later":       {decide.Conversations{worker(""), noted("worker", "a"), worker("")}, "a", true},
		"that which goes on":    {decide.Conversations{worker(""), noted("worker", "a"), worker("a")}, "a", false},
		"the one in its place":  {decide.Conversations{worker(""), noted("worker", "a"), worker("a")}, "b", true},
		"where Orange chose it": {decide.Conversations{worker("chosen")}, "a", false},
		"a reviewer's":          {decide.Conversations{reviewer(""), noted("reviewer", "r"), worker("")}, "r", false},
		"a reviewer's, again":   {decide.Conversations{reviewer("r"), worker("")}, "r", false},
		"nothing":               {decide.Conversations{worker("")}, "", false},
		"nothing any more":      {decide.Conversations{noted("worker", "a"), worker("a")}, "", false},
		"a flag":                {decide.Conversations{worker("")}, "--yolo", false},
		"a path":                {decide.Conversations{worker("")}, "../a", false},
		"a file":                {decide.Conversations{worker("")}, "a.jsonl", false},
		"words":                 {decide.Conversations{worker("")}, "a b", false},
		"a line":                {decide.Conversations{worker("")}, "a\n", false},
		"the longest":           {decide.Conversations{worker("")}, strings.Repeat("a", 128), true},
		"one that is longer":    {decide.Conversations{worker("")}, strings.Repeat("a", 129), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := task.Task{Status: "working", Version: 7, Live: true}
			c, due := tt.past.Note(one, task.RoleWorker, tt.tell, noon)
			if due != tt.want {
				t.Fatalf("it is noted: %t, want %t", due, tt.want)
			}
			if may := tt.past.MayLack(task.RoleWorker, tt.tell); due && !may {
				t.Error("it is noted, and no one would have looked")
			}
			if !due {
				return
			}
			want := noted("worker", tt.tell)
			want.Time = noon
			one.UpdatedAt = noon
			if c.Expect != 7 || !reflect.DeepEqual(c.Task, one) || !reflect.DeepEqual(c.Events, []history.Event{want}) {
				t.Errorf("the change is %+v", c)
			}
		})
	}
	over := task.Task{Status: "done"}
	if _, due := (decide.Conversations{worker("")}).Note(over, task.RoleWorker, "a", noon); due {
		t.Error("it is noted of a task that is over")
	}
}

func TestConversations_mayLackOnlyWhatNoOneHasTold(t *testing.T) {
	t.Parallel()
	since := decide.Conversations{started(history.AgentSpawned, task.RoleWorker, "codex", "c1", "a")}
	if since.MayLack(task.RoleWorker, "a") || !since.MayLack(task.RoleWorker, "b") ||
		append(since, noted(task.RoleWorker, "b")).MayLack(task.RoleWorker, "c") {
		t.Error("someone would look for nothing, or not look")
	}
}

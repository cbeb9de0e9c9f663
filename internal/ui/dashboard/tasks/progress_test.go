package tasks

import (
	"slices"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestPast_leavesOutLoops(t *testing.T) {
	t.Parallel()
	move := func(to task.Status) history.Event { return history.Event{Type: history.StatusChanged, To: to} }
	born := history.Event{Type: history.Created, Data: map[string]string{"status": "a"}}
	for _, row := range []struct {
		events []history.Event
		at     task.Status
		want   []task.Status
		known  bool
	}{
		{nil, "a", nil, false},
		{[]history.Event{born}, "a", nil, true},
		{[]history.Event{born, move("b"), {Type: history.AgentSpawned}, {Type: history.AutoAdvanced, To: "c"}}, "c",
			[]task.Status{"a", "b"}, true},
		{[]history.Event{born, move("b"), move("c"), move("b"), move("d")}, "d", []task.Status{"a", "b"}, true},
		{[]history.Event{born, move("b")}, "c", nil, false},
	} {
		if got, known := past(row.events, row.at); known != row.known || !slices.Equal(got, row.want) {
			t.Errorf("to %q: got %q %v", row.at, got, known)
		}
	}
}

func TestFuture_outOfAPauseLeadsBackAndOn(t *testing.T) {
	t.Parallel()
	rules := &workflow.Definition{
		Initial: "draft", States: []workflow.State{{Name: "draft"}, {Name: "working"}, {Name: "paused"},
			{Name: "done", Terminal: true}},
		Transitions: []workflow.Transition{{From: "draft", To: "working"}, {From: "working", To: "paused"},
			{From: "working", To: "done"},
			{From: "paused", To: "draft", CameFrom: []task.Status{"draft"}},
			{From: "paused", To: "working", CameFrom: []task.Status{"working"}}},
	}
	if path := future(rules, task.Task{Status: "paused", Previous: "working", Live: true}); !slices.Equal(path,
		[]task.Status{"working", "done"}) {
		t.Errorf("out of a pause leads %q", path)
	}
	if path := future(rules, task.Task{Status: "paused", Previous: "draft", Live: true}); !slices.Equal(path,
		[]task.Status{"draft", "working", "done"}) {
		t.Errorf("out of a pause leads %q", path)
	}
	if path := future(rules, task.Task{Status: "draft"}); path != nil {
		t.Errorf("a task that is over goes on to %q", path)
	}
}

// A review that passed nothing is no step that is done.
func TestUnpassed_isAReviewThatWasLeftWithoutAVerdict(t *testing.T) {
	t.Parallel()
	pass := []workflow.Part{{Section: "## Review", Verdict: "PASS"}}
	rules := &workflow.Definition{Initial: "working",
		States: []workflow.State{{Name: "working"}, {Name: "review"}, {Name: "stuck"}, {Name: "reviewing"}},
		Transitions: []workflow.Transition{{From: "working", To: "review"},
			{From: "review", To: "reviewing", Gate: pass},
			{From: "review", To: "stuck"}, {From: "stuck", To: "reviewing"}, {From: "stuck", To: "review"}},
	}
	move := func(from, to task.Status, by string) history.Event {
		return history.Event{Type: history.StatusChanged, From: from, To: to, Subject: task.Subject{By: by}}
	}
	up := task.Task{Status: "reviewing", Subject: task.Subject{By: "ada"}}
	for name, row := range map[string]struct {
		events []history.Event
		at     task.Task
		want   bool
	}{
		"a verdict accepted the work": {[]history.Event{move("review", "reviewing", "")}, task.Task{}, false},
		"it crashed, and a person put the work up": {
			[]history.Event{move("review", "stuck", ""), move("stuck", "reviewing", "ada")}, up, true},
		"it crashed, and no one put the work up yet": {[]history.Event{move("review", "stuck", "")},
			task.Task{Status: "stuck"}, true},
		"it crashed once, and passed then": {
			[]history.Event{move("review", "stuck", ""), move("stuck", "review", ""), move("review", "reviewing", "")},
			task.Task{Status: "reviewing"}, false},
		"a person moved it on by force":          {[]history.Event{move("review", "reviewing", "ada")}, up, true},
		"the history is not read, not reviewed":  {nil, up, true},
		"the history is not read, else reviewed": {nil, task.Task{Status: "reviewing"}, false},
	} {
		if got := notPassed(rules, row.events, row.at, "review"); got != row.want {
			t.Errorf("%s: not passed: %t", name, got)
		}
		if notPassed(rules, row.events, row.at, "working") {
			t.Errorf("%s: a status without verdicts is not passed", name)
		}
	}
}

package tasks

import (
	"slices"
	"testing"

	"orange/internal/history"
	"orange/internal/task"
	"orange/internal/workflow"
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

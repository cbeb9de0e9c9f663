package history_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func day(n int) time.Time { return time.Date(2024, 5, n, 7, 8, 9, 0, time.UTC) }

func created(data map[string]string) history.Event {
	if data["status"] == "" {
		data["status"] = "pending"
	}
	return history.Event{Seq: 1, Time: day(1), Type: history.Created, Workflow: "d1", Data: data, Hash: "h1"}
}

func crashes(n int) task.Counters { return task.Counters{{Name: task.CrashCount, Value: n}} }

func TestFold_tellsATaskFromItsEvents(t *testing.T) {
	t.Parallel()
	plan := task.Evidence{Source: "## plan", Digest: "p"}
	events := []history.Event{
		created(map[string]string{"branch": "feat/a", "summary": "one", "workflow": "default"}),
		{Seq: 2, Time: day(2), Type: history.QueuedForSpace, Data: map[string]string{"for": "planning"}},
		{Seq: 3, Time: day(3), Type: history.StatusChanged, From: "pending", To: "planning", Counters: crashes(0)},
		{Seq: 4, Time: day(4), Type: history.AgentSpawned, Data: map[string]string{
			"session": "garden/feat/a", "harness": "claude"}},
		{Seq: 5, Time: day(5), Type: history.Updated, Data: map[string]string{
			"summary": "two", "review_harness": "codex", "branch": "feat/b", "session": "garden/feat/b"}},
		{Seq: 6, Time: day(6), Type: history.StatusChanged, From: "planning", To: "working",
			Evidence: []task.Evidence{plan}},
		{Seq: 7, Time: day(7), Type: history.HookFailure, Hash: "h7"},
	}
	got, spent, err := history.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	want := task.Task{
		Branch: "feat/b", Summary: "two", Harness: "claude", ReviewHarness: "codex", Status: "working",
		Previous: "planning",
		Counters: crashes(0), Session: "garden/feat/b", Workflow: task.WorkflowRef{Name: "default", Digest: "d1"},
		CreatedAt: day(1), EnteredAt: day(6), UpdatedAt: day(7), Seq: 7, Hash: "h7",
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(spent, []task.Spent{{Evidence: plan, Seq: 6}}) {
		t.Errorf("got  %+v, %v\nwant %+v", got, spent, want)
	}
	if queued, _, err := history.Fold(events[:2]); err != nil || queued.QueuedFor != "planning" {
		t.Errorf("queued for %q, %v", queued.QueuedFor, err)
	}
}

func TestFold_takesTheCrashCountFromItsEvents(t *testing.T) {
	t.Parallel()
	move := history.Event{Seq: 2, Type: history.AutoAdvanced, From: "pending", To: "stuck", Counters: crashes(2)}
	escalated := move
	escalated.Data = map[string]string{"crash": "3"}
	crashed := history.Event{Seq: 3, Type: "agent.crashed", Counters: crashes(1)}
	tests := []struct {
		what   string
		events []history.Event
		want   int
	}{
		{"a move, with its hooks still owed", []history.Event{move}, 2},
		{"a move whose hooks are done", []history.Event{
			move, {Seq: 3, Type: history.CrashesForgotten, Counters: crashes(0)}}, 0},
		{"a move that a crash made", []history.Event{escalated}, 2},
		{"a crash after a move", []history.Event{move, crashed}, 1},
	}
	for _, tt := range tests {
		got, _, err := history.Fold(append([]history.Event{created(map[string]string{})}, tt.events...))
		if err != nil || got.Counters.Get(task.CrashCount) != tt.want {
			t.Errorf("%s: %v, %v, want %d", tt.what, got.Counters, err, tt.want)
		}
	}
}

func TestFold_refusesWhatIsNoHistoryOfATask(t *testing.T) {
	t.Parallel()
	birth := created(map[string]string{})
	tests := []struct {
		want   string
		events []history.Event
	}{
		{"does not begin with", nil},
		{"does not begin with", []history.Event{{Seq: 1, Type: history.Updated}}},
		{"event 2 makes it a second time", []history.Event{birth, {Seq: 2, Type: history.Created}}},
		{`event 2 moves it from "working", and it was "pending"`, []history.Event{
			birth, {Seq: 2, Type: history.StatusChanged, From: "working", To: "done"}}},
		{"event 1 does not say its status", []history.Event{{Seq: 1, Type: history.Created}}},
	}
	for _, tt := range tests {
		if _, _, err := history.Fold(tt.events); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

func TestFold_remembersWhereATaskCameFrom(t *testing.T) {
	t.Parallel()
	events := []history.Event{
		created(map[string]string{}),
		{Seq: 2, Time: day(2), Type: history.StatusChanged, From: "pending", To: "planning"},
		{Seq: 3, Time: day(3), Type: history.StatusChanged, From: "planning", To: "planning"},
		{Seq: 4, Time: day(4), Type: history.WorkflowMigrated, Workflow: "d2", Data: map[string]string{
			"workflow": "other", "previous": "waiting"}},
		{Seq: 5, Time: day(5), Type: history.StatusChanged, From: "planning", To: "design", Data: map[string]string{
			"previous": "", "queued_for": "build"}},
	}
	for n, want := range map[int][2]task.Status{2: {"pending", ""}, 3: {"pending", ""}, 4: {"waiting", ""},
		5: {"", "build"}} {
		got, _, err := history.Fold(events[:n])
		if err != nil || got.Previous != want[0] || got.QueuedFor != want[1] {
			t.Errorf("after %d events it came from %q and is queued for %q, %v", n, got.Previous, got.QueuedFor, err)
		}
	}
	got, _, err := history.Fold(events)
	if err != nil || got.Workflow.Name != "other" || got.Workflow.Digest != "d2" {
		t.Errorf("its workflow is %+v, %v", got.Workflow, err)
	}
}

func TestFold_knowsHowLateATaskWasToldToBe(t *testing.T) {
	t.Parallel()
	events := []history.Event{
		created(map[string]string{}),
		{Seq: 2, Type: history.TimeoutWarning, Data: map[string]string{"level": "80"}},
		{Seq: 3, Type: history.TimeoutAlert, Data: map[string]string{"level": "100"}},
		{Seq: 4, Type: history.AgentStopped},
		{Seq: 5, Type: history.StatusChanged, From: "pending", To: "dig"},
		{Seq: 6, Type: history.TimeoutWarning, Data: map[string]string{"level": "80"}},
	}
	for n, want := range []int{0, 80, 100, 100, 0, 80} {
		if got, _, err := history.Fold(events[:n+1]); err != nil || got.Overdue != want {
			t.Errorf("after %d events: %d, %v, want %d", n+1, got.Overdue, err, want)
		}
	}
}

func TestFollow_takesOverWhatEachEventSays(t *testing.T) {
	t.Parallel()
	base := task.Task{Status: "a", Session: "s", QueuedFor: "q", Harness: "h", ReviewHarness: "r",
		Subject: task.Subject{Commit: "c1"}, After: []string{"x"}, Overdue: 1}
	fields := map[string]string{"branch": "1", "summary": "2", "workflow": "3", "harness": "4", "review_harness": "5",
		"effort": "6", "review_effort": "7", "model": "8", "review_model": "9"}
	updated := maps.Clone(fields)
	updated["session"], updated["queued_for"] = "10", "11"
	birth := maps.Clone(fields)
	birth["status"], birth["created_at"], birth["waits_for"] = "todo", day(1).Format(task.TimeFormat), "x,y"
	said := func(one *task.Task) {
		one.Branch, one.Summary, one.Workflow.Name, one.Harness, one.ReviewHarness = "1", "2", "3", "4", "5"
		one.Effort, one.ReviewEffort, one.Model, one.ReviewModel = "6", "7", "8", "9"
	}
	for what, c := range map[string]struct {
		event history.Event
		want  func(one *task.Task)
	}{
		"a birth": {history.Event{Type: history.Created, Data: birth}, func(one *task.Task) {
			said(one)
			one.Status, one.CreatedAt, one.EnteredAt, one.After = "todo", day(1), day(2), []string{"x", "y"}
		}},
		"an update": {history.Event{Type: history.Updated, Data: updated}, func(one *task.Task) {
			said(one)
			one.Session, one.QueuedFor = "10", "11"
		}},
		"a respawn": {history.Event{Type: history.AgentRespawned, Data: map[string]string{"queued_for": "n"}},
			func(one *task.Task) { one.QueuedFor = "n" }},
		"a review": {history.Event{Type: history.ReviewStarted, Subject: task.Subject{Commit: "c2"},
			Data: map[string]string{"session": "t", "harness": "k"}}, func(one *task.Task) {
			one.Session, one.ReviewHarness, one.Subject.Commit = "t", "k", "c2"
		}},
		"a start": {history.Event{Type: history.AgentSpawned, Data: map[string]string{"session": "t", "harness": "k"}},
			func(one *task.Task) { one.Session, one.Harness = "t", "k" }},
		"a move": {history.Event{Type: history.StatusChanged, To: "b"}, func(one *task.Task) {
			one.Status, one.Previous, one.EnteredAt, one.QueuedFor, one.Overdue = "b", "a", day(2), "", 0
			one.Subject, one.After = task.Subject{}, nil
		}},
		"a wait in line": {history.Event{Type: history.QueuedForSpace, Data: map[string]string{"for": "b"}},
			func(one *task.Task) { one.QueuedFor, one.After = "b", nil }},
		"the end of all": {history.Event{Type: history.AgentStopped, Data: map[string]string{"role": "all"}},
			func(one *task.Task) { one.Session = "" }},
		"the end of one": {history.Event{Type: history.AgentStopped, Data: map[string]string{"role": "worker"}},
			func(*task.Task) {}},
	} {
		want := base
		want.UpdatedAt, c.event.Time = day(2), day(2)
		c.want(&want)
		if got := history.Follow(base, c.event); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: it is %+v\nwant %+v", what, got, want)
		}
	}
}

func TestDisagree_namesWhatTheRecordHasOtherwise(t *testing.T) {
	t.Parallel()
	events := []history.Event{created(map[string]string{"branch": "b"})}
	events[0].Counters = crashes(2)
	told, _, err := history.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*task.Task){
		`its number of events is "1" by its history, and "7" on record`: func(one *task.Task) { one.Seq = 7 },
		"its hash is":                   func(one *task.Task) { one.Hash = "x" },
		"its status is":                 func(one *task.Task) { one.Status = "x" },
		"its branch is":                 func(one *task.Task) { one.Branch = "x" },
		"its workflow is":               func(one *task.Task) { one.Workflow.Digest = "x" },
		"its subject is":                func(one *task.Task) { one.Subject.Commit = "x" },
		"its previous status is":        func(one *task.Task) { one.Previous = "x" },
		"its queue is":                  func(one *task.Task) { one.QueuedFor = "x" },
		"its wait for tasks is":         func(one *task.Task) { one.After = []string{"x"} },
		"its lateness is":               func(one *task.Task) { one.Overdue = 1 },
		`its crash_count is "2" by its`: func(one *task.Task) { one.Counters = crashes(3) },
		"":                              func(one *task.Task) { one.Summary = "x" },
	} {
		one := told
		change(&one)
		got, err := history.Disagree(one, events)
		if err != nil || !strings.HasPrefix(strings.Join(got, "; "), want) || len(got) != min(len(want), 1) {
			t.Errorf("found %q, %v, want %q", got, err, want)
		}
	}
	told.Status, told.Branch = "x", "x"
	if got, _ := history.Disagree(told, events); len(got) != 2 || !strings.Contains(got[0], "branch") {
		t.Errorf("two differences are %q", got)
	}
	if _, err := history.Disagree(told, nil); err == nil {
		t.Error("no history says something of a task")
	}
}

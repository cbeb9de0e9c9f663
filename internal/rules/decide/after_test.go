package decide_test

import (
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func waitsUnder(t *testing.T) *workflow.Definition {
	t.Helper()
	return parse(t, "waits.yml", []byte(`
name: waits
version: 1
states:
  todo: {}
  work: {role: worker}
  good: {terminal: true, success: true}
  merged: {terminal: true}
  over: {terminal: true}
transitions:
  - {from: todo, to: work, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: work, to: [good, merged, over]}
moves: {merge: merged, cancel: over}
allow: {no-dead-end: a test}
prompts: {go: Go.}
`))
}

func over(id string, status task.Status, commit string) task.Task {
	return task.Task{ID: id, Project: "garden", Status: status, Subject: task.Subject{Commit: commit}}
}

func merge(kind, commit string) history.Event {
	return history.Event{Type: kind, Data: map[string]string{"commit": commit}}
}

// movedOn is a move that is about a commit.
func movedOn(commit string) history.Event {
	return history.Event{Type: history.StatusChanged, Subject: task.Subject{Commit: commit}}
}

func redo() history.Event {
	return history.Event{Type: history.StatusChanged, Data: map[string]string{history.DataRedo: "work"}}
}

func TestAPredecessorEndsWellByAMergeOrInAGoodState(t *testing.T) {
	t.Parallel()
	def := waitsUnder(t)
	live := over("one", "work", "a")
	live.Live = true
	for _, tt := range []struct {
		name   string
		task   task.Task
		events []history.Event
		state  string
		commit string
	}{
		{"alive", live, []history.Event{merge(history.Merged, "b")}, record.BeforeLive, ""},
		{"a good state", over("one", "good", "a"), nil, record.BeforeOver, "a"},
		{"a good state of a merge", over("one", "good", "a"), []history.Event{merge(history.Merged, "b")},
			record.BeforeOver, "b"},
		{"merged", over("one", "merged", "a"), []history.Event{merge(history.Merged, "b"), {}}, record.BeforeOver, "b"},
		{"merged there", over("one", "merged", "a"), []history.Event{merge(history.PRLanded, "c")},
			record.BeforeOver, "c"},
		{"merged, and no one said as what", over("one", "merged", "a"),
			[]history.Event{merge(history.PRLanded, "")}, record.BeforeOver, "a"},
		{"no merge", over("one", "merged", "a"), nil, record.BeforeLost, "a"},
		{"a merge before a redo", over("one", "merged", "a"),
			[]history.Event{merge(history.Merged, "b"), redo()}, record.BeforeLost, "a"},
		{"merged, and the work went on", over("one", "good", "c"),
			[]history.Event{merge(history.Merged, "b"), movedOn("a"), movedOn("c")}, record.BeforeOver, "c"},
		{"merged, and the work went on to no good end", over("one", "merged", "c"),
			[]history.Event{merge(history.Merged, "b"), movedOn("a"), movedOn("c")}, record.BeforeLost, "c"},
		{"merged, and closed after that", over("one", "merged", ""),
			[]history.Event{merge(history.Merged, "b"), movedOn("a"), movedOn("")}, record.BeforeOver, "b"},
		{"merged by a move that is about nothing", over("one", "merged", "a"),
			[]history.Event{merge(history.Merged, "b"), movedOn(""), movedOn("a")}, record.BeforeOver, "b"},
		{"given up", over("one", "over", "a"), []history.Event{merge(history.Merged, "b")}, record.BeforeLost, "b"},
	} {
		w := decide.Waiting{Task: task.Task{ID: "two", After: []string{"one"}}}
		w.Add(def, tt.task, tt.events)
		if got := w.Before[0]; got.State != tt.state || got.Commit != tt.commit ||
			(got.Found == "") != (tt.state == record.BeforeOver) {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if w.MayStart() || w.AllWell() != (tt.state == record.BeforeOver) {
			t.Errorf("%s: it may start %v, all ended well %v", tt.name, w.MayStart(), w.AllWell())
		}
		w.Landed("main", nil)
		if w.MayStart() != (tt.state == record.BeforeOver) {
			t.Errorf("%s: with its commit in the base it may start: %v", tt.name, w.MayStart())
		}
	}
}

func TestATaskWaitsUntilTheBaseHasAllPredecessorsCommits(t *testing.T) {
	t.Parallel()
	def := waitsUnder(t)
	w := decide.Waiting{Task: task.Task{ID: "two", After: []string{"one", "other"}}}
	w.Add(def, over("one", "good", "aaaaaaaa"), nil)
	w.Add(def, over("other", "good", "bbbbbbbb"), nil)
	w.Landed("origin/main", []string{"bbbbbbbb"})
	if w.MayStart() || len(w.Missing()) != 1 || !w.AllWell() {
		t.Errorf("%+v, missing %+v", w.Before, w.Missing())
	}
	if got := w.Missing()[0]; got.Found != `it is "good", and its commit bbbbbbb is not in origin/main` {
		t.Errorf("%+v", got)
	}
	if c, due := w.Stays("", noon); due {
		t.Errorf("what may come yet needs no person: %+v", c)
	}
}

func TestABrokenWaitMarksATaskOnceUntilTheReasonGoes(t *testing.T) {
	t.Parallel()
	def := waitsUnder(t)
	w := decide.Waiting{Task: task.Task{ID: "two", Version: 3, After: []string{"one", "other"}}}
	w.Gone("one")
	w.Add(def, over("other", "over", ""), nil)
	c, due := w.Stays("", noon)
	if !due || c.Expect != 3 || len(c.Events) != 1 || c.Events[0].Type != history.WaitBroken ||
		c.Events[0].Data["tasks"] != "one,other" || !strings.Contains(c.Task.Attention, "task one; it was deleted") ||
		!strings.Contains(c.Task.Attention, "orange task spawn two") {
		t.Errorf("%v %+v", due, c)
	}
	w.Task = c.Task
	if _, due := w.Stays("", noon); due {
		t.Error("it is marked a second time")
	}
	healed := decide.Waiting{Task: c.Task}
	if c, due := healed.Stays("", noon); !due || c.Task.Attention != "" || len(c.Events) > 0 {
		t.Errorf("%v %+v", due, c)
	}
	if c, due := healed.Stays("no such move", noon); !due || !strings.Contains(c.Task.Attention, "no such move") {
		t.Errorf("%v %+v", due, c)
	}
	w.Task.After, w.Task.Attention = nil, ""
	if _, due := w.Stays("", noon); due {
		t.Error("a task that waits for none is marked")
	}
	w.Task = task.Task{After: []string{"one"}, Attention: "hook merge: no"}
	if _, due := (&decide.Waiting{Task: w.Task}).Stays("", noon); due {
		t.Error("a mark of something else is taken away")
	}
}

func TestOnlyAStartingTaskMayWaitAndOnlyWithinItsProject(t *testing.T) {
	t.Parallel()
	def := waitsUnder(t)
	n := task.New{Project: task.Project{Name: "garden"}, Summary: "x", Spawn: true, After: []string{"one"}}
	w := decide.Waiting{Task: task.Task{After: n.After}}
	w.Add(def, over("one", "good", ""), nil)
	if err := w.MayBegin(def, n, "todo"); err != nil {
		t.Error(err)
	}
	idle, planned := n, n
	idle.Spawn, planned.Plan = false, "1. Dig."
	elsewhere := n
	elsewhere.Project.Name = "field"
	given := decide.Waiting{}
	given.Add(def, over("one", "over", ""), nil)
	many := decide.Waiting{}
	for range 50 {
		many.Add(def, over("one", "good", ""), nil)
	}
	if err := many.MayBegin(def, n, "todo"); err != nil {
		t.Error("with as many as there may be:", err)
	}
	many.Add(def, over("one", "good", ""), nil)
	for want, err := range map[string]error{
		"leaves that to a person":   w.MayBegin(def, idle, "todo"),
		"plan file":                 w.MayBegin(def, planned, "todo"),
		`it would begin in "work"`:  w.MayBegin(def, n, "work"),
		`is one of "garden"`:        w.MayBegin(def, elsewhere, "todo"),
		"task one will not come":    given.MayBegin(def, n, "todo"),
		"found 51 of them, at most": many.MayBegin(def, n, "todo"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q", err, want)
		}
	}
}

func TestMovesAndQueuesEndAWaitAndMigrationsDoNot(t *testing.T) {
	t.Parallel()
	def := waitsUnder(t)
	one := task.Task{ID: "two", Project: "garden", Branch: "b", After: []string{"one", "other"}}
	c, err := decide.Create(def, one, "todo", task.Actor{Role: task.RoleHuman}, noon)
	if err != nil || len(c.Task.After) != 2 || c.Events[0].Data["waits_for"] != "one,other" {
		t.Fatalf("%v %+v", err, c)
	}
	if told := history.Follow(task.Task{}, c.Events[0]); len(told.After) != 2 {
		t.Errorf("the history says %+v", told)
	}
	waits := c.Task
	queued := decide.Queue(def, waits, "work", task.Actor{Rule: true}, noon)
	if queued.Task.WaitsForTasks() || history.Follow(waits, queued.Events[0]).WaitsForTasks() {
		t.Errorf("%+v", queued)
	}
	req := task.Request{Task: "two", To: "work", Actor: task.Actor{Rule: true}, Waited: true}
	moved, err := decide.Transition(def, waits, decide.Evidence{}, req, noon)
	if err != nil || moved.Change.Task.WaitsForTasks() ||
		history.Follow(waits, moved.Change.Events[0]).WaitsForTasks() {
		t.Errorf("%v %+v", err, moved)
	}
	waits.After = nil
	if _, err := decide.Transition(def, waits, decide.Evidence{}, req, noon); err == nil {
		t.Error("a task that waits for none is started because those are done that it waited for")
	}
	renamed, err := decide.Migrate(def, c.Task, nil, map[task.Status]task.Status{"todo": "work"}, decide.Evidence{},
		task.Actor{Role: task.RoleHuman}, noon)
	if err != nil || len(renamed.Task.After) != 2 {
		t.Fatalf("%v %+v", err, renamed)
	}
	told := c.Task
	for _, e := range renamed.Events {
		told = history.Follow(told, e)
	}
	if len(told.After) != 2 {
		t.Errorf("the history says %+v", told)
	}
}

package simulate_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/proof/simulate"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// process takes every step, and notes those that wait.
type process struct {
	name   string
	waited bool
}

func (p *process) Step(s simulate.Step, do func() error) error {
	p.waited = p.waited || s.Ready != nil && !s.Ready()
	return do()
}

func (*process) Fail(string) error { return nil }
func (p *process) Identity() any   { return p.name }

func TestTaskBranch_knowsWhatGatesAskOfGit(t *testing.T) {
	t.Parallel()
	b := new(simulate.World).Branch("a")
	holds := func(about task.Subject, git string) bool {
		fact, known := b.Fact(task.Task{Workspace: "one", Subject: about}, workflow.Part{Git: git})
		return known && fact.Holds
	}
	b.Edit()
	if !b.Dirty() || holds(task.Subject{}, workflow.GitCommitted) {
		t.Error("an edit does not make the worktree dirty")
	}
	b.CommitAll()
	about := b.Subject(true)
	if b.Dirty() || !holds(about, workflow.GitCommitted) || !holds(about, workflow.GitUnmoved) ||
		holds(about, workflow.GitMoved) {
		t.Errorf("a commit does not clean the worktree: %+v", about)
	}
	b.Edit()
	b.CommitAll()
	if !holds(about, workflow.GitMoved) || holds(about, workflow.GitUnmoved) || holds(about, workflow.GitAsReviewed) {
		t.Errorf("a second commit does not move the tip from %+v: %+v", about, b.Subject(true))
	}
	b.Edit()
	b.Restore()
	b.Reset(b.Number() - 1)
	if b.Dirty() || !holds(about, workflow.GitUnmoved) || b.Subject(true) != about {
		t.Errorf("the branch is not back at %+v: %+v", about, b.Subject(true))
	}
	if fact, _ := b.Fact(task.Task{Subject: about}, workflow.Part{Git: workflow.GitUnmoved}); fact.Holds {
		t.Error("a task without a workspace has something to look at")
	}
}

func TestTaskFolders_locksBelongToAProcess(t *testing.T) {
	t.Parallel()
	w := new(simulate.World)
	first, second := &process{name: "first"}, &process{name: "second"}
	folders := func(p *process) simulate.TaskFolders {
		return simulate.ProcessView{World: w, Process: p}.TaskFolders()
	}
	release, err := folders(first).Lock(t.Context(), "a.lock")
	if err != nil || first.waited {
		t.Fatalf("a free lock is not free: %v", err)
	}
	if _, free, err := folders(second).TryLock("a.lock"); free || err != nil {
		t.Errorf("two processes have one lock: %v", err)
	}
	if _, err := folders(second).Lock(t.Context(), "a.lock"); err == nil || !second.waited {
		t.Errorf("a process does not wait for a lock: %v", err)
	}
	w.FreeLocks("first")
	if _, free, err := folders(second).TryLock("a.lock"); !free || err != nil {
		t.Errorf("a process takes its locks with it when it ends: %v", err)
	}
	release()
	if _, free, _ := folders(first).TryLock("a.lock"); free {
		t.Error("a process that has lost a lock releases the lock of another one")
	}
}

func TestAudit_reportsWhatTheRecordHasWrong(t *testing.T) {
	t.Parallel()
	var found []string
	a := simulate.NewAudit(new(simulate.World), func(_, property, _ string, _ ...any) {
		found = append(found, property)
	})
	settled := func(state task.HookState) []record.Settled { return []record.Settled{{ID: 7, State: state}} }
	created := history.Event{Type: history.Created, Data: map[string]string{history.DataStatus: "todo"}}
	sealed, err := history.Seal(created, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	change := func(expect int64, settled []record.Settled) {
		c := record.Change{Expect: expect, Settled: settled}
		if expect == 0 {
			c.Events = []history.Event{created}
		}
		a.Committed(c, task.Task{ID: "a", Status: "todo", Seq: 1, Hash: sealed.Hash, Version: expect + 1}, nil)
	}
	check := func(what string, want ...string) {
		t.Helper()
		if len(found) != len(want) || len(want) > 0 && found[0] != want[0] {
			t.Errorf("%s: the audit reports %q, want %q", what, found, want)
		}
		found = nil
	}
	change(0, nil)
	a.Begun("a", 7)
	a.Hook(7).Performed++
	change(1, settled(task.HookDone))
	check("a hook is begun, performed and settled")
	change(1, nil)
	check("a change is lost", "history")
	change(2, settled(task.HookDone))
	check("a hook is settled twice", "hooks")
	a.Begun("a", 7)
	check("a settled hook is begun", "hooks")
}

func TestAudit_countsHowOftenRulesSendATaskBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	back := history.Event{Type: history.AutoAdvanced, Actor: task.ActorEngine, From: "reviewing", To: "working",
		Data: map[string]string{workflow.OnPRChecksFailed: "run 1"}}
	merge := history.Event{Type: history.MergeBegun, Actor: task.RoleHuman}
	edit := history.Event{Type: history.Updated, Actor: task.RoleHuman}
	review := history.Event{Type: history.StatusChanged, Actor: task.RoleReviewer, From: "agent-review",
		To: "reviewing"}
	for name, row := range map[string]struct {
		events []history.Event
		told   int
	}{
		"three times":             {[]history.Event{back, review, back, review, back}, 0},
		"four times":              {[]history.Event{back, back, review, back, back}, 1},
		"merges begin meanwhile":  {[]history.Event{merge, back, merge, back, merge, back, merge, back}, 1},
		"a person acts meanwhile": {[]history.Event{back, back, back, edit, back, back, back}, 0},
	} {
		told := 0
		a := simulate.NewAudit(&simulate.World{Workflow: shippedWorkflow(t, "default")},
			func(_, property, format string, _ ...any) {
				if property == "bounded" && strings.Contains(format, "sent the task back") {
					told++
				}
			})
		for i, e := range row.events {
			e.Time = at
			a.Committed(record.Change{Expect: int64(i), Events: []history.Event{e}},
				task.Task{ID: "a", Status: "reviewing", Version: int64(i) + 1}, nil)
		}
		if told != row.told {
			t.Errorf("%s: it is told %d times, want %d", name, told, row.told)
		}
	}
}

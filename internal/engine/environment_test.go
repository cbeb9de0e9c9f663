package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// environments note whose environment was kept or dropped.
type environments struct {
	mu     sync.Mutex
	calls  []string
	fail   error
	before func() // runs before the next one is kept
}

func (e *environments) Keep(_ context.Context, id string) error {
	if before := e.before; before != nil {
		e.before = nil
		before()
	}
	return e.note("keep", id)
}

func (e *environments) Drop(_ context.Context, id string) error { return e.note("drop", id) }

func (e *environments) Give(_ context.Context, id string, variables []string) error {
	return e.note("give "+strings.Join(variables, " "), id)
}

func (e *environments) Forget(_ context.Context, id string) error { return e.note("forget", id) }

func (e *environments) note(what, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, what+" "+id)
	return e.fail
}

// takeCalls are the calls since the last look, without the ids.
func (e *environments) takeCalls(id string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	said := strings.ReplaceAll(strings.Join(e.calls, ", "), " "+id, "")
	e.calls = nil
	return said
}

func (w *world) wantTold(id, want string) {
	w.t.Helper()
	wantText(w.t, "what became of the environment", w.environments.takeCalls(id), want)
}

func TestEnvironment_isKeptWhereAPersonStartsATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("later", false).Task.ID
	w.wantTold(id, "")
	_, err := w.Command(t.Context(), id, "spawn", human, "")
	must(t, err)
	w.wantTold(id, "keep")

	born := w.create("at-once", true).Task.ID
	w.wantTold(born, "keep")
	out, err := w.Create(t.Context(), task.New{
		Project: task.Project{Name: "garden", DefaultBranch: "main", PoolSize: 9}, Branch: "reviewed",
		Summary: "mend", Harness: "claude", ReviewHarness: "codex",
		Workflow: "default", Status: "reviewing", Actor: human,
	})
	must(t, err)
	w.wantTold(out.Task.ID, "keep")
}

func TestEnvironment_ofAnAgentThatAsksIsNeverKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("fix", true).Task.ID
	w.wantTold(id, "keep")
	w.write(id, plan)
	w.move(id, "working", worker)
	w.write(id, handoff)
	w.move(id, "agent-review", worker) // it starts a reviewer
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	w.wantTold(id, "")
}

func TestEnvironment_isRenewedByAPersonsRespawnAndRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("fix", true).Task.ID
	w.wantTold(id, "keep")
	w.die(w.death(id, task.RoleWorker))
	dead := func(task.Task, string) (bool, error) { return false, nil }
	w.performer.fails[action.SpawnAgent] = errPerformer
	_, err := w.Respawn(t.Context(), id, dead, human)
	must(t, err)
	w.wantTold(id, "keep")
	_, err = w.Retry(t.Context(), id, worker)
	must(t, err)
	w.wantTold(id, "")
	delete(w.performer.fails, action.SpawnAgent)
	_, err = w.Retry(t.Context(), id, human)
	must(t, err)
	w.wantTold(id, "keep")
	_, err = w.Retry(t.Context(), id, human) // nothing is owed any more
	must(t, err)
	w.wantTold(id, "")
}

// Found by the simulation: what a task still had to do, and nothing had failed, ran in the environment of the person
// who deleted it.
func TestEnvironment_ofWhoDeletesATaskIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("work", true).Task.ID
	var run func(context.Context, string, bool) error
	w.rewire(func(p *engine.Ports) {
		run, p.RunHooks = p.RunHooks, func(context.Context, string, bool) error { return errPerformer }
	})
	if _, err := w.Command(t.Context(), id, "cancel", human, ""); !errors.Is(err, errPerformer) {
		t.Fatalf("the cancel ended with %v", err)
	}
	w.rewire(func(p *engine.Ports) { p.RunHooks = run })
	w.environments.takeCalls(id)
	_, err := w.Delete(t.Context(), id, human)
	must(t, err)
	if told := w.environments.takeCalls(id); strings.Contains(told, "keep") || !strings.Contains(told, "forget") {
		t.Errorf("what became of the environment: %q", told)
	}
}

func TestEnvironment_isKeptWhileATaskWaitsForAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository.project.PoolSize = 1
	first := w.create("first", true).Task.ID
	w.wantTold(first, "keep")
	second := w.create("second", true).Task.ID
	w.wantTold(second, "keep")
	_, err := w.Command(t.Context(), second, "cancel", human, "")
	must(t, err)
	w.wantTold(second, "drop")

	third := w.create("third", true).Task.ID
	w.wantTold(third, "keep")
	w.move(first, "cancelled", human)
	_, err = w.StartNext(t.Context(), "garden")
	must(t, err)
	w.wantTold(first, "drop, drop")
	if got := w.task(third); got.Workspace == "" {
		t.Errorf("the third task is %+v", got)
	}
	_, err = w.Delete(t.Context(), second, human)
	must(t, err)
	w.wantTold(second, "drop, forget")
}

// The variables of a task are there before its first program, and gone where there is no task.
func TestTaskVariables_existBeforeTheFirstProgramAndGoWithTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := task.New{Project: w.repository.project, Branch: "own", Summary: "mend the gate", Harness: "claude",
		ReviewHarness: "codex", Workflow: "default", Spawn: true, Actor: human, Variables: []string{"KEY=1", "OTHER"}}
	out, err := w.Create(t.Context(), n)
	must(t, err)
	w.wantTold(out.Task.ID, "give KEY=1 OTHER, keep")
	if text, err := json.Marshal(w.events(out.Task.ID, "")); err != nil || strings.Contains(string(text), "KEY") {
		t.Errorf("the history has %s, %v", text, err)
	}
	w.environments.fail = errors.New("no room")
	n.Branch = "other"
	if _, err = w.Create(t.Context(), n); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("found %v", err)
	}
	if all, err := w.store.List(t.Context(), record.Filter{Branch: "other"}); err != nil || len(all) > 0 {
		t.Errorf("found %v, %v", all, err)
	}
}

func TestEnvironment_thatCannotBeKeptStopsNoTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.environments.fail = errPerformer
	if out := w.create("fix", true); out.Task.Status != "planning" || out.Task.Workspace == "" {
		t.Errorf("the task is %+v", out.Task)
	}
}

// quick is a record that another program changes before a reader gets what it has just committed.
type quick struct {
	engine.Record
	meanwhile func()
}

func (q *quick) Events(ctx context.Context, id string, after int) ([]history.Event, error) {
	if meanwhile := q.meanwhile; meanwhile != nil {
		q.meanwhile = nil
		meanwhile()
	}
	return q.Record.Events(ctx, id, after)
}

// Found by the simulation: a monitor had made the workspace ready before the person's program came to keep, and
// then nothing was kept.
func TestEnvironment_isKeptWhereAnotherProcessPerformedTheHooksFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("later", false).Task.ID
	w.wantTold(id, "")
	other := w.another()
	w.rewire(func(p *engine.Ports) {
		p.Record = &quick{Record: p.Record, meanwhile: func() { must(t, other.Settle(t.Context(), id)) }}
	})
	_, err := w.Command(t.Context(), id, "spawn", human, "")
	must(t, err)
	w.wantTold(id, "keep")
}

// Found by the simulation: the task was cancelled between the commit that had it wait and the keeping.
func TestEnvironment_thatIsKeptTooLateIsDroppedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository.project.PoolSize = 1
	w.create("first", true)
	id := w.create("second", false).Task.ID
	w.environments.takeCalls("")
	w.environments.before = func() {
		_, err := w.another().Command(t.Context(), id, "cancel", human, "")
		must(t, err)
	}
	_, err := w.Command(t.Context(), id, "spawn", human, "")
	must(t, err)
	w.wantTold(id, "drop, keep, drop")

	third := w.create("third", false).Task.ID
	w.environments.before = func() {
		_, err := w.another().Delete(t.Context(), third, human)
		must(t, err)
	}
	if _, err = w.Command(t.Context(), third, "spawn", human, ""); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the error is %v", err)
	}
	w.wantTold(third, "drop, drop, forget, keep, drop")
}

package engine_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// waiting creates a task that waits for others.
func (w *world) waiting(branch string, actor task.Actor, after ...string) (record.Outcome, error) {
	w.t.Helper()
	return w.Create(w.t.Context(), task.New{
		Project: w.repository.project, Branch: branch, Summary: "mend the gate", Harness: "claude",
		ReviewHarness: "codex", Workflow: "default", Spawn: true, Actor: actor, After: after,
	})
}

func TestAWaitingTask_startsWhenAllPredecessorsAreInTheBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, other := w.reach("reviewing"), w.create("other", true).Task.ID
	out, err := w.waiting("after", human, first, other)
	must(t, err)
	id := out.Task.ID
	if out.Task.Status != "pending" || len(out.Before) != 2 || out.Before[0].State != record.BeforeLive {
		t.Fatalf("created as %+v", out)
	}
	w.repository.based = []string{w.task(first).Subject.Commit}
	w.move(first, "done", human)
	if got := w.task(id); got.Status != "pending" || got.Attention != "" {
		t.Errorf("with one of the two done it is %+v", got)
	}
	if w.repository.looked != 0 {
		t.Errorf("git was asked %d times, though one of them lives", w.repository.looked)
	}
	must2(w.StartWaiting(t.Context(), id, true))(t)
	w.move(other, "cancelled", human)
	got := w.task(id)
	if got.Status != "pending" || !strings.Contains(got.Attention, other) ||
		len(w.events(id, history.WaitBroken)) != 1 {
		t.Errorf("with one given up it is %+v", got)
	}
	w.move(id, "planning", human) // a person's word goes before
	if got := w.task(id); got.Attention != "" || got.WaitsForTasks() {
		t.Errorf("started by a person it is %+v", got)
	}
}

func TestAWaitingTask_startsByItselfWhenTheCommitArrives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.reach("reviewing")
	out, err := w.waiting("after", human, first)
	must(t, err)
	id := out.Task.ID
	w.repository.took = ""
	w.move(first, "done", human)
	commit := w.task(first).Subject.Commit
	if commit == "" {
		t.Fatal("the commit of the first one is not known")
	}
	if got := w.task(id); got.Status != "pending" || w.repository.fetched == 0 {
		t.Fatalf("without the commit in the base it is %+v, fetched %d", got, w.repository.fetched)
	}
	before, err := w.Before(t.Context(), w.task(id), true)
	must(t, err)
	if before[0].State != record.BeforeElsewhere || before[0].Commit != commit {
		t.Errorf("missing is %+v", before)
	}
	w.repository.unreadable = errors.New("the disk is gone")
	if before, err = w.Before(t.Context(), w.task(id), true); err != nil ||
		!strings.Contains(before[0].Found, "the disk is gone") {
		t.Errorf("where git says nothing it is %+v, %v", before, err)
	}
	w.repository.unreadable, w.repository.remote = nil, []string{commit}
	must2(w.StartWaiting(t.Context(), id, false))(t)
	if got := w.task(id); got.Status != "pending" {
		t.Errorf("without a fetch it is %q", got.Status)
	}
	must2(w.StartWaiting(t.Context(), id, true))(t)
	moves := w.events(id, history.StatusChanged)
	if got := w.task(id); got.Status != "planning" || len(moves) != 1 || moves[0].Actor != task.ActorEngine ||
		!strings.Contains(moves[0].Reason, first) {
		t.Errorf("with the commit it is %+v by %+v", got, moves)
	}
}

func TestAWaitingTask_notesDeletionsAndQueuesForAFullPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository.project.PoolSize = 1
	first := w.create("first", false).Task.ID
	out, err := w.waiting("after", human, first)
	must(t, err)
	w.create("full", true)
	_, err = w.Delete(t.Context(), first, human)
	must(t, err)
	if got := w.task(out.Task.ID); !strings.Contains(got.Attention, "it was deleted") {
		t.Errorf("after the deletion it is %+v", got)
	}
	queued, err := w.Command(t.Context(), out.Task.ID, "spawn", human, "")
	must(t, err)
	if got := w.task(out.Task.ID); !queued.Queued || !got.Queued() || got.WaitsForTasks() {
		t.Errorf("a person's start with a full pool leaves it %+v", got)
	}
}

func TestAnAgent_cannotHaveATaskStartedByWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.create("first", false).Task.ID
	var refused *rejection.Rejection
	if _, err := w.waiting("after", worker, first); !errors.As(err, &refused) ||
		refused.Code != rejection.ActorDenied {
		t.Errorf("the answer is %v", err)
	}
}

// must2 fails the test where a call with an outcome failed.
func must2(_ record.Outcome, err error) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		must(t, err)
	}
}

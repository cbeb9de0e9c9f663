package fencing_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

var ada = task.Actor{Role: task.RoleHuman, Person: "Ada"}

func snapshot() record.Snapshot {
	return record.Snapshot{Task: task.Task{ID: "t1", Status: "working", Workspace: "coffee--1", Version: 3},
		Owed: []task.OwedHook{{ID: 7, Hook: task.Hook{Action: action.PushBranch}, State: task.HookFailed}}}
}

func TestLeave_endsAndKeepsBeforeTheTaskGoes(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	c, err := fencing.Leave(snapshot(), ada, " the big machine ", now)
	if err != nil {
		t.Fatal(err)
	}
	e := c.Events[0]
	if !slices.Equal(e.Hooks, []string{action.KillSession, action.ReleaseWorkspace}) || len(c.Hooks) != 2 ||
		c.Hooks[0].Action != action.KillSession || e.Person != "Ada" || e.Type != history.Updated ||
		e.Reason != "it leaves this home: the big machine" {
		t.Errorf("the event is %+v, its hooks %+v", e, c.Hooks)
	}
	if c.Expect != 3 || len(c.Settled) != 1 || c.Settled[0].ID != 7 || c.Settled[0].State != task.HookSuperseded {
		t.Errorf("of what it owed %+v is settled", c.Settled)
	}
	if c.Task.Status != "working" || !strings.Contains(c.Task.Attention, "orange task leave t1") {
		t.Errorf("the task is %+v", c.Task)
	}
}

func TestBegin_endsTheAgentsAndKeepsTheWorkspace(t *testing.T) {
	t.Parallel()
	one := snapshot()
	c, due, err := fencing.BeginLeave(one, ada, "the big machine", time.Time{})
	if err != nil || !due || len(c.Hooks) != 1 || c.Hooks[0].Action != action.KillSession || len(c.Settled) != 1 ||
		c.Events[0].Reason != "it is about to leave this home: the big machine" || len(c.Events[0].Data) > 0 {
		t.Fatalf("%v: %+v, %v", due, c, err)
	}
	one.Task = c.Task
	if _, due, err := fencing.BeginLeave(one, ada, "", time.Time{}); !due || err != nil {
		t.Errorf("it owes something and is ready: %v", err)
	}
	owed, first := one.Owed, snapshot()
	one.Owed, first.Owed = nil, nil
	if _, due, err := fencing.BeginLeave(first, ada, "", time.Time{}); !due || err != nil {
		t.Errorf("it never began: %v", err)
	}
	if c, due, err := fencing.BeginLeave(one, ada, "", time.Time{}); due || err != nil {
		t.Errorf("its agents end twice: %+v, %v", c, err)
	}
	one.Task.Session = "coffee/feat/a"
	if _, due, err := fencing.BeginLeave(one, ada, "", time.Time{}); !due || err != nil {
		t.Errorf("an agent that was started since does not end: %v", err)
	}
	one.Owed = owed
	if got := fencing.WhyAgentsLive(one); got != "push_branch is not done" {
		t.Errorf("got %q", got)
	}
}

func TestLeave_isForPeople(t *testing.T) {
	t.Parallel()
	for _, actor := range []task.Actor{{Role: task.RoleWorker}, {Rule: true}, {Role: task.RoleHuman, Rule: true}} {
		_, _, begun := fencing.BeginLeave(snapshot(), actor, "", time.Time{})
		_, err := fencing.Leave(snapshot(), actor, "", time.Time{})
		if refused, is := errors.AsType[*rejection.Rejection](begun); !is || refused.Code != rejection.ActorDenied {
			t.Errorf("%+v was told %v", actor, begun)
		}
		if refused, is := errors.AsType[*rejection.Rejection](err); !is || refused.Code != rejection.ActorDenied {
			t.Errorf("%+v was told %v", actor, err)
		}
	}
}

func TestUndone_isWhatHoldsTheTaskHere(t *testing.T) {
	t.Parallel()
	s := snapshot()
	s.Owed[0].Error = "no network"
	if got := fencing.LeftToEnd(s); got != "push_branch: no network" {
		t.Errorf("got %q", got)
	}
	s.Owed = nil
	if got := fencing.LeftToEnd(s); !strings.Contains(got, "coffee--1") {
		t.Errorf("got %q", got)
	}
	if s.Task.Workspace = ""; fencing.LeftToEnd(s) != "" {
		t.Errorf("got %q", fencing.LeftToEnd(s))
	}
}

func TestKept_areTheRefsOfSavedWork(t *testing.T) {
	t.Parallel()
	kept := fencing.RescueRefs([]history.Event{
		{Type: history.WorkRescued, Data: map[string]string{"ref": "refs/orange/rescue/t1/1"}},
		{Type: history.WorkRescued, Data: map[string]string{"taken_back": "core.hooksPath"}},
		{Type: history.Updated, Data: map[string]string{"ref": "other"}}})
	if !slices.Equal(kept, []string{"refs/orange/rescue/t1/1"}) {
		t.Errorf("kept are %v", kept)
	}
}

func TestWithoutBranch_marksATaskOnceThatCannotGoOnHere(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	one := task.Task{ID: "t1", Status: "working", QueuedFor: "working", Version: 3}
	c, due := fencing.WithoutBranch(one, "no branch", now)
	if !due || c.Expect != 3 || c.Task.Attention != "no branch" || c.Task.Status != "working" ||
		!c.Task.UpdatedAt.Equal(now) {
		t.Errorf("%v, %+v", due, c)
	}
	if c, due := fencing.WithoutBranch(c.Task, "no branch", now); due {
		t.Errorf("it is marked again: %+v", c)
	}
	one.Workspace = "coffee--1"
	if c, due := fencing.WithoutBranch(one, "no branch", now); due {
		t.Errorf("one that has a workspace is marked: %+v", c)
	}
}

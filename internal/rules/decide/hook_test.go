package decide_test

import (
	"errors"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// failedBefore is the mark of a task whose hook has failed.
const failedBefore = "hook push_branch: no route to host"

func TestHookEnded_thatSucceededIsDoneAndTakesItsMarkAway(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	one.Attention = failedBefore
	hook := owed(7, action.PushBranch)
	session, pushed := "shop/feat", "c0ffee"
	effect := record.Effect{Session: &session, Pushed: &pushed, PR: &record.PullRequest{URL: "u", State: record.PROpen},
		Lease: record.LeaseFree, EndSeats: []string{task.RoleWorker},
		Events: []history.Event{{Type: history.AgentStopped}}}
	s := record.Snapshot{Task: one, Owed: []task.OwedHook{hook}}
	c, is := decide.HookEnded(s, hook, effect, nil, noon)
	if !is || c.Task.Attention != "" || len(c.Settled) != 1 || c.Settled[0].State != task.HookDone {
		t.Errorf("owed %t, it leaves %+v and %+v", is, c.Task, c.Settled)
	}
	if c.Task.Session != session || c.Task.Pushed != pushed || c.Task.PRURL != "u" || c.Lease != record.LeaseFree ||
		!c.Task.UpdatedAt.Equal(noon) || c.Expect != one.Version || c.EndSeats[0] != task.RoleWorker {
		t.Errorf("what it did is lost: %+v", c)
	}
	if len(c.Events) != 1 || c.Events[0].Actor != task.ActorEngine || !c.Events[0].Time.Equal(noon) {
		t.Errorf("the history says %+v", c.Events)
	}
}

func TestHookEnded_keepsTheMarkWhileAnotherHookHasFailed(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	one.Attention = failedBefore
	hook, other := owed(7, action.PushBranch), owed(8, action.Notify)
	other.State = task.HookFailed
	s := record.Snapshot{Task: one, Owed: []task.OwedHook{hook, other}}
	if c, _ := decide.HookEnded(s, hook, record.Effect{}, nil, noon); c.Task.Attention != failedBefore {
		t.Errorf("the mark is %q", c.Task.Attention)
	}
	s.Task.Attention, s.Owed = "a person should look", []task.OwedHook{hook}
	if c, _ := decide.HookEnded(s, hook, record.Effect{}, nil, noon); c.Task.Attention != "a person should look" {
		t.Errorf("the mark of something else is %q", c.Task.Attention)
	}
}

func TestHookEnded_thatFailedIsTriedAgainLaterAndSaysSoOnce(t *testing.T) {
	t.Parallel()
	hook := owed(7, action.PushBranch)
	hook.Attempts = 1
	session := "shop/feat"
	effect := record.Effect{Session: &session, EndSeats: []string{task.RoleWorker}}
	s := record.Snapshot{Task: newTask("working"), Owed: []task.OwedHook{hook}}
	c, _ := decide.HookEnded(s, hook, effect, errors.New("no route to host"), noon)
	want := record.Settled{ID: 7, State: task.HookFailed, Error: "no route to host",
		NextTry: noon.Add(decide.BackOff(2))}
	if len(c.Settled) != 1 || c.Settled[0] != want || c.Task.Attention != failedBefore {
		t.Errorf("it is settled as %+v, and the mark is %q", c.Settled, c.Task.Attention)
	}
	if c.Task.Session != s.Task.Session || len(c.EndSeats) != 1 {
		t.Errorf("of a failed attempt only the ends of agents count: %+v", c)
	}
	if len(c.Events) != 1 || c.Events[0].Type != history.HookFailure || c.Events[0].Reason != "no route to host" {
		t.Errorf("the history says %+v", c.Events)
	}
	hook.Error = "no route to host"
	s.Owed[0] = hook
	if c, _ := decide.HookEnded(s, hook, effect, errors.New("no route to host"), noon); len(c.Events) != 0 {
		t.Errorf("the same failure is reported again: %+v", c.Events)
	}
}

func TestHookEnded_thatFailedWithoutATextHasFailed(t *testing.T) {
	t.Parallel()
	hook := owed(7, action.PushBranch)
	s := record.Snapshot{Task: newTask("working"), Owed: []task.OwedHook{hook}}
	if c, _ := decide.HookEnded(s, hook, record.Effect{}, errors.New(""), noon); c.Settled[0].State != task.HookFailed {
		t.Errorf("it is settled as %+v", c.Settled)
	}
}

func TestHookEnded_thatALaterStepHasDroppedSettlesNothing(t *testing.T) {
	t.Parallel()
	pushed := "c0ffee"
	s := record.Snapshot{Task: newTask("working")}
	for _, failure := range []error{nil, errors.New("no route to host")} {
		c, is := decide.HookEnded(s, owed(7, action.PushBranch), record.Effect{Pushed: &pushed}, failure, noon)
		if is || len(c.Settled) != 0 || c.Task.Attention != "" || (failure == nil) != (c.Task.Pushed == pushed) {
			t.Errorf("failure %v: owed %t, %+v", failure, is, c)
		}
	}
}

func TestExplains_isOfHooksThatStartOrEndAgents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{action.SpawnAgent: true, action.KillSession: true, "paint": true,
		action.Notify: false, action.Increment: false, action.PushBranch: false} {
		if got := decide.Explains([]task.OwedHook{owed(1, name)}); got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
	if decide.Explains(nil) {
		t.Error("nothing explains something")
	}
}

// Where the worktree is gone, an attempt to push ends the agents that sat in it.
func TestExplains_isOfAnAttemptThatWorksInTheWorktree(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{action.PushBranch: true, action.CreatePR: true, action.UpdatePR: true,
		action.Notify: false, action.SpawnNext: false, action.DeleteRemoteBranch: false} {
		h := owed(1, name)
		h.State, h.Began = task.HookFailed, noon
		if got := decide.Explains([]task.OwedHook{h}); got != want {
			t.Errorf("%s is under way: got %t, want %t", name, got, want)
		}
		if h.Began = (time.Time{}); decide.Explains([]task.OwedHook{h}) {
			t.Errorf("%s waits for its next try, and explains a death", name)
		}
	}
}

func TestStalled_marksOnceAndTakesTheMarkAwayOnce(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	since := noon.Add(-time.Hour)
	c, due := decide.Stalled(one, since, noon)
	if !due || !c.Task.StalledAt.Equal(since) || len(c.Events) != 1 || c.Events[0].Type != history.AgentStalled ||
		c.Events[0].Data["since"] != task.FormatTime(since) || c.Expect != one.Version {
		t.Errorf("due %t: %+v", due, c)
	}
	if _, again := decide.Stalled(c.Task, noon, noon); again {
		t.Error("a marked task is marked again")
	}
	c, due = decide.Stalled(c.Task, time.Time{}, noon)
	if !due || !c.Task.StalledAt.IsZero() || len(c.Events) != 0 {
		t.Errorf("due %t: %+v", due, c)
	}
	if _, again := decide.Stalled(c.Task, time.Time{}, noon); again {
		t.Error("the mark is taken away twice")
	}
}

func TestAgentOf_takesTheHooksHarnessAndTheRolesPermissions(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{Roles: []workflow.Role{
		{Named: workflow.Named{Name: "tester"}, Harness: "codex", Permissions: task.PermissionsReduced},
		{Named: workflow.Named{Name: task.RoleWorker}},
	}}
	for name, tt := range map[string]struct {
		role                 string
		hook                 task.Hook
		harness, permissions string
	}{
		"the role's": {"tester", task.Hook{Permissions: task.PermissionsFull}, "codex", task.PermissionsReduced},
		"the hook's": {"tester", task.Hook{Harness: "pi"}, "pi", task.PermissionsReduced},
		"the task's": {task.RoleWorker, task.Hook{Harness: task.HarnessTask, Permissions: task.PermissionsFull}, "",
			task.PermissionsFull},
		"the review's, as the role has it": {"tester", task.Hook{Harness: task.HarnessReview}, "codex",
			task.PermissionsReduced},
	} {
		if harness, permissions := decide.AgentOf(def, tt.role, tt.hook); harness != tt.harness ||
			permissions != tt.permissions {
			t.Errorf("%s: got %q and %q, want %q and %q", name, harness, permissions, tt.harness, tt.permissions)
		}
	}
}

package decide_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func TestRetry_isAPersonsActAndSetsBackWhatPeopleSetBack(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada"}
	one := newTask("agent-review")
	one.Counters = one.Counters.With("rereviews", 3).With(task.ReviewRound, 1)
	retry := func(actor task.Actor) record.Change {
		t.Helper()
		c, err := decide.Retry(def, record.Snapshot{Task: one, Owed: []task.OwedHook{
			owes(1, action.PushBranch, task.HookFailed), owes(2, action.SpawnAgent, task.HookPending),
			owes(3, action.Notify, task.HookFailed)}}, false, actor, noon)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := retry(ada)
	e := c.Events[0]
	if c.Task.Counters.Get("rereviews") != 0 || c.Task.Counters.Get(task.ReviewRound) != 1 ||
		!c.Task.UpdatedAt.Equal(noon) || c.Expect != one.Version {
		t.Errorf("it leaves %+v", c.Task)
	}
	if e.Type != history.HooksRetried || e.Person != "Ada" || e.Data["hook"] != "push_branch, notify" ||
		e.Counters.Get("rereviews") != 0 {
		t.Errorf("the history says %+v", e)
	}
	if c := retry(task.Actor{Role: task.RoleWorker}); c.Task.Counters.Get("rereviews") != 3 {
		t.Errorf("an agent set back %v", c.Task.Counters)
	}
	one.QueuedFor, one.UpdatedAt = "working", noon.Add(-time.Hour)
	if c := retry(ada); !c.Task.UpdatedAt.Equal(one.UpdatedAt) {
		t.Errorf("it lost its place among those that wait: %v", c.Task.UpdatedAt)
	}
}

func TestCrashes_areForgottenWithTheLastHookOfAMove(t *testing.T) {
	t.Parallel()
	move := history.Event{Type: history.StatusChanged, From: "planning", To: "working"}
	forced := history.Event{Type: history.AutoAdvanced, From: "working", To: "stuck", Data: map[string]string{
		history.DataCrash: "2"}}
	crash := history.Event{Type: history.AgentCrashed}
	spawned := history.Event{Type: history.AgentSpawned}
	for _, tt := range []struct {
		what   string
		events []history.Event
		owed   int
		count  int
		want   bool
	}{
		{"after a move", []history.Event{crash, move, spawned}, 0, 1, true},
		{"while the move still owes a hook", []history.Event{crash, move, spawned}, 1, 1, false},
		{"where nobody has crashed", []history.Event{move, spawned}, 0, 0, false},
		{"after a crash behind the move", []history.Event{move, crash, spawned}, 0, 1, false},
		{"after the move of too many crashes", []history.Event{crash, crash, forced, spawned}, 0, 2, false},
		{"after a move from there", []history.Event{crash, crash, forced, move}, 0, 2, true},
		{"before any move", []history.Event{crash, spawned}, 0, 1, false},
	} {
		one := newTask("working")
		one.Counters = one.Counters.With(task.ReviewRound, 1).With(task.CrashCount, tt.count)
		c, due := decide.ForgetCrashes(one, make([]task.OwedHook, tt.owed), tt.events, noon)
		if due != tt.want {
			t.Errorf("%s: due is %v, want %v", tt.what, due, tt.want)
		}
		if !due {
			continue
		}
		want := task.Counters{}.With(task.CrashCount, 0).With(task.ReviewRound, 1)
		e := c.Events[0]
		if len(c.Events) != 1 || e.Type != history.CrashesForgotten || !slices.Equal(e.Counters, want) ||
			!slices.Equal(c.Task.Counters, want) || c.Expect != one.Version {
			t.Errorf("%s: %+v", tt.what, c)
		}
	}
}

func TestFree_releasesOnceWhatAnEndedTaskStillHolds(t *testing.T) {
	t.Parallel()
	over := newTask("done")
	over.Live, over.Workspace = false, "garden--1"
	c, due := decide.Free(over, nil, noon)
	if !due || !slices.Equal(c.Events[0].Hooks, []string{action.KillSession, action.ReleaseWorkspace}) ||
		len(c.Hooks) != 2 {
		t.Errorf("one that holds a workspace: %v, %+v", due, c)
	}
	if _, due = decide.Free(over, make([]task.OwedHook, 1), noon); due {
		t.Error("one whose hooks may still do it is freed")
	}
	over.Workspace = ""
	if c, due = decide.Free(over, nil, noon); !due || !slices.Equal(c.Events[0].Hooks, []string{action.KillSession}) {
		t.Errorf("one without a workspace: %v, %+v", due, c)
	}
	over.Live = true
	if _, due = decide.Free(over, nil, noon); due {
		t.Error("one that lives is freed")
	}
}

func TestLanded_putsEachPartOfAMergeOnRecordOnce(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	pr := record.PullRequest{URL: "u", State: record.PRMerged, Merge: "c1"}
	human := task.Actor{Role: task.RoleHuman}
	told := []history.Event{{Type: history.Merged, Data: map[string]string{"url": "u"}}}
	elsewhere := []history.Event{{Type: history.Merged, Data: map[string]string{"commit": "c1"}}}
	for _, tt := range []struct {
		noted  bool
		events []history.Event
		want   string
	}{
		{false, nil, "pr.merged task.merged"}, {true, nil, "task.merged"}, {false, told, "pr.merged"},
		{true, told, ""}, {true, elsewhere, "task.merged"},
	} {
		var got []string
		for _, e := range decide.NoteMerged(def, newTask("reviewing"), pr, tt.noted, tt.events, human, noon).Events {
			got = append(got, e.Type)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("noted %v, told %v: %v, want %q", tt.noted, tt.events, got, tt.want)
		}
	}
}

// Defect: a notice that could not be sent kept the crashes of before a move counted, while the prover takes them as
// forgotten.
func TestForgetCrashes_waitsForNoHookThatHoldsUpNothing(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	one.Counters = one.Counters.With(task.CrashCount, 1)
	moved := []history.Event{{Type: history.StatusChanged, From: "planning", To: "working"}}
	for action, want := range map[string]bool{action.Notify: true, action.PushBranch: true, action.SpawnNext: true,
		action.SpawnAgent: false, action.KillSession: false} {
		if _, due := decide.ForgetCrashes(one, []task.OwedHook{owed(1, action)}, moved, noon); due != want {
			t.Errorf("while %s is owed, crashes are forgotten: %v, want %v", action, due, want)
		}
	}
}

func owes(id int64, name string, state task.HookState) task.OwedHook {
	return task.OwedHook{ID: id, Hook: task.Hook{Action: name}, State: state, Error: "no " + name}
}

func TestRetry_dropsWhatFailedAndNothingWaitsFor(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada"}
	one := newTask("reviewing")
	one.Counters = one.Counters.With("rereviews", 3)
	one.Attention = "hook push_branch: no push_branch"
	s := record.Snapshot{Task: one, Owed: []task.OwedHook{owes(1, action.PushBranch, task.HookFailed),
		owes(2, action.CreatePR, task.HookPending), owes(3, action.Notify, task.HookFailed)}}
	drop := func() record.Change {
		t.Helper()
		s.Task = one
		c, err := decide.Retry(def, s, true, ada, noon)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := drop()
	e := c.Events[0]
	if e.Type != history.HooksRetried || e.Person != "Ada" || e.Data["dropped"] == "" ||
		e.Data["hook"] != "push_branch, notify" || e.Counters.Get("rereviews") != 0 {
		t.Errorf("the history says %+v", e)
	}
	if c.Task.Attention != "" || len(c.Settled) != 2 || c.Settled[0].ID != 1 || c.Settled[1].ID != 3 ||
		c.Settled[0].State != task.HookSuperseded {
		t.Errorf("it leaves %q and %+v", c.Task.Attention, c.Settled)
	}
	s.Owed = append(s.Owed, owes(4, action.SpawnAgent, task.HookFailed))
	if c = drop(); c.Task.Attention != "hook spawn_agent: no spawn_agent" || len(c.Settled) != 2 {
		t.Errorf("with another one that failed it leaves %q and %+v", c.Task.Attention, c.Settled)
	}
	one.Attention = "its agent died"
	if c = drop(); c.Task.Attention != one.Attention {
		t.Errorf("another mark became %q", c.Task.Attention)
	}
}

func TestRetry_letsOnlyPeopleDropHooksThatConcernNoAgent(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	human := task.Actor{Role: task.RoleHuman}
	failed := owes(1, action.PushBranch, task.HookFailed)
	for _, c := range []struct {
		actor task.Actor
		owed  []task.OwedHook
		found string
	}{
		{task.Actor{Role: task.RoleWorker}, []task.OwedHook{failed}, `the role "worker"`},
		{human, nil, "none"},
		{human, []task.OwedHook{owes(1, action.PushBranch, task.HookPending)}, "none"},
		{human, []task.OwedHook{owes(1, action.SpawnAgent, task.HookFailed)}, "spawn_agent"},
		{human, []task.OwedHook{owes(1, action.ReleaseWorkspace, task.HookFailed)}, "release_workspace"},
		{human, []task.OwedHook{owes(1, "of a later program", task.HookFailed)}, "of a later program"},
	} {
		_, err := decide.Retry(def, record.Snapshot{Task: newTask("reviewing"), Owed: c.owed}, true, c.actor, noon)
		if no := refusal(t, err); no.Code != rejection.DropRefused || no.Details[0].Found != c.found {
			t.Errorf("the answer is %v, want one that found %q", err, c.found)
		}
	}
}

func TestOvertaken_areThePushesOfATaskThatIsOver(t *testing.T) {
	t.Parallel()
	owed := []task.OwedHook{owes(1, action.PushBranch, task.HookFailed), owes(2, action.CreatePR, task.HookPending),
		owes(3, action.Notify, task.HookFailed), owes(4, action.DeleteRemoteBranch, task.HookFailed)}
	if found := decide.Overtaken(owed, record.Change{Task: task.Task{Live: true}}); found != nil {
		t.Errorf("of a live task: %v", found)
	}
	if found := decide.Overtaken(owed, record.Change{}); !slices.Equal(found, []int64{1, 2}) {
		t.Errorf("of one that is over: %v", found)
	}
}

// A start that fails gives its workspace back, and nothing else of a failed attempt counts.
func TestHookEnded_ofAStartThatFailedGivesTheWorkspaceBack(t *testing.T) {
	t.Parallel()
	one := newTask("planning")
	one.Workspace = "garden--1"
	hook := task.OwedHook{ID: 7, Hook: task.Hook{Action: action.AcquireWorkspace}, State: task.HookPending}
	s := record.Snapshot{Task: one, Owed: []task.OwedHook{hook}}
	rescued := []history.Event{{Type: history.WorkRescued}}
	gave, owed := decide.HookEnded(s, hook, record.Effect{Lease: record.LeaseFree, Events: rescued,
		Session: new("x")}, errors.New("no network"), noon)
	if !owed || gave.Lease != record.LeaseFree || len(gave.Events) != 2 || gave.Task.Session != one.Session ||
		gave.Settled[0].State != task.HookFailed {
		t.Errorf("it is %+v", gave)
	}
	kept, _ := decide.HookEnded(s, hook, record.Effect{Events: rescued}, errors.New("no network"), noon)
	if kept.Lease != record.LeaseKeep || len(kept.Events) != 1 {
		t.Errorf("where it keeps its workspace: %+v", kept)
	}
}

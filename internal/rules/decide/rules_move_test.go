package decide_test

import (
	"slices"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestRequestPR_isForAPersonWithWorkToSend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		task  func(*task.Task)
		ahead bool
		actor task.Actor
		found string
	}{
		{"an agent", func(*task.Task) {}, true, task.Actor{Role: task.RoleWorker}, `the role "worker"`},
		{"a task that is over", func(one *task.Task) {
			one.Status, one.Live = "done", false
		}, true, human(), `one that is "done"`},
		{"nobody has worked", func(one *task.Task) {
			one.Workspace = ""
		}, true, human(), "none: no one has worked on the branch yet"},
		{"no commit", func(*task.Task) {}, false, human(), `none on "fix-login" that the default branch has not`},
	} {
		one := newTask("reviewing")
		c.task(&one)
		_, err := decide.RequestPR(defaultWorkflow(t), record.Snapshot{Task: one}, c.ahead, true, "github",
			c.actor, noon)
		if no := refusal(t, err); no.Code != rejection.PRRefused || no.Details[0].Found != c.found {
			t.Errorf("%s: %+v", c.name, no)
		}
	}
	_, err := decide.RequestPR(defaultWorkflow(t), record.Snapshot{Task: newTask("reviewing")}, true, false,
		"none", human(), noon)
	if no := refusal(t, err); no.Details[0].Condition != "a remote called origin" {
		t.Errorf("without an origin: %+v", no)
	}
	_, err = decide.RequestPR(defaultWorkflow(t), record.Snapshot{Task: newTask("reviewing")}, true, true,
		"none", human(), noon)
	if no := refusal(t, err); no.Details[0].Condition != "a program that opens pull requests there" {
		t.Errorf("with an origin elsewhere: %+v", no)
	}
	old := []task.OwedHook{owed(3, action.PushBranch), owed(4, action.CreatePR), owed(5, action.KillSession)}
	change, err := decide.RequestPR(defaultWorkflow(t), record.Snapshot{Task: newTask("reviewing"), Owed: old},
		true, true, "github", human(), noon)
	if err != nil || actionsOf(change.Hooks) != "push_branch; create_pr" || change.Task.Status != "reviewing" {
		t.Errorf("%v, %q in %s", err, actionsOf(change.Hooks), change.Task.Status)
	}
	var dropped []int64
	for _, s := range change.Settled {
		dropped = append(dropped, s.ID)
	}
	if !slices.Equal(dropped, []int64{3, 4}) {
		t.Errorf("dropped are %v", dropped)
	}
}

func TestPRMove_isTheWorkflowsWordForEachEnd(t *testing.T) {
	t.Parallel()
	def := tiny(nil)
	def.Moves = []workflow.Move{{Command: workflow.MovePRMerged, To: "help"},
		{Command: workflow.MovePRClosed, To: "lost"}}
	for state, want := range map[string]task.Status{record.PRMerged: "help", record.PRClosed: "lost",
		record.PROpen: ""} {
		if to, said := decide.PRMove(def, record.PullRequest{State: state}); to != want || said != (want != "") {
			t.Errorf("%s: %q, %v", state, to, said)
		}
	}
}

func TestPREnded_keepsAWaitingTasksPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	for queued, want := range map[task.Status]time.Time{"planning": noon.Add(-time.Hour), "": noon} {
		one := newTask("pending")
		one.QueuedFor, one.UpdatedAt = queued, noon.Add(-time.Hour)
		pr := record.PullRequest{State: record.PRMerged, URL: "x"}
		c := decide.PREnded(defaultWorkflow(t), one, evidence(""), pr, "the branch has more", noon)
		if got := c.Task.UpdatedAt; !got.Equal(want) {
			t.Errorf("queued for %q: %v", queued, got)
		}
	}
}

func TestMigrate_checksThePreviousStatusOnlyWhereRulesUseIt(t *testing.T) {
	t.Parallel()
	one := newTask("busy")
	one.Previous = "long-gone"
	for asks, want := range map[bool]bool{true: false, false: true} {
		edge := workflow.Transition{From: "busy", To: "help"}
		if asks {
			edge.CameFrom = []task.Status{"help"}
		}
		_, err := decide.Migrate(tiny([]workflow.Transition{edge}), one, nil, nil, decide.Evidence{}, human(), noon)
		if (err == nil) != want {
			t.Errorf("it asks %v: %v", asks, err)
		}
	}
}

func TestMigrate_leavesCountersThatTheTaskHas(t *testing.T) {
	t.Parallel()
	def := tiny(nil)
	def.Fields = []workflow.Field{{Named: workflow.Named{Name: "kept"}, Start: 2},
		{Named: workflow.Named{Name: "new"}, Start: 3}, {Named: workflow.Named{Name: "zero"}}}
	one := newTask("busy")
	one.Counters = task.Counters{}.With("kept", 7).With("zero", 4)
	c, err := decide.Migrate(def, one, nil, nil, decide.Evidence{}, human(), noon)
	if got := c.Task.Counters; err != nil || got.Get("kept") != 7 || got.Get("new") != 3 || got.Get("zero") != 4 {
		t.Errorf("%v, %v", err, got)
	}
}

func TestAMove_needsANonBlankReasonAndClearsTheMarks(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "busy", To: "help", Reason: true}})
	one := newTask("busy")
	one.StalledAt, one.Attention, one.Overdue = noon, "look", 80
	for reason, want := range map[string]bool{"": false, " \t\n": false, "because": true} {
		d, err := decide.Transition(def, one, decide.Evidence{}, task.Request{
			Task: "T1", To: "help", Actor: human(), Reason: reason}, noon)
		if d.Moved != want || !want && refusal(t, err).Code != rejection.ReasonMissing {
			t.Errorf("%q: %v", reason, err)
		}
		if got := d.Change.Task; want && (!got.StalledAt.IsZero() || got.Attention != "" || got.Overdue != 0) {
			t.Errorf("the marks stay: %+v", got)
		}
	}
}

func TestFailures_areKeptWhereTheStateBeginsAgain(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "busy", To: "busy"}, {From: "busy", To: "help"}})
	one := newTask("busy")
	one.Counters = one.Counters.With(task.Failures("busy"), 2)
	for to, want := range map[task.Status]int{"busy": 2, "help": 0} {
		d, err := decide.Transition(def, one, decide.Evidence{}, task.Request{Task: "T1", To: to, Actor: human()}, noon)
		if got := d.Change.Task.Counters.Failures("busy"); err != nil || got != want {
			t.Errorf("to %s: %v, %d", to, err, got)
		}
	}
}

func TestOverride_setsGuardsAsideAndSaysWhich(t *testing.T) {
	t.Parallel()
	never := []workflow.Guard{{Field: "calls", Op: ">", Value: 5}}
	def := tiny([]workflow.Transition{{From: "busy", To: "help", When: never, Override: true}})
	req := task.Request{Task: "T1", To: "help", Actor: human(), Reason: "it is late", Override: true}
	d, err := decide.Transition(def, newTask("busy"), decide.Evidence{}, req, noon)
	if err != nil || !d.Moved || d.Change.Events[0].Data[history.DataOverride] != "calls > 5: calls = 0" {
		t.Errorf("%v, %+v", err, d.Change.Events)
	}
}

func TestNeeds_ofDeathsAndEntriesIncludeThoseOfRules(t *testing.T) {
	t.Parallel()
	artifact := note(workflow.SinceEntry)
	def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{{File: "plan.json"}}}},
		workflow.Rule{Status: "busy", HasArtifact: &artifact, Then: "help"})
	parts := decide.NeedsOfDeath(def, newTask("busy"), deathOf("worker"))
	if len(parts) != 2 || parts[0].Section != "## Note" || parts[1].File != "plan.json" {
		t.Errorf("a death needs %+v", parts)
	}
	if parts = decide.NeedsOnEntry(def, "busy"); len(parts) != 1 || parts[0].Section != "## Note" {
		t.Errorf("an entry needs %+v", parts)
	}
}

func TestBack_isOnlyOverAnEdgeThatLeadsBack(t *testing.T) {
	t.Parallel()
	one := newTask("help")
	one.Previous = "busy"
	for leads, want := range map[bool]task.Status{true: "busy", false: ""} {
		edge := workflow.Transition{From: "help", To: "busy"}
		if leads {
			edge.CameFrom = []task.Status{"busy"}
		}
		to, err := decide.Back(tiny([]workflow.Transition{edge}), one, task.Request{
			Task: "T1", To: workflow.Previous, Actor: human()})
		if to != want || !leads && refusal(t, err).Code != rejection.IllegalTransition {
			t.Errorf("it leads back %v: %q, %v", leads, to, err)
		}
	}
}

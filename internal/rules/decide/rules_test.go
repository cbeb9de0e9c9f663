package decide_test

import (
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// tiny is a workflow that is made by hand, because the rules also judge what a file could not declare.
func tiny(edges []workflow.Transition, rules ...workflow.Rule) *workflow.Definition {
	return &workflow.Definition{
		Name: "tiny",
		States: []workflow.State{{Name: "todo"}, {Name: "busy", Role: "worker"}, {Name: "help"},
			{Name: "lost", Terminal: true}},
		Transitions: edges, Exit: workflow.Exit{Rules: rules},
	}
}

func note(since string) workflow.Part { return workflow.Part{Section: "## Note", Since: since} }

func TestExit_withoutARuleThatLeadsOnAsksForAPerson(t *testing.T) {
	t.Parallel()
	for name, def := range map[string]*workflow.Definition{
		"mark_dead": tiny(nil, workflow.Rule{Status: "busy", Action: workflow.ActionMarkDead}),
		"no rule":   tiny(nil),
	} {
		c := decide.Exit(def, newTask("busy"), evidence(""), deathOf("worker"), noon)
		if got := shape(c); got != "agent.stopped | busy crashes=0 | " ||
			!strings.Contains(c.Task.Attention, "orange task respawn T1") {
			t.Errorf("%s: it leads to %s with the mark %q", name, got, c.Task.Attention)
		}
	}
}

func TestExit_makesItsRulesMoveEvenIfOnlyPeopleMayAsk(t *testing.T) {
	t.Parallel()
	artifact := note("")
	def := tiny([]workflow.Transition{{From: "busy", To: "help", By: []string{task.RoleHuman}}},
		workflow.Rule{Status: "busy", HasArtifact: &artifact, Then: "help"})
	c := decide.Exit(def, newTask("busy"), evidence("## Note\nyes\n"), deathOf("worker"), noon)
	if got := shape(c); got != "agent.stopped, auto.advanced busy->help | help crashes=0 | " ||
		c.Events[1].Actor != task.ActorEngine {
		t.Errorf("it leads to %s, by %s", got, c.Events[len(c.Events)-1].Actor)
	}
}

func TestRuleTarget_isNowhereWhereNoArmHolds(t *testing.T) {
	t.Parallel()
	never := []workflow.Guard{{Field: "calls", Op: ">", Value: 5}}
	rule := workflow.Rule{Status: "busy", ThenWhen: []workflow.Branch{{When: never, Then: "help"}}}
	if to, found := decide.RuleTarget(tiny(nil), newTask("busy"), &rule); found {
		t.Errorf("found %q", to)
	}
	rule = workflow.Rule{Status: "busy", Then: "help"}
	if to, found := decide.RuleTarget(tiny(nil), newTask("busy"), &rule); !found || to != "help" {
		t.Errorf("found %q, %v", to, found)
	}
}

func TestExit_afterTooManyCrashesNotesOldEvidenceAndTheReason(t *testing.T) {
	t.Parallel()
	crash := workflow.Rule{Status: "busy", Action: workflow.ActionCrash, StuckAfter: 2, Then: "help"}
	def := tiny([]workflow.Transition{
		{From: "help", To: "busy", Gate: []workflow.Part{note(workflow.SinceEntry)}}}, crash)
	one := newTask("busy")
	one.Counters = one.Counters.With(task.CrashCount, 1)
	c := decide.Exit(def, one, evidence("## Note\nold\n"), deathOf("worker"), noon)
	if len(c.Entry) != 1 || c.Entry[0].Source != "## note" || !c.Entered {
		t.Errorf("what stands there is %+v", c.Entry)
	}
	if !strings.Contains(c.Task.Attention, "2 crashes in \"busy\"") {
		t.Errorf("the mark is %q", c.Task.Attention)
	}
	// A move without pending hooks forgets the crashes at once: not this one.
	crash.Then = "lost"
	def = tiny([]workflow.Transition{{From: "busy", To: "lost"}}, crash)
	def.Moves = []workflow.Move{{Command: workflow.MoveCancel, To: "lost"}}
	if got := shape(decide.Exit(def, one, evidence(""), deathOf("worker"),
		noon)); got != "agent.crashed, auto.advanced busy->lost | lost crashes=2 | " {
		t.Errorf("it leads to %s", got)
	}
}

func TestRespawns_takesTheWorkflowsWordAPromptAndAWorkspace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		respawn   string
		prompt    string
		workspace string
		want      bool
	}{
		{"all of it", workflow.RespawnAuto, "go on", "w1", true},
		{"without the word", "", "go on", "w1", false},
		{"without a prompt", workflow.RespawnAuto, "", "w1", false},
		{"without a workspace", workflow.RespawnAuto, "go on", "", false},
	} {
		def := tiny(nil)
		def.States[1].Respawn, def.States[1].RespawnPrompt.Name = c.respawn, c.prompt
		one := newTask("busy")
		one.Workspace = c.workspace
		if got := decide.Respawns(def, one); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		died := []history.Event{
			{Type: history.AgentCrashed, Time: noon, Data: map[string]string{
				"role": "worker", "ended": "exit status 1"}}}
		if _, wanted := decide.RespawnDue(def, one, died, noon); wanted != c.want {
			t.Errorf("%s: it is due: %v", c.name, wanted)
		}
	}
}

// A death has no effect once a later move has started another agent of the role, even if that start was dropped.
func TestRespawnDue_forgetsADeathOnceAMoveOwesAnotherAgent(t *testing.T) {
	t.Parallel()
	spawn := workflow.Hook{Hook: task.Hook{Action: action.SpawnAgent}}
	other := workflow.Hook{Hook: task.Hook{Action: action.SpawnAgent, Role: "auditor"}}
	def := tiny([]workflow.Transition{
		{From: "help", To: "busy", Hooks: []workflow.Hook{spawn}}, {From: "busy", To: "busy"},
		{From: "todo", To: "busy", Hooks: []workflow.Hook{other}},
	})
	def.States[1].Respawn, def.States[1].RespawnPrompt.Name = workflow.RespawnAuto, "go on"
	one := newTask("busy")
	one.Workspace = "w1"
	died := history.Event{Type: history.AgentCrashed, Time: noon, Data: map[string]string{
		"role": "worker", "ended": "exit status 1"}}
	move := func(from task.Status, hooks ...string) history.Event {
		return history.Event{Type: history.StatusChanged, From: from, To: "busy", Hooks: hooks, Time: noon}
	}
	for name, c := range map[string]struct {
		events []history.Event
		want   bool
	}{
		"a move that starts nobody":          {[]history.Event{died, move("busy")}, true},
		"a move that starts another role":    {[]history.Event{died, move("todo", action.SpawnAgent)}, true},
		"a move that starts one of the role": {[]history.Event{died, move("help", action.SpawnAgent)}, false},
		"one that was dropped by another one": {
			[]history.Event{died, move("help", action.SpawnAgent), move("busy")}, false},
		"of a workflow that had no such hook": {[]history.Event{died, move("help")}, true},
		"one that died afterwards":            {[]history.Event{move("help", action.SpawnAgent), died}, true},
	} {
		if _, wanted := decide.RespawnDue(def, one, c.events, noon); wanted != c.want {
			t.Errorf("%s: it is due: %v", name, wanted)
		}
	}
}

func TestSpawnTarget_isTheWorkflowsWordBeforeItsEdges(t *testing.T) {
	t.Parallel()
	spawn := []workflow.Hook{{Hook: task.Hook{Action: action.SpawnAgent}}}
	def := tiny([]workflow.Transition{{From: "todo", To: "lost"}, {From: "todo", To: "busy", Hooks: spawn},
		{From: "todo", To: "help"}})
	def.Initial = "todo"
	if to, err := decide.SpawnTarget(def, newTask("todo")); err != nil || to != "busy" {
		t.Errorf("by the edges: %q, %v", to, err)
	}
	def.Moves = []workflow.Move{{Command: workflow.MoveSpawn, To: "help"}}
	if to, err := decide.SpawnTarget(def, newTask("todo")); err != nil || to != "help" {
		t.Errorf("by its word: %q, %v", to, err)
	}
}

func TestInstructed_wantsAWordOfWhatToChange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": rejection.GateUnmet, "## Plan\nx\n": rejection.GateUnmet, "## Fix Instructions\n\n": rejection.GateUnmet,
		"## Fix Instructions\noil it\n": "",
	} {
		if err := evidence(text).Instructed(newTask("help"), "busy"); codeOf(err) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := (decide.Evidence{}).Instructed(newTask("help"), "busy"); codeOf(err) != rejection.GateUnmet {
		t.Errorf("without a document: %v", err)
	}
}

func TestStart_takesAReasonWhereTheWorkflowAsksForOne(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "todo", To: "busy", Reason: true, Hooks: []workflow.Hook{
		{Hook: task.Hook{Action: action.SpawnAgent}}}}})
	def.Initial = "todo"
	if err := decide.Start(def, newTask("todo"), human(), " "); codeOf(err) != rejection.ReasonMissing {
		t.Errorf("without a reason: %v", err)
	}
	if err := decide.Start(def, newTask("todo"), human(), "it is wanted"); err != nil {
		t.Errorf("with one: %v", err)
	}
	waits := newTask("todo")
	waits.After = []string{"T0"}
	if err := decide.Start(def, waits, human(), ""); err != nil {
		t.Errorf("where it waits for others: %v", err)
	}
}

func TestStart_isForThoseWhomTheWorkflowLetsAsk(t *testing.T) {
	t.Parallel()
	spawn := []workflow.Hook{{Hook: task.Hook{Action: action.SpawnAgent}}}
	def := tiny([]workflow.Transition{{From: "todo", To: "busy", By: []string{task.RoleHuman}, Hooks: spawn}})
	def.Initial = "todo"
	def.Births = []workflow.Birth{{To: "todo"}, {To: "busy", Hooks: spawn}}
	def.PlanFile = &def.Births[1]
	free := tiny([]workflow.Transition{{From: "todo", To: "busy", Hooks: spawn}})
	free.Initial = "todo"
	reserved := tiny([]workflow.Transition{{From: "todo", To: "busy", By: []string{task.RoleWorker}, Hooks: spawn}})
	reserved.Initial = "todo"
	if err := decide.Start(reserved, newTask("todo"), human(), ""); codeOf(err) != rejection.ActorDenied {
		t.Errorf("a person starts what only a worker may: %v", err)
	}
	agent := task.Actor{Role: task.RoleWorker}
	for name, c := range map[string]struct {
		who  task.Actor
		want string
	}{"a person": {human(), ""}, "an agent": {agent, rejection.ActorDenied}} {
		if err := decide.Start(def, newTask("todo"), c.who, ""); codeOf(err) != c.want {
			t.Errorf("%s starts it: %v", name, err)
		}
		if err := decide.Start(free, newTask("todo"), c.who, ""); codeOf(err) != c.want {
			t.Errorf("%s starts it where anyone may ask for the move: %v", name, err)
		}
		if _, err := decide.Create(def, task.Task{ID: "T1"}, "busy", c.who, noon); codeOf(err) != c.want {
			t.Errorf("%s makes one that is started by its birth: %v", name, err)
		}
		if _, err := decide.CreateFromPlan(def, task.Task{ID: "T1"}, c.who, noon); codeOf(err) != c.want {
			t.Errorf("%s makes one from a plan that is looked at at once: %v", name, err)
		}
		if _, err := decide.Create(def, task.Task{ID: "T1"}, "todo", c.who, noon); err != nil {
			t.Errorf("%s makes one that waits: %v", name, err)
		}
		if err := decide.Delete(newTask("busy"), c.who); codeOf(err) != c.want {
			t.Errorf("%s deletes one: %v", name, err)
		}
	}
}

func TestStart_refusesAWorkflowWithoutAWayToTheStart(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "busy", To: "todo"}})
	def.Initial, def.Moves = "todo", []workflow.Move{{Command: workflow.MoveSpawn, To: "busy"}}
	if err := decide.Start(def, newTask("todo"), human(), ""); codeOf(err) != rejection.IllegalTransition {
		t.Errorf("where no transition leads to the start it answers %v", err)
	}
}

func TestLeftAlone_isTrueWhereADroppedStartIsNotReplaced(t *testing.T) {
	t.Parallel()
	def := tiny(nil)
	spawn, tell := task.Hook{Action: action.SpawnAgent}, task.Hook{Action: action.NotifyWorker}
	for _, c := range []struct {
		name  string
		to    task.Status
		owed  task.Hook
		hooks []task.Hook
		over  bool
		want  bool
	}{
		{"the start is dropped", "busy", spawn, nil, false, true},
		{"so is the word to it", "busy", tell, nil, false, true},
		{"the step starts it itself", "busy", spawn, []task.Hook{spawn}, false, false},
		{"the step tells it", "busy", spawn, []task.Hook{tell}, false, false},
		{"nobody is needed there", "help", spawn, nil, false, false},
		{"the task is over", "busy", spawn, nil, true, false},
		{"it was another one's start", "busy", task.Hook{Action: action.SpawnReviewer}, nil, false, false},
	} {
		next := record.Change{Task: newTask(c.to), Hooks: c.hooks}
		next.Task.Live = !c.over
		got := decide.LeftAlone(def, []task.OwedHook{{ID: 3, Hook: c.owed}}, next)
		if (got != "") != c.want || c.want && !strings.Contains(got, "orange task respawn T1") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestAGate_asksToWaitWhereEvidenceIsPending(t *testing.T) {
	t.Parallel()
	part := workflow.Part{Check: "tests", Want: "mend the tests"}
	def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{part}}})
	for pending, want := range map[bool]string{true: "wait for it", false: "mend the tests"} {
		ev := decide.Evidence{
			Facts: map[string]decide.Fact{
				part.Key(): {Source: "check tests", Pending: pending, Found: "no result", Want: "wait for it"}}}
		_, err := decide.Transition(def, newTask("busy"), ev, task.Request{
			Task: "T1", To: "help", Actor: human()}, noon)
		if no := refusal(t, err); no.Code != rejection.GateUnmet || no.Details[0].Want != want {
			t.Errorf("pending %v: %+v", pending, no)
		}
	}
}

func TestAGate_onUnseenEvidenceIsNotMet(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{{File: "somewhere.json"}}}})
	_, err := decide.Transition(def, newTask("busy"), decide.Evidence{}, task.Request{
		Task: "T1", To: "help", Actor: human()}, noon)
	if no := refusal(t, err); no.Code != rejection.GateUnmet || no.Details[0].Found != "that no one has looked" {
		t.Errorf("%+v", no)
	}
}

func TestOldEvidenceCountsUnlessTheGateSaysSinceEntry(t *testing.T) {
	t.Parallel()
	req := task.Request{Task: "T1", To: "help", Actor: task.Actor{Role: task.RoleWorker}}
	ev := evidence("## Note\nold\n")
	for since, counts := range map[string]bool{"": true, workflow.SinceEntry: false} {
		def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{note(since)}}})
		first, err := decide.Transition(def, newTask("busy"), ev, req, noon)
		if err != nil {
			t.Fatalf("since %q: nothing stood there before, and it is refused: %v", since, err)
		}
		before := ev
		before.Entry = first.Change.Events[0].Evidence
		if _, err := decide.Transition(def, newTask("busy"), before, req, noon); counts != (err == nil) {
			t.Errorf("since %q: it counts: %t; the judge says %v", since, counts, err)
		}
	}
}

package decide_test

import (
	"errors"
	"slices"
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

// reviewed is a task under review in the first round.
func reviewed(rereviews int) task.Task {
	one := newTask("agent-review")
	one.Counters = task.Counters{}.With(task.ReviewRound, 1).With("rereviews", rereviews)
	one.Previous, one.Subject = "working", task.Subject{Commit: "first"}
	return one
}

// tipMoved is evidence after a new commit on the branch.
func tipMoved(body string) decide.Evidence {
	ev := withGit(evidence(body), true, false)
	ev.Subject = task.Subject{Commit: "second"}
	return ev
}

func TestUnmoved_refusesPassingVerdictsAndMergesButNoFailingVerdict(t *testing.T) {
	t.Parallel()
	for name, def := range shippedWorkflows(t) {
		for i := range def.Transitions {
			edge := &def.Transitions[i]
			verdicts := workflow.Verdicts(edge.Gate)
			fails := slices.ContainsFunc(verdicts, func(p workflow.Part) bool { return p.Verdict == "FAIL" })
			merge, _ := def.Move(workflow.MoveMerge)
			named := name == "default" || name == "classic" || name == "minimal"
			wants := slices.Contains([]string{
				"default agent-review->reviewing", "default reviewing->done", "phases review->test",
				"phases test->accept", "phases accept->done",
				"build quality_review->approved",
			}, name+" "+string(edge.From)+"->"+string(edge.To))
			if asks := workflow.Asks(edge.Gate, workflow.GitUnmoved); asks != wants || asks && fails {
				t.Errorf("%s: %s -> %s asks for unmoved: %v", name, edge.From, edge.To, asks)
			}
			if named && edge.Override != (edge.To == merge && wants) {
				t.Errorf("%s: %s -> %s can be overridden: %v", name, edge.From, edge.To, edge.Override)
			}
		}
	}
}

func TestCommitted_isRequiredOnWaysToReviewsAndMerges(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"default": {"reviewing->agent-review", "stuck->reviewing", "working->agent-review"},
		"classic": nil, // documents 000 and 002 ask nothing of git
		"minimal": nil,
		"phases":  {"accept->review", "codegen->review"},
		"build":   nil,
	} {
		var found []string
		for _, edge := range shippedWorkflow(t, name).Transitions {
			if workflow.Asks(edge.Gate, workflow.GitCommitted) {
				found = append(found, string(edge.From)+"->"+string(edge.To))
			}
		}
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("%s: found %q, want %q", name, found, want)
		}
	}
}

func TestExit_restartsTheReviewerThreeTimesWhereOnlyTheTipMoved(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string]string{"default": "increment spawn_reviewer",
		sessions: "increment spawn_agent"} {
		def := shippedWorkflow(t, name)
		for before := range 3 {
			one := reviewed(before)
			one.Counters = one.Counters.With(task.CrashCount, 1)
			c := decide.Exit(def, one, tipMoved(aPassText), deathOf("reviewer"), noon)
			if got := shape(c); got != "agent.stopped, auto.advanced agent-review->agent-review | "+
				"agent-review crashes=1 | "+hooks {
				t.Fatalf("%s, begun anew %d times: %s", name, before, got)
			}
			now := c.Task
			if now.Counters.Get("rereviews") != before+1 || now.Counters.Get(task.ReviewRound) != 1 ||
				now.Previous != "working" || now.Attention != "" {
				t.Errorf("%s, begun anew %d times: found %+v", name, before, now)
			}
			if now.Subject.Commit != "second" || c.Events[1].Subject.Commit != "second" || c.DeadHook != 4 ||
				!c.Entered {
				t.Errorf("%s: found %+v of hook %d, entered %v, want the present commit", name, now.Subject,
					c.DeadHook, c.Entered)
			}
			if reason := c.Events[1].Reason; !strings.Contains(reason,
				"about a commit that is not the tip any more") || c.Events[1].Actor != task.ActorEngine {
				t.Errorf("%s: it says %q, by %s", name, reason, c.Events[1].Actor)
			}
			if want := sectionEvidence(t, docOf(aPassText), "Review"); !slices.Contains(c.Entry, want) {
				t.Errorf("%s: the next reviewer's entry is %v, want the verdict that stands there", name, c.Entry)
			}
		}
		c := decide.Exit(def, reviewed(3), tipMoved(aPassText), deathOf("reviewer"), noon)
		if got := shape(c); got != "agent.crashed | agent-review crashes=1 | " ||
			!strings.Contains(c.Events[0].Reason, "git unmoved") {
			t.Errorf("%s, the fourth time: %s, because %q", name, got, c.Events[0].Reason)
		}
	}
}

func TestExit_thatMoreThanAMovedTipRefusesIsACrash(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	doc := docOf(aPassText)
	both := withGit(evidence(aPassText), true, true)
	lying := withGit(evidence(aPassText), false, true)
	spent := tipMoved(aPassText)
	spent.Spent = []task.Spent{spentSection(t, doc, "Review", 3)}
	blind := tipMoved(aPassText) // git answers to one question and not to the other
	blind.Facts[gitKey(workflow.GitMoved)] = gitFact(workflow.GitMoved, false)
	for what, ev := range map[string]decide.Evidence{
		"a moved tip, and files that differ": both, "files that differ": lying,
		"a moved tip, and an old verdict": spent, "a tip that nobody says has moved": blind,
		"a moved tip without a verdict": tipMoved(""),
	} {
		if got := shape(decide.Exit(def, reviewed(0), ev, deathOf("reviewer"),
			noon)); got != "agent.crashed | agent-review crashes=1 | " {
			t.Errorf("%s: %s", what, got)
		}
	}
	// If the workflow has no such transition, it is a crash too.
	phases := shippedWorkflow(t, "phases")
	ev := withGit(decide.Evidence{Facts: factsFor(phases, "review", "test")}, true, false)
	if c := decide.Exit(phases, newTask("review"), ev, deathOf("reviewer"),
		noon); shape(c) != "agent.crashed | review crashes=1 | " ||
		!strings.Contains(c.Events[0].Reason, "git unmoved") {
		t.Errorf("phases: %s, because %q", shape(c), c.Events[0].Reason)
	}
	// And an unmet guard is more than a moved tip.
	guarded := tiny([]workflow.Transition{
		{From: "busy", To: "help", When: []workflow.Guard{{Field: "calls", Op: ">", Value: 5}},
			Gate: []workflow.Part{{Git: workflow.GitUnmoved}}},
		{From: "busy", To: "busy", Gate: []workflow.Part{{Git: workflow.GitMoved}}},
	}, workflow.Rule{Status: "busy", HasArtifact: &workflow.Part{Section: "## Note"}, Then: "help"})
	if got := shape(decide.Exit(guarded, newTask("busy"), tipMoved("## Note\nyes\n"), deathOf("worker"),
		noon)); got != "agent.crashed | busy crashes=1 | " {
		t.Errorf("with a guard: %s", got)
	}
}

// A workflow may begin a status again and leave it to a person to start an agent.
func TestExit_callsAPersonWhereARestartedStatusHasNoAgent(t *testing.T) {
	t.Parallel()
	artifact := note("")
	def := tiny([]workflow.Transition{
		{From: "busy", To: "help", Gate: []workflow.Part{{Git: workflow.GitUnmoved}}},
		{From: "busy", To: "busy", Gate: []workflow.Part{{Git: workflow.GitMoved}}},
	}, workflow.Rule{Status: "busy", HasArtifact: &artifact, Then: "help"})
	c := decide.Exit(def, newTask("busy"), tipMoved("## Note\nyes\n"), deathOf("worker"), noon)
	if got := shape(c); got != "agent.stopped, auto.advanced busy->busy | busy crashes=0 | " ||
		!strings.Contains(c.Task.Attention, "orange task respawn T1") {
		t.Errorf("it leads to %s with the mark %q", got, c.Task.Attention)
	}
}

func TestExit_acceptsAPassOnlyFromAnAgentThatSucceeded(t *testing.T) {
	t.Parallel()
	ends := map[string]task.Ending{
		"by itself": {Known: true}, "failed": {Known: true, Status: 1}, "killed": {Known: true, Signal: 9},
		"without its terminal": {Known: true, HungUp: true},
		"nobody knows how":     {}, "nobody knows how, status 0": {Status: 0},
	}
	for how, ending := range ends {
		counts := how == "by itself"
		for name, status := range map[string]task.Status{"default": "agent-review", "classic": "agent-review",
			"build": "quality_review"} {
			def := shippedWorkflow(t, name)
			state, _ := def.State(status)
			for _, body := range []string{aPassText, aFailText} {
				death := deathOf(state.Role)
				death.Ending = ending
				c := decide.Exit(def, newTask(status), evidence(body), death, noon)
				counts := counts || body == aFailText // what refuses the work counts however its author ended
				if moved := c.Task.Status != status; moved != counts ||
					moved == (c.Task.Counters.Get(task.CrashCount) == 1) {
					t.Errorf("%s, %s, %q: %s", name, how, body, shape(c))
				}
				if !counts && !strings.Contains(c.Events[0].Reason,
					"a verdict counts only from an agent that ended by itself with status 0") {
					t.Errorf("%s, %s: it says %q", name, how, c.Events[0].Reason)
				}
			}
		}
		phases := shippedWorkflow(t, "phases")
		for _, way := range [][2]task.Status{{"plan_review", "codegen"}, {"plan_review", "planning"},
			{"review", "test"}, {"review", "codegen"}, {"test", "accept"}, {"test", "codegen"}} {
			state, _ := phases.State(way[0])
			death := deathOf(state.Role)
			death.Ending = ending
			c := decide.Exit(phases, newTask(way[0]), decide.Evidence{Facts: factsFor(phases, way[0], way[1])},
				death, noon)
			back := phases.Index(way[1]) < phases.Index(way[0]) // it refuses the work
			if moved := c.Task.Status == way[1]; moved != (counts || back) {
				t.Errorf("phases, %s, the files of %s: %s", how, way[1], shape(c))
			}
		}
		// It is the same if the rule looks for a note, and its move also for a verdict.
		artifact := note("")
		behind := tiny([]workflow.Transition{
			{From: "busy", To: "help", Gate: []workflow.Part{
				{Section: "## Review", Verdict: "PASS", VerdictIn: workflow.VerdictFirstLine}}}},
			workflow.Rule{Status: "busy", HasArtifact: &artifact, Then: "help"})
		by := deathOf("worker")
		by.Ending = ending
		if c := decide.Exit(behind, newTask("busy"), evidence("## Note\nyes\n\n"+aPassText), by,
			noon); (c.Task.Status == "help") != counts {
			t.Errorf("%s, with a verdict that only the move asks for: %s", how, shape(c))
		}
		// Evidence that is no verdict counts however its author ended.
		death := deathOf("worker")
		death.Ending = ending
		if c := decide.Exit(defaultWorkflow(t), newTask("working"), evidence(aHandoffText), death,
			noon); c.Task.Status != "agent-review" {
			t.Errorf("a handoff of a worker that ended %s: %s", how, shape(c))
		}
	}
}

func TestExit_withoutAnythingWrittenIsACrashDespiteStatus0(t *testing.T) {
	t.Parallel()
	for name, def := range shippedWorkflows(t) {
		for _, s := range def.States {
			judges := slices.ContainsFunc(def.Exit.Rules, func(r workflow.Rule) bool {
				return r.Status == s.Name && r.Action == workflow.ActionCrash
			})
			if !judges {
				continue
			}
			ev := still(decide.Evidence{Document: docOf(""), Facts: factsFor(def, s.Name, "")})
			c := decide.Exit(def, newTask(s.Name), ev, deathOf(s.Role), noon)
			if c.Events[0].Type != history.AgentCrashed || c.Task.Status != s.Name ||
				c.Task.Counters.Get(task.CrashCount) != 1 {
				t.Errorf("%s, %s: %s", name, s.Name, shape(c))
			}
		}
	}
}

// A reviewer passes the work and crashes; a new commit arrives; another reviewer starts, and ends with status 0 and
// without a verdict of its own.
func TestAVerdictFromBeforeTheAgentsStartDoesNotCount(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ev := evidence(aPassText)
	ev.Start = ev.VerdictsNow(def, "agent-review")
	if want := []task.Evidence{sectionEvidence(t, ev.Document, "Review")}; !slices.Equal(ev.Start, want) {
		t.Fatalf("the verdicts of that moment are %v, want %v", ev.Start, want)
	}
	c := decide.Exit(def, reviewed(0), ev, deathOf("reviewer"), noon)
	if got := shape(c); got != "agent.crashed | agent-review crashes=1 | " ||
		!strings.Contains(c.Events[0].Reason, "or when the last one was started") {
		t.Errorf("it leads to %s, because %q", got, c.Events[0].Reason)
	}
	for _, actor := range []task.Actor{{Role: task.RoleReviewer}, human()} {
		_, err := decide.Transition(def, reviewed(0), ev, task.Request{Task: "T1", To: "reviewing", Actor: actor}, noon)
		if no := refusal(t, err); no.Code != rejection.GateUnmet || no.Moved {
			t.Errorf("%s asks with an old verdict: %+v", actor.Role, no)
		}
	}
	anew := evidence(aPassText + "Reviewed: second, run 9\n") // two honest reviews are two texts
	anew.Start, anew.Entry = ev.Start, ev.Start
	if c := decide.Exit(def, reviewed(0), anew, deathOf("reviewer"), noon); c.Task.Status != "reviewing" {
		t.Errorf("a second review: %s", shape(c))
	}
	old := evidence(aPassText) // at the entry, with no agent started since
	old.Entry = ev.Start
	if c := decide.Exit(def, reviewed(0), old, deathOf("reviewer"), noon); c.Events[0].Type != history.AgentCrashed {
		t.Errorf("a verdict of before: %s", shape(c))
	}
	handoff := evidence(aHandoffText) // no verdict: a start does not make it old
	handoff.Start = []task.Evidence{sectionEvidence(t, handoff.Document, "Handoff")}
	if c := decide.Exit(def, newTask("working"), handoff, deathOf("worker"), noon); c.Task.Status != "agent-review" {
		t.Errorf("a handoff that stood there: %s", shape(c))
	}
}

// A verdict counts if it is newer than the entry, whether or not its author has said so.
func TestAVerdictCountsOnlyIfItIsNewerThanTheEntry(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]workflow.Part{
		"a section with a verdict": {Section: "## Review", Verdict: "PASS", VerdictIn: workflow.VerdictFirstLine},
		"a file that judges":       {File: "review.json", Judges: true},
	} {
		def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{part}},
			{From: "todo", To: "busy"}})
		ev := evidence(aPassText)
		ev.Facts[workflow.Part{File: "review.json"}.Key()] = decide.Fact{Holds: true, Source: "review.json",
			Digest: "1"}
		ask := func(ev decide.Evidence) string {
			_, err := decide.Transition(def, newTask("busy"), ev, task.Request{
				Task: "T1", To: "help", Actor: human()}, noon)
			return codeOf(err)
		}
		if got := ask(ev); got != "" {
			t.Errorf("%s: %q", name, got)
		}
		into, err := decide.Transition(def, newTask("todo"), ev, task.Request{
			Task: "T1", To: "busy", Actor: human()}, noon)
		if err != nil || len(into.Change.Entry) != 1 {
			t.Fatalf("%s: the entry notes %v (%v)", name, into.Change.Entry, err)
		}
		entered, started := ev, ev
		entered.Entry, started.Start = into.Change.Entry, ev.VerdictsNow(def, "busy")
		for what, old := range map[string]decide.Evidence{"entry": entered, "start": started} {
			if got := ask(old); got != rejection.GateUnmet {
				t.Errorf("%s, there at the %s: %q", name, what, got)
			}
		}
	}
}

func TestNeeds_ofADeathIncludeAMovedTipWhereThatLeadsOn(t *testing.T) {
	t.Parallel()
	asks := func(def *workflow.Definition, status task.Status) bool {
		state, _ := def.State(status)
		return slices.ContainsFunc(decide.NeedsOfDeath(def, newTask(status), deathOf(state.Role)),
			func(p workflow.Part) bool { return p.Git == workflow.GitMoved })
	}
	def := defaultWorkflow(t)
	for status, want := range map[task.Status]bool{"agent-review": true, "working": false, "planning": false} {
		if got := asks(def, status); got != want {
			t.Errorf("a death in %s asks: %v", status, got)
		}
	}
	if asks(shippedWorkflow(t, "phases"), "review") {
		t.Error("a death asks for a way on that is not there")
	}
	// Evidence that the next reviewer must not find is looked at too.
	parts := decide.NeedsOfDeath(tiny([]workflow.Transition{
		{From: "busy", To: "busy", Gate: []workflow.Part{{Git: workflow.GitMoved}}},
		{From: "busy", To: "lost", Gate: []workflow.Part{note(workflow.SinceEntry)}},
	}), newTask("busy"), deathOf("worker"))
	if len(parts) != 2 || parts[0].Git != workflow.GitMoved || parts[1].Section != "## Note" {
		t.Errorf("found %+v", parts)
	}
	if parts = decide.NeedsOfDeath(
		tiny([]workflow.Transition{{From: "busy", To: "busy", Gate: []workflow.Part{note("")}}}), newTask("busy"),
		deathOf("worker")); len(parts) > 0 {
		t.Errorf("found %+v for an edge that is no way on from a moved tip", parts)
	}
	verdict := workflow.Part{File: "review.json", Judges: true}
	rule := workflow.Part{Section: "## Review", Verdict: "PASS"}
	starts := decide.NeedsOnStart(
		tiny([]workflow.Transition{
			{From: "busy", To: "help", Gate: []workflow.Part{verdict, note(workflow.SinceEntry)}},
			{From: "help", To: "lost", Gate: []workflow.Part{verdict}}},
			workflow.Rule{Status: "busy", HasArtifact: &rule, Then: "help"}), "busy")
	if len(starts) != 2 || starts[0].File != "review.json" || starts[1].Section != "## Review" {
		t.Errorf("a start needs %+v, want the verdicts alone", starts)
	}
}

func TestTheWayOnIsClosedToWorkersCommandsAndUnmovedWork(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, c := range []struct {
		name    string
		ev      decide.Evidence
		actor   task.Actor
		command bool
		moved   bool
	}{
		{"the reviewer", tipMoved(""), task.Actor{Role: task.RoleReviewer}, false, true},
		{"a person", tipMoved(""), human(), false, true},
		{"a rule", tipMoved(""), task.Actor{Rule: true}, false, true},
		{"the worker", tipMoved(""), task.Actor{Role: task.RoleWorker}, false, false},
		{"a person for the worker", tipMoved(""), task.Actor{Role: task.RoleHuman, As: task.RoleWorker}, false, false},
		{"a command of the reviewer's", tipMoved(""), task.Actor{Role: task.RoleReviewer}, true, false},
		{"a command of a person's", tipMoved(""), human(), true, false},
		{"nothing moved", evidence(""), human(), false, false},
		{"files differ", withGit(evidence(""), false, true), human(), false, false},
		{"nobody has looked", decide.Evidence{}, human(), false, false},
	} {
		before := reviewed(2)
		d, err := decide.Transition(def, before, c.ev, task.Request{
			Task: "T1", To: "agent-review", Actor: c.actor, Command: c.command}, noon)
		if err != nil || d.Moved != c.moved {
			t.Errorf("%s: moved %v (%v)", c.name, d.Moved, err)
		}
		if !c.moved && (len(d.Change.Events)+len(d.Change.Hooks) > 0 ||
			!d.Change.Task.Counters.Equal(before.Counters)) {
			t.Errorf("%s: a success that does something: %+v", c.name, d.Change)
		}
	}
	// An edge to another status is refused like any other.
	away := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{{Git: workflow.GitMoved}}}})
	if _, err := decide.Transition(away, newTask("busy"), evidence(""), task.Request{
		Task: "T1", To: "help", Actor: human(), Command: true}, noon); codeOf(err) != rejection.GateUnmet {
		t.Errorf("an edge to another status: %v", err)
	}
	if d, err := decide.Transition(away, newTask("busy"), tipMoved(""), task.Request{
		Task: "T1", To: "help", Actor: human(), Command: true}, noon); err != nil || !d.Moved {
		t.Errorf("an edge to another status, after the tip has moved: %v", err)
	}
	// An edge to itself that asks for something else is for commands too.
	again := tiny([]workflow.Transition{{From: "busy", To: "busy"}})
	if d, err := decide.Transition(again, newTask("busy"), decide.Evidence{}, task.Request{
		Task: "T1", To: "busy", Actor: human(), Command: true}, noon); err != nil || !d.Moved {
		t.Errorf("an edge that asks for nothing: %v (%v)", d.Moved, err)
	}
}

func TestAPersonsActResetsOnlyTheCountersThatSaySo(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{
		{From: "busy", To: "help", When: []workflow.Guard{{Field: "anew", Op: "<", Value: 3}},
			Hooks: []workflow.Hook{{Hook: task.Hook{Action: action.Increment, Field: "anew"}}}},
	})
	def.Fields = []workflow.Field{{Named: workflow.Named{Name: "anew"}, Reset: workflow.ResetPerson},
		{Named: workflow.Named{Name: "kept"}}}
	def.States[1].RespawnPrompt.Name = "go on"
	def.Redo = []workflow.Named{{Name: "todo"}}
	one := newTask("busy")
	one.Counters = task.Counters{}.With("anew", 3).With("kept", 3)
	been := []history.Event{{Type: history.StatusChanged, To: "todo"}}
	move := func(actor task.Actor, before int) (record.Change, error) {
		t := one
		t.Counters = t.Counters.With("anew", before)
		d, err := decide.Transition(def, t, decide.Evidence{}, task.Request{Task: "T1", To: "help", Actor: actor}, noon)
		return d.Change, err
	}
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada"}
	for _, c := range []struct {
		name  string
		act   func() (record.Change, error)
		code  string
		count int
	}{
		{"a person's request", func() (record.Change, error) { return move(ada, 3) }, "", 0},
		{"a person's for a role", func() (record.Change, error) {
			return move(task.Actor{Role: task.RoleHuman, As: task.RoleReviewer}, 3)
		}, "", 0},
		{"an agent's", func() (record.Change, error) { return move(task.Actor{Role: task.RoleReviewer}, 2) }, "", 3},
		{"an agent's, too often", func() (record.Change, error) {
			return move(task.Actor{Role: task.RoleReviewer}, 3)
		}, rejection.GuardFailed, 0},
		{"a rule's", func() (record.Change, error) { return move(task.Actor{Rule: true}, 2) }, "", 3},
		{"a rule's, too often", func() (record.Change, error) {
			return move(task.Actor{Rule: true, Role: task.RoleHuman}, 3)
		}, rejection.GuardFailed, 0},
		{"a person's respawn", func() (record.Change, error) {
			return decide.Respawn(def, one, false, false, ada, noon)
		}, "", 0},
		{"a rule's respawn", func() (record.Change, error) {
			return decide.Respawn(def, one, false, false, task.Actor{Rule: true}, noon)
		}, "", 3},
		{"a redo", func() (record.Change, error) {
			return decide.Redo(def, one, "todo", decide.Evidence{}, been, ada, "anew", noon)
		}, "", 0},
		{"a person's retry", func() (record.Change, error) {
			return decide.Retry(def, record.Snapshot{Task: one}, false, ada, noon)
		}, "", 0},
		{"a person's change of a field", func() (record.Change, error) {
			return decide.Note(def, one, one, ada, history.Event{Type: history.Updated}), nil
		}, "", 0},
		{"a merge that a person begins", func() (record.Change, error) {
			return begun(decide.Note(def, one, one, ada, history.Event{Type: history.MergeBegun}))
		}, "", 3},
		{"a person's wait for a workspace", func() (record.Change, error) {
			return decide.Queue(def, one, "help", ada, noon), nil
		}, "", 0},
		{"a person's pull request", func() (record.Change, error) {
			return decide.RequestPR(def, record.Snapshot{Task: one}, true, true, "github", ada, noon)
		}, "", 0},
		{"a person who finds it merged", func() (record.Change, error) {
			return decide.NoteMerged(def, one, record.PullRequest{State: record.PRMerged}, false, nil, ada, noon), nil
		}, "", 0},
		{"a migration", func() (record.Change, error) {
			return decide.Migrate(def, one, nil, nil, decide.Evidence{}, ada, noon)
		}, "", 0},
	} {
		change, err := c.act()
		if codeOf(err) != c.code || err != nil && c.code == "" {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err != nil {
			continue
		}
		last := change.Events[len(change.Events)-1]
		if got := change.Task.Counters; got.Get("anew") != c.count || got.Get("kept") != 3 ||
			!last.Counters.Equal(got) {
			t.Errorf("%s: found %v, in the event %v, want anew = %d and kept = 3", c.name, got, last.Counters, c.count)
		}
	}
}

// begun is the begin of a merge, whose event has no counters: it changes none.
func begun(c record.Change) (record.Change, error) {
	if len(c.Events[0].Counters) > 0 {
		return c, errors.New("it has counters")
	}
	c.Events[0].Counters = c.Task.Counters
	return c, nil
}

func TestARefusalOffersAnOverrideOnlyToPeopleWhoHaveIt(t *testing.T) {
	t.Parallel()
	def, phases := defaultWorkflow(t), shippedWorkflow(t, "phases")
	nothing := decide.Evidence{Facts: factsFor(phases, "review", "")}
	for _, c := range []struct {
		name  string
		def   *workflow.Definition
		from  task.Status
		ev    decide.Evidence
		req   task.Request
		wants string
	}{
		{"a merge", def, "reviewing", tipMoved(""), task.Request{To: "done", Actor: human()},
			"orange task merge T1 --override REASON"},
		{"another edge that says so", phases, "review", nothing, task.Request{To: "test", Actor: human()},
			"orange task next T1 --override REASON --to test"},
		{"a person for the role that may", phases, "review", nothing, task.Request{
			To: "test", Actor: task.Actor{Role: task.RoleHuman, As: task.RoleReviewer}},
			"orange task next T1 --override REASON --to test"},
		{"a person for a role that may not", phases, "review", nothing, task.Request{
			To: "test", Actor: task.Actor{Role: task.RoleHuman, As: task.RoleWorker}}, ""},
		{"an agent", phases, "review", nothing, task.Request{
			To: "test", Actor: task.Actor{Role: task.RoleReviewer}}, ""},
		{"a rule", def, "reviewing", tipMoved(""), task.Request{To: "done", Actor: task.Actor{Rule: true}}, ""},
		{"an override without a reason", def, "reviewing", tipMoved(""), task.Request{
			To: "done", Actor: human(), Override: true}, ""},
		{"a verdict's own edge", def, "agent-review", tipMoved(aPassText), task.Request{
			To: "reviewing", Actor: human()}, ""},
		{"an edge that does not say so", phases, "accept", nothing, task.Request{To: "done", Actor: human()}, ""},
	} {
		c.req.Task = "T1"
		_, err := decide.Transition(c.def, newTask(c.from), c.ev, c.req, noon)
		no := refusal(t, err)
		if no.Override != c.wants ||
			strings.Contains(no.Error(), "you may make it all the same, and answer for it by name: "+c.wants) !=
				(c.wants != "") {
			t.Errorf("%s: found %q in\n%v", c.name, no.Override, no)
		}
	}
}

func TestARefusalReportsWhereOnlyAMovedTipIsTheReason(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ask := func(body string, moved, dirty bool, role string) bool {
		_, err := decide.Transition(def, reviewed(0), withGit(evidence(body), moved, dirty), task.Request{
			Task: "T1", To: "reviewing", Actor: task.Actor{Role: role}}, noon)
		return refusal(t, err).Moved
	}
	if !ask(aPassText, true, false, task.RoleReviewer) {
		t.Error("a moved tip alone is not told")
	}
	for what, told := range map[string]bool{
		"files that differ":       ask(aPassText, false, true, task.RoleReviewer),
		"both":                    ask(aPassText, true, true, task.RoleReviewer),
		"no verdict beside it":    ask("", true, false, task.RoleReviewer),
		"a role that may not ask": ask(aPassText, true, false, task.RoleWorker),
	} {
		if told {
			t.Errorf("%s is told to be a moved tip alone", what)
		}
	}
}

func TestARefusalNoticesAMovedTipInNestedParts(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{
		{From: "busy", To: "help", Gate: []workflow.Part{
			{All: []workflow.Part{note(""), {Git: workflow.GitUnmoved}}}}}})
	for body, want := range map[string]bool{"## Note\nyes\n": true, "": false} {
		_, err := decide.Transition(def, newTask("busy"), tipMoved(body), task.Request{
			Task: "T1", To: "help", Actor: human()}, noon)
		if no := refusal(t, err); no.Moved != want {
			t.Errorf("%q: %+v", body, no)
		}
	}
}

func TestARefusal_countsFilesAndOldVerdictsInPartsOfPartsToo(t *testing.T) {
	t.Parallel()
	committed, unmoved := workflow.Part{Git: workflow.GitCommitted}, workflow.Part{Git: workflow.GitUnmoved}
	verdict := workflow.Part{Section: "## Review", Verdict: "PASS"}
	for name, tt := range map[string]struct {
		part     workflow.Part
		files    int
		override bool
	}{
		"all of two":      {workflow.Part{All: []workflow.Part{committed, unmoved}}, 3, false},
		"one of two":      {workflow.Part{Any: []workflow.Part{committed, unmoved}}, 3, false},
		"or a note":       {workflow.Part{Any: []workflow.Part{committed, note("")}}, 0, false},
		"verdicts of old": {workflow.Part{All: []workflow.Part{verdict}}, 0, true},
	} {
		ev := evidence(aPassText)
		ev.Facts[gitKey(workflow.GitCommitted)] = decide.Fact{Found: "files", Files: 3}
		ev.Facts[gitKey(workflow.GitUnmoved)] = decide.Fact{Found: "files", Files: 2}
		ev.Start = []task.Evidence{sectionEvidence(t, ev.Document, "Review")}
		def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{tt.part}}})
		_, err := decide.Transition(def, newTask("busy"), ev,
			task.Request{Task: "T1", To: "help", Actor: human()}, noon)
		if no := refusal(t, err); no.Files != tt.files || (no.Override != "") != tt.override {
			t.Errorf("%s: %d files, the override %q", name, no.Files, no.Override)
		}
	}
}

// A counter that a person's request resets opens edges to the person that are closed to agents.
func TestWhy_showsAPersonsWayApartWhereTheirRequestResetsACounter(t *testing.T) {
	t.Parallel()
	ways := func(rereviews int, ev decide.Evidence) string {
		var out []string
		for _, w := range decide.Why(defaultWorkflow(t), reviewed(rereviews), ev) {
			if w.To == "agent-review" {
				out = append(out, waysIn([]decide.Option{w}))
			}
		}
		return strings.Join(out, "\n")
	}
	for rereviews, want := range map[int]string{
		2: "agent-review by reviewer human: true [rereviews < 3 holds at 2]",
		3: "agent-review by reviewer: false [rereviews < 3 does not hold at 3] {rereviews < 3}\nagent-review " +
			"by human: true [rereviews < 3 holds at 0]",
	} {
		if got := ways(rereviews, tipMoved("")); got != want {
			t.Errorf("begun anew %d times:\n%s\nwant\n%s", rereviews, got, want)
		}
	}
	def := tiny([]workflow.Transition{
		{From: "busy", To: "help", By: []string{task.RoleHuman}, When: []workflow.Guard{
			{Field: "anew", Op: "<", Value: 3}}}})
	def.Fields = []workflow.Field{{Named: workflow.Named{Name: "anew"}, Reset: workflow.ResetPerson}}
	one := newTask("busy")
	one.Counters = one.Counters.With("anew", 3)
	if got := waysIn(decide.Why(def, one, decide.Evidence{})); got !=
		"help by human: true [anew < 3 holds at 0] override" {
		t.Errorf("a person's own: %s", got)
	}
}

// A file that exists and cannot be read when the status begins, for example under a second name, may be an old
// verdict once it can be read again.
func TestAVerdictDoesNotCountWhereItsFileWasUnreadable(t *testing.T) {
	t.Parallel()
	part := workflow.Part{File: "review.json", Judges: true}
	def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{part}},
		{From: "todo", To: "busy"}})
	hidden, absent, there := evidence(""), evidence(""), evidence("")
	hidden.Facts[part.Key()] = decide.Fact{Source: "review.json", Found: "a hard link", Unread: true}
	absent.Facts[part.Key()] = decide.Fact{Source: "review.json", Found: "no such file"}
	there.Facts[part.Key()] = decide.Fact{Holds: true, Source: "review.json", Digest: "1"}
	entry := func(ev decide.Evidence) []task.Evidence {
		d, err := decide.Transition(def, newTask("todo"), ev, task.Request{
			Task: "T1", To: "busy", Actor: human()}, noon)
		if err != nil {
			t.Fatal(err)
		}
		return d.Change.Entry
	}
	for what, c := range map[string]struct {
		entry, start []task.Evidence
		want         string
	}{
		"not there":            {entry(absent), absent.VerdictsNow(def, "busy"), ""},
		"hidden at the entry":  {entry(hidden), nil, rejection.GateUnmet},
		"hidden at the start":  {nil, hidden.VerdictsNow(def, "busy"), rejection.GateUnmet},
		"nobody has looked":    {nil, nil, ""},
		"hidden at both times": {entry(hidden), hidden.VerdictsNow(def, "busy"), rejection.GateUnmet},
	} {
		now := there
		now.Entry, now.Start = c.entry, c.start
		_, err := decide.Transition(def, newTask("busy"), now, task.Request{
			Task: "T1", To: "help", Actor: human()}, noon)
		if got := codeOf(err); got != c.want {
			t.Errorf("%s: %q, want %q (%v)", what, got, c.want, err)
		}
	}
}

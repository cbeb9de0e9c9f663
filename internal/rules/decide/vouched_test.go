package decide_test

import (
	"cmp"
	"fmt"
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

// wayIn is one way into the state of a merge, by someone.
type wayIn struct {
	what   string
	change record.Change
	open   bool // a person may merge it without an override
}

// whoAsks is everyone who may bring a task somewhere, but the rules of the workflow.
func whoAsks(roles []string) map[string]task.Actor {
	all := map[string]task.Actor{
		"a person":       {Role: task.RoleHuman, Person: "Ada"},
		"a person as it": {Role: task.RoleHuman, As: task.RoleReviewer, Person: "Ada"},
		"a program":      program(workflow.Permissions()...),
	}
	for _, role := range roles {
		if role != task.RoleHuman {
			all[role] = task.Actor{Role: role}
		}
	}
	return all
}

// allThere is evidence that holds for every file and check of a workflow, next to a document.
func allThere(def *workflow.Definition, body string) decide.Evidence {
	ev := evidence(body)
	def.EachGate(func(gate []workflow.Part) {
		for _, p := range workflow.Leaves(gate) {
			if p.Section == "" && p.Git == "" {
				ev.Facts[p.Key()] = decide.Fact{Holds: true, Source: p.File, Digest: digestOf(p.File)}
			}
		}
	})
	return ev
}

// waysInto lists every way of a workflow into a state that decide grants, each by everyone to whom it does.
func waysInto(t *testing.T, def *workflow.Definition, into task.Status, verdicts bool) []wayIn {
	t.Helper()
	var ways []wayIn
	add := func(what string, c record.Change, err error, open bool) {
		if err == nil && c.Task.Status == into {
			ways = append(ways, wayIn{what, c, open})
		}
	}
	here := task.Subject{Commit: "first"}
	ev := allThere(def, "## Plan\nAPPROACH: a\nTOUCHING: b\n\n"+aHandoffText+"\n"+passed)
	ev.Subject = here
	roles := []string{task.RoleWorker, task.RoleReviewer}
	for who, actor := range whoAsks(roles) {
		person := strings.HasPrefix(who, "a person")
		c, err := decide.Create(def, task.Task{ID: "T1"}, into, actor, noon)
		add("created by "+who, c, err, person || !verdicts)
		for i := range def.Transitions {
			edge := &def.Transitions[i]
			verdict := len(workflow.Verdicts(edge.Gate)) > 0
			for _, override := range []bool{false, true} {
				d, err := decide.Transition(def, newTask(edge.From), ev, task.Request{Task: "T1", To: edge.To,
					Actor: actor, Reason: "so it is", Override: override}, noon)
				add(fmt.Sprintf("%s -> %s by %s, override %t", edge.From, edge.To, who, override), d.Change, err,
					person || !verdicts || verdict && !override)
			}
		}
		been := []history.Event{{Type: history.StatusChanged, To: into}}
		c, err = decide.Redo(def, newTask(into), into, ev, been, actor, "anew", noon)
		add("redone by "+who, c, err, person || !verdicts)
		other := newTask("elsewhere")
		c, err = decide.Migrate(def, other, nil, map[task.Status]task.Status{"elsewhere": into}, ev, actor, noon)
		add("under other rules by "+who, c, err, person || !verdicts)
		c, err = decide.Migrate(def, newTask(into), nil, nil, ev, actor, noon)
		add("under rules with the same name by "+who, c, err, person || !verdicts)
	}
	for _, s := range def.States {
		if s.Name == into {
			continue
		}
		one := newTask(s.Name)
		judged, _ := def.Edge(s.Name, into)
		verdict := judged != nil && len(workflow.Verdicts(judged.Gate)) > 0
		add("a death in "+string(s.Name), decide.Exit(def, one, ev, deathOf(s.Role), noon), nil, verdict || !verdicts)
		one.Counters = one.Counters.With(task.CrashCount, 9)
		add("crashes in "+string(s.Name), decide.Exit(def, one, evidenceAbout("", here), deathOf(s.Role), noon), nil,
			!verdicts)
		one.EnteredAt, one.Overdue = noon.Add(-1e15), task.LateAlert
		if late, due := decide.Timer(def, nil, one, noon); due {
			add("a timeout of "+string(s.Name), decide.Escalate(def, late, one, ev, noon), nil, !verdicts)
		}
	}
	adopted := newTask(into)
	adopted.Subject = task.Subject{By: "an earlier program", Unvouched: true}
	add("adopted", record.Change{Task: adopted}, nil, !verdicts)
	return ways
}

// loose is the default workflow with more ways into the state of its merge: for workers, for deaths, crashes and
// timeouts, and back to it.
func loose(t *testing.T) *workflow.Definition {
	t.Helper()
	text := string(read(t, "../../../workflows/default.yml"))
	for _, change := range [][2]string{
		{"  - from: working\n    to: stuck\n", "  - from: working\n    to: reviewing\n    by: [worker, human]\n\n" +
			"  - from: working\n    to: stuck\n"},
		{"    - status: planning\n      no_artifact: true\n      action: crash\n" +
			"      stuck_after: 2\n      then: stuck",
			"    - status: planning\n      no_artifact: true\n      action: crash\n      stuck_after: 2\n" +
				"      then: reviewing"},
		{"what a review found.\n    terminal: false\n", "what a review found.\n    terminal: false\n" +
			"    timeout: {after: 1h, then: reviewing}\n"},
		{"\ntransitions:\n", "\nredo: [reviewing]\n\ntransitions:\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("the default workflow has %q %d times", change[0], strings.Count(text, change[0]))
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	return parse(t, "loose.yml", []byte(text))
}

// verdictBefore is a history with a verdict that accepted the work.
func verdictBefore(def *workflow.Definition, about task.Subject) []history.Event {
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		if v := workflow.Verdicts(workflow.Certain(edge.Gate)); len(v) == 1 && v[0].Verdict == "PASS" {
			return []history.Event{{Type: history.StatusChanged, From: edge.From, To: edge.To, Subject: about}}
		}
	}
	return nil
}

func TestWaysIntoAMerge_needAVerdictOrAPerson(t *testing.T) {
	t.Parallel()
	rules := map[string]*workflow.Definition{"loose": loose(t)}
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		rules[name] = shippedWorkflow(t, name)
	}
	walked := map[string]int{}
	for name, def := range rules {
		merge, said := def.Move(workflow.MoveMerge)
		for i := range def.States {
			from := def.States[i].Name
			out, leads := def.Edge(from, merge)
			if !said || !leads {
				continue
			}
			for _, way := range waysInto(t, def, from, name != "minimal") {
				walked[name]++
				ask := task.Request{Task: "T1", To: merge, Actor: task.Actor{Role: task.RoleHuman, Person: "Ada"}}
				there := allThere(def, "")
				_, err := decide.Transition(def, way.change.Task, there, ask, noon)
				if open := err == nil; open != way.open {
					t.Errorf("%s, %s: a merge without override is open: %t (%v), want %t", name, way.what, open, err,
						way.open)
				}
				if way.open {
					continue
				}
				no := refusal(t, err)
				may := def.Overridable(out)
				if no.Code != rejection.GateUnmet || strings.Contains(no.Override, "--override") != may ||
					!strings.Contains(no.Details[0].Found, "no review passed") {
					t.Errorf("%s, %s: refused with %+v", name, way.what, no)
				}
				ask.Override, ask.Reason = true, "I read it"
				d, err := decide.Transition(def, way.change.Task, there, ask, noon)
				if def.Overridable(out) && (err != nil ||
					!strings.Contains(d.Change.Events[0].Data[history.DataOverride], "no review passed")) {
					t.Errorf("%s, %s: overridden, found %+v (%v)", name, way.what, d.Change.Events, err)
				}
				there.History, ask.Override = verdictBefore(def, way.change.Task.Subject), false
				_, err = decide.Transition(def, way.change.Task, there, ask, noon)
				if name != "phases" && err != nil { // there a file judges, and no one can say what it said
					t.Errorf("%s, %s: after an earlier verdict: %v", name, way.what, err)
				}
				ask.To, there.History = "cancelled", nil
				if _, err := decide.Transition(def, way.change.Task, there, ask, noon); err != nil {
					t.Errorf("%s, %s: given up: %v", name, way.what, err)
				}
			}
		}
	}
	for name, least := range map[string]int{"default": 9, "classic": 9, "minimal": 9, "loose": 14} {
		if walked[name] < least {
			t.Errorf("%s: walked %d ways, want at least %d", name, walked[name], least)
		}
	}
	t.Logf("walked %v ways", walked)
}

func TestCreate_onlyAPersonHasATaskBeginElsewhere(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for who, actor := range whoAsks([]string{task.RoleWorker, task.RoleReviewer}) {
		_, err := decide.Create(def, task.Task{ID: "T1"}, "reviewing", actor, noon)
		if strings.HasPrefix(who, "a person") {
			if err != nil {
				t.Errorf("%s: %v", who, err)
			}
		} else if no := refusal(t, err); no.Code != rejection.ActorDenied {
			t.Errorf("%s: refused with %+v", who, no)
		}
		if _, err := decide.Create(def, task.Task{ID: "T1"}, def.Initial, actor, noon); err != nil {
			t.Errorf("%s, in the first state: %v", who, err)
		}
		if in, _ := decide.FirstMove(def, task.New{Spawn: true, Actor: actor}); (in == "clarification") !=
			strings.HasPrefix(who, "a person") {
			t.Errorf("%s, without a summary: begins in %q", who, in)
		}
	}
}

func TestCreate_byAnAgentTakesNoWorkspaceAndOnlyItsShare(t *testing.T) {
	t.Parallel()
	def := *defaultWorkflow(t)
	def.Births = slices.Clone(def.Births)
	birth, _ := def.Birth(def.Initial)
	for i := range def.Births {
		if def.Births[i].To == def.Initial {
			birth.Hooks = []workflow.Hook{{Hook: task.Hook{Action: action.AcquireWorkspace}}}
			def.Births[i] = birth
		}
	}
	worker := task.Actor{Role: task.RoleWorker}
	if _, err := decide.Create(&def, task.Task{ID: "T1"}, def.Initial, human(), noon); err != nil {
		t.Errorf("a person: %v", err)
	}
	_, err := decide.Create(&def, task.Task{ID: "T1"}, def.Initial, worker, noon)
	if no := refusal(t, err); no.Code != rejection.ActorDenied {
		t.Errorf("a worker: refused with %+v", no)
	}
	for i := range def.Births {
		if def.Births[i].To == def.Initial {
			def.Births[i].Hooks = []workflow.Hook{{Hook: task.Hook{Action: action.SpawnAgent}}}
		}
	}
	_, err = decide.Create(&def, task.Task{ID: "T1"}, def.Initial, worker, noon)
	if no := refusal(t, err); no.Code != rejection.ActorDenied || !strings.Contains(no.Message, "started at once") {
		t.Errorf("a worker, with an agent: refused with %+v", no)
	}
	made := strings.Fields(strings.Repeat("T1 ", 20))
	for _, actor := range []task.Actor{human(), program()} {
		if err := decide.AnotherByAgent(actor, made); err != nil {
			t.Errorf("%+v: %v", actor, err)
		}
	}
	if err := decide.AnotherByAgent(worker, made[1:]); err != nil {
		t.Errorf("the twentieth: %v", err)
	}
	if no := refusal(t, decide.AnotherByAgent(worker, made)); no.Code != rejection.ActorDenied {
		t.Errorf("one more: refused with %+v", no)
	}
}

func TestAccepted_isAVerdictThatNothingElseReplaced(t *testing.T) {
	t.Parallel()
	def := loose(t)
	pass := history.Event{Type: history.StatusChanged, From: "agent-review", To: "reviewing",
		Subject: task.Subject{Commit: "c1"}}
	earlier := pass
	earlier.Subject.Commit = "c0"
	other := pass
	other.Subject.Tree = "of the same commit"
	over := pass
	over.Data = map[string]string{history.DataOverride: "all of it"}
	for name, tt := range map[string]struct {
		events []history.Event
		want   bool
	}{
		"nothing":                   {nil, false},
		"a verdict":                 {[]history.Event{{Type: history.Created}, pass, {Type: history.Merged}}, true},
		"an override":               {[]history.Event{over}, false},
		"a verdict on earlier work": {[]history.Event{earlier}, false},
		"a verdict on other files":  {[]history.Event{other}, false},
		"a crash": {[]history.Event{{Type: history.AutoAdvanced, From: "agent-review", To: "reviewing",
			Data: map[string]string{history.DataCrash: "2"}}}, false},
		"a redo": {[]history.Event{{Type: history.StatusChanged, From: "agent-review", To: "reviewing",
			Data: map[string]string{history.DataRedo: "reviewing"}}}, false},
		"a migration": {[]history.Event{{Type: history.WorkflowMigrated}, pass}, false},
		"a verdict after it": {[]history.Event{{Type: history.WorkflowMigrated}, {Type: history.Updated},
			pass}, true},
		"no move":       {[]history.Event{{Type: history.Updated, From: "agent-review", To: "reviewing"}}, false},
		"another move":  {[]history.Event{{Type: history.StatusChanged, From: "working", To: "reviewing"}}, false},
		"no such move":  {[]history.Event{{Type: history.StatusChanged, From: "pending", To: "done"}}, false},
		"a bad verdict": {[]history.Event{{Type: history.StatusChanged, From: "agent-review", To: "working"}}, false},
	} {
		for i := range tt.events {
			tt.events[i].Subject.Commit = cmp.Or(tt.events[i].Subject.Commit, "c1")
		}
		if got := decide.Accepted(def, tt.events, task.Subject{Commit: "c1"}); got != tt.want {
			t.Errorf("%s: found %t, want %t", name, got, tt.want)
		}
	}
	phases := shippedWorkflow(t, "phases")
	if decide.Accepted(phases, []history.Event{{Type: history.StatusChanged, From: "review", To: "codegen",
		Subject: task.Subject{Commit: "c1"}}}, task.Subject{Commit: "c1"}) {
		t.Error("a file that refused the work passed for one that accepted it")
	}
	both := *def
	both.Transitions = append(slices.Clone(def.Transitions), workflow.Transition{From: "agent-review", To: "reviewing"})
	if decide.Accepted(&both, []history.Event{pass}, task.Subject{Commit: "c1"}) {
		t.Error("a move that is there without a verdict too passed for one")
	}
}

// What an agent put up under rules without verdicts is open to no merge once other rules ask for one, and the other way
// round.
func TestUnvouched_isAskedOfTheRulesThatTheTaskHasNow(t *testing.T) {
	t.Parallel()
	minimal, reviewed := shippedWorkflow(t, "minimal"), defaultWorkflow(t)
	d, err := decide.Transition(minimal, newTask("working"), evidence(aHandoffText), task.Request{Task: "T1",
		To: "reviewing", Actor: task.Actor{Role: task.RoleWorker}}, noon)
	if err != nil {
		t.Fatal(err)
	}
	merge := task.Request{Task: "T1", To: "done", Actor: human()}
	if _, err := decide.Transition(minimal, d.Change.Task, evidence(""), merge, noon); err != nil {
		t.Errorf("without verdicts: %v", err)
	}
	c, err := decide.Migrate(reviewed, d.Change.Task, nil, nil, evidence(""), human(), noon)
	if err != nil {
		t.Fatal(err)
	}
	_, err = decide.Transition(reviewed, c.Task, evidence(""), merge, noon)
	if no := refusal(t, err); no.Code != rejection.GateUnmet {
		t.Errorf("with verdicts: refused with %+v", no)
	}
	c, err = decide.Migrate(minimal, c.Task, nil, nil, evidence(""), human(), noon)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decide.Transition(minimal, c.Task, evidence(""), merge, noon); err != nil {
		t.Errorf("without verdicts again: %v", err)
	}
}

func TestUnvouched_staysWhateverBeginsThere(t *testing.T) {
	t.Parallel()
	def := loose(t)
	one := newTask("reviewing")
	one.Subject = task.Subject{Commit: "first", By: "worker", Unvouched: true}
	if after, event := decide.Prepared(one, task.Subject{Commit: "second"}); !after.Subject.Unvouched ||
		!event.Subject.Unvouched {
		t.Errorf("with its workspace ready: found %+v", after.Subject)
	}
	def.States[def.Index("reviewing")].Role = task.RoleWorker
	after, _, is := decide.Began(def, one, task.RoleWorker, task.Start{Subject: task.Subject{Commit: "second"}})
	if !is || after.Subject != (task.Subject{Commit: "second", By: "worker", Unvouched: true}) {
		t.Errorf("with an agent there: found %+v", after.Subject)
	}
}

// A reviewer that was ended leaves its PASS: it moves the task for no one who only asks, and a person may take it.
func TestTheVerdictOfAnEndedReviewer_needsAPersonsOverride(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ev, death := evidence(aPassText), deathOf("reviewer")
	death.Ending = task.Ending{Known: true, Signal: 9}
	c := decide.Exit(def, newTask("agent-review"), ev, death, noon)
	left := sectionEvidence(t, ev.Document, "Review")
	if !c.Begun || !slices.Contains(c.Start, left) {
		t.Fatalf("its verdict is not noted as one that stood there: %v %v", c.Begun, c.Start)
	}
	ev.Start = c.Start
	ask := func(override bool, reason string) error {
		_, err := decide.Transition(def, newTask("agent-review"), ev, task.Request{Task: "T1", To: "reviewing",
			Actor: human(), Override: override, Reason: reason}, noon)
		return err
	}
	if no := refusal(t, ask(false, "")); no.Code != rejection.GateUnmet ||
		!strings.Contains(no.Error(), "orange task next T1 --override REASON --to reviewing") {
		t.Errorf("a person asks: %v", no)
	}
	if no := refusal(t, ask(true, " ")); no.Code != rejection.ReasonMissing {
		t.Errorf("without a reason: %v", no)
	}
	if err := ask(true, "I read it too"); err != nil {
		t.Errorf("with a reason: %v", err)
	}
	var shown bool
	for _, w := range decide.Why(def, newTask("agent-review"), ev) {
		shown = shown || w.To == "reviewing" && w.Override
	}
	if !shown {
		t.Error("why does not show that a person may")
	}
}

package decide_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// steps is a workflow that uses every key of the full schema that moves depend on.
const steps = `
name: steps
version: 3
roles: [boss]
fields: {asked: 0, budget: 5}
states:
  plan: {role: worker, respawn_prompt: go, folder: plan}
  build: {role: worker, respawn_prompt: go, folder: build}
  check: {role: reviewer, respawn_prompt: look}
  help: {role: boss, escalation: true, respawn_prompt: go}
  done: {terminal: true}
  dropped: {terminal: true}
plan_file: {state: plan, hooks: [{action: acquire_workspace}, {action: set_field, field: asked, value: 1}, {action: spawn_agent, prompt: go, role: boss}]}
redo: [plan, build]
transitions:
  - {from: plan, to: build, gate: {file: plan/plan.json, json: true, want: "a plan in JSON"}}
  - {from: plan, to: plan, gate: {section: "## Again"}}
  - {from: build, to: check, override: allowed, gate: {any: [{section: "## Handoff"}, {check: tests}]}}
  - {from: build, to: plan, when: asked > 0, gate: {section: "## Flaw", since: entry}}
  - {from: check, to: done, by: human, override: allowed, gate: {file: verdict.json, jq: .ok, fresh: true, since: entry}}
  - {from: check, to: build, on: failure, when: failures < 3, gate: {section: "## Review", verdict: FAIL}}
  - {from: check, to: help, on: failure, when: failures >= 3, gate: {section: "## Review", verdict: FAIL}}
  - {from: help, to: previous, by: boss, hooks: [{action: set_field, field: failures, value: 0}]}
  - {from: help, to: done, came_from: check, by: boss}
  - {from: "*", to: dropped, by: human, reason: required}
checks: {tests: {run: [make, test]}}
prompts: {go: Go., look: Look.}
`

func stepsWorkflow(tb testing.TB) *workflow.Definition {
	tb.Helper()
	return parse(tb, "steps.yml", []byte(steps))
}

// seen is evidence with a document and with facts that hold, by what the part names.
func seen(def *workflow.Definition, body string, facts map[string]string) decide.Evidence {
	ev := decide.Evidence{Document: docOf(body), Facts: map[string]decide.Fact{}}
	for i := range def.Transitions {
		for _, p := range workflow.Leaves(def.Transitions[i].Gate) {
			if p.Section != "" {
				continue
			}
			name := p.File + p.Check
			fact := decide.Fact{Source: name, Found: "nothing of the kind", Want: "make it"}
			if text, there := facts[name]; there {
				fact = decide.Fact{Source: name, Holds: true, Text: text, Digest: "digest of " + text}
			}
			ev.Facts[p.Key()] = fact
		}
	}
	return ev
}

func ask(def *workflow.Definition, t task.Task, ev decide.Evidence, req task.Request) (decide.Decision, string) {
	d, err := decide.Transition(def, t, ev, req, noon)
	return d, codeOf(err)
}

func codeOf(err error) string {
	var r *rejection.Rejection
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

func TestNext_isTheOneMoveThatTheEvidenceSupports(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	for name, tt := range map[string]struct {
		status task.Status
		body   string
		facts  map[string]string
		to     task.Status
		why    string
		code   string
		says   string
	}{
		"a file": {status: "plan", facts: map[string]string{"plan/plan.json": "{}"}, to: "build",
			why: "plan/plan.json"},
		"the way back": {status: "plan", body: "## Again\nbetter\n", to: "plan", why: "## again"},
		"both": {status: "plan", body: "## Again\nbetter\n", facts: map[string]string{
			"plan/plan.json": "{}"}, code: rejection.NoNext, says: "several moves are open"},
		"nothing": {status: "plan", code: rejection.NoNext, says: "to do: a plan in JSON"},
		"one of two ways": {status: "build", facts: map[string]string{"tests": "green"}, to: "check",
			why: "tests"},
		"a guard speaks against": {status: "build", body: "## Flaw\nbad\n", code: rejection.NoNext,
			says: `to "plan": asked > 0: found asked = 0`},
		"a final status": {status: "done", code: rejection.NoNext, says: "orange task redo T1 STATE"},
	} {
		to, why, err := decide.Next(def, newTask(tt.status), seen(def, tt.body, tt.facts), human(), "", noon)
		if to != tt.to || codeOf(err) != tt.code || !strings.Contains(why, tt.why) || err != nil &&
			!strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: found %q because %q (%v), want %q", name, to, why, err, tt.to)
		}
	}
}

func TestOverride_ignoresConditionsForAPersonWhoGivesAReason(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	tk := newTask("check")
	over := func(to task.Status, actor task.Actor, reason string) (decide.Decision, string) {
		return ask(def, tk, seen(def, "", nil), task.Request{To: to, Actor: actor, Reason: reason, Override: true})
	}
	if d, code := over("done", human(), "I saw it work"); code != "" ||
		!strings.Contains(d.Change.Events[0].Data[history.DataOverride], "verdict.json: nothing of the kind") ||
		d.Change.Events[0].Reason != "I saw it work" || len(d.Change.Spent) != 0 {
		t.Errorf("found %+v (%s), want the move, with what was ignored", d.Change, code)
	}
	if d, code := over("build", human(), "the wrong way"); code != "" || d.Change.Task.Status != "build" {
		t.Errorf("back: found %+v (%s), want the move: the edge is there", d.Change, code)
	}
	strict := *def
	strict.Strict = true
	req := task.Request{To: "build", Actor: human(), Reason: "because", Override: true}
	if _, code := ask(&strict, tk, seen(def, "", nil), req); code != rejection.OverrideDenied {
		t.Errorf("a verdict where the workflow is strict: found %q", code)
	}
	for code, try := range map[string]func() (decide.Decision, string){
		rejection.ReasonMissing: func() (decide.Decision, string) { return over("done", human(), " ") },
		rejection.ActorDenied: func() (decide.Decision, string) {
			return over("done", task.Actor{Role: task.RoleWorker}, "because")
		},
		rejection.IllegalTransition: func() (decide.Decision, string) { return over("plan", human(), "because") },
	} {
		if d, got := try(); got != code || d.Moved {
			t.Errorf("found %q, want %q", got, code)
		}
	}
	if to, err := decide.Overridable(def, tk, human()); to != "done" || err != nil {
		t.Errorf("found %q (%v), want done", to, err)
	}
	if _, err := decide.Overridable(def, newTask("plan"), human()); codeOf(err) != rejection.OverrideDenied {
		t.Errorf("found %v, want no move that may be overridden", err)
	}
}

func TestRedo_leadsOnlyToKnownAndEarlierStates(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	over := newTask("done")
	over.Live, over.Workspace = false, ""
	been := []history.Event{ // in plan and build, and by an escalation in help
		{Type: history.Created, Data: map[string]string{"status": "plan"}},
		{Type: history.StatusChanged, From: "plan", To: "build"},
	}
	young := newTask("help")
	for name, tt := range map[string]struct {
		task   task.Task
		to     task.Status
		actor  task.Actor
		hooks  string
		refuse string
	}{
		"back": {task: newTask("check"), to: "plan", actor: human(),
			hooks: "kill_session set_aside spawn_agent"},
		"the same": {task: newTask("build"), to: "build", actor: human(),
			hooks: "kill_session set_aside spawn_agent"},
		"opened again": {task: over, to: "build", actor: human(),
			hooks: "kill_session set_aside acquire_workspace spawn_agent"},
		"ahead":            {task: newTask("plan"), to: "build", actor: human(), refuse: "comes after"},
		"never there":      {task: young, to: "build", actor: human(), refuse: "has never been"},
		"unknown":          {task: newTask("check"), to: "coding", actor: human(), refuse: "no state of the workflow"},
		"not to be redone": {task: newTask("done"), to: "check", actor: human(), refuse: "choose one of: plan, build"},
		"an agent asks": {task: newTask("check"), to: "plan", actor: task.Actor{Role: task.RoleWorker},
			refuse: "have a person ask"},
	} {
		been := been
		if name == "never there" {
			been = been[:1]
		}
		c, err := decide.Redo(def, tt.task, tt.to, seen(def, "", nil), been, tt.actor, "anew", noon)
		if tt.refuse != "" {
			if codeOf(err) != rejection.RedoRefused || !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("%s: found %v, want a refusal with %q", name, err, tt.refuse)
			}
			continue
		}
		if err != nil || c.Task.Status != tt.to || !c.Task.Live ||
			strings.Join(c.Events[0].Hooks, " ") != tt.hooks || !c.Events[0].IsMove() {
			t.Errorf("%s: found %+v (%v)", name, c, err)
		}
	}
}

func TestFailures_countBeforeGuardsAndEndWithAMoveForward(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	ev := seen(def, "## Review\nFAIL\n", map[string]string{"verdict.json": "yes", "tests": "green"})
	tk := newTask("check")
	for want := 1; want <= 2; want++ { // the first two go back to build
		d, code := ask(def, tk, ev, task.Request{To: "build", Actor: human()})
		if code != "" || d.Change.Task.Counters.Failures("check") != want ||
			d.Change.Events[0].Data[history.DataFailure] == "" {
			t.Fatalf("failure %d: found %+v (%s)", want, d.Change, code)
		}
		back, code := ask(def, d.Change.Task, ev, task.Request{To: "check", Actor: human()})
		if code != "" || back.Change.Task.Counters.Failures("check") != want {
			t.Fatalf("the way through build forgot the failures: %+v (%s)", back.Change, code)
		}
		tk = back.Change.Task
	}
	if _, code := ask(def, tk, ev, task.Request{To: "build", Actor: human()}); code != rejection.GuardFailed {
		t.Errorf("the third failure: found %q, want a guard that holds it up", code)
	}
	d, code := ask(def, tk, ev, task.Request{To: "help", Actor: human()})
	if code != "" || d.Change.Task.Counters.Failures("check") != 3 || d.Change.Task.Previous != "check" {
		t.Fatalf("the third failure: found %+v (%s)", d.Change, code)
	}
	back, err := decide.Back(def, d.Change.Task, task.Request{})
	if err != nil {
		t.Fatal(err)
	}
	again, code := ask(def, d.Change.Task, ev, task.Request{To: back, Actor: task.Actor{Role: "boss"}})
	if code != "" || again.Change.Task.Status != "check" || again.Change.Task.Counters.Failures("check") != 0 {
		t.Errorf("back from help: found %+v (%s), want check without failures", again.Change, code)
	}
	passed, code := ask(def, tk, ev, task.Request{To: "done", Actor: human()})
	if code != "" || passed.Change.Task.Counters.Failures("check") != 0 {
		t.Errorf("forward: found %+v (%s), want no failures any more", passed.Change, code)
	}
}

func TestEdges_knowWhereTheTaskCameFrom(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	boss := task.Actor{Role: "boss"}
	for from, want := range map[task.Status][]task.Status{"check": {"check", "done"}, "build": nil, "": nil} {
		tk := newTask("help")
		tk.Previous = from
		if open := decide.MayAsk(def, tk, boss); !slices.Equal(open, want) {
			t.Errorf("from %q: found %v, want %v", from, open, want)
		}
	}
}

func TestReason_isAskedForWhereTheEdgeWantsOne(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	for _, from := range []task.Status{"plan", "build", "check", "help"} {
		if _, code := ask(def, newTask(from), seen(def, "", nil), task.Request{
			To: "dropped", Actor: human()}); code != rejection.ReasonMissing {
			t.Errorf("from %s: found %q, want a refusal for want of a reason", from, code)
		}
		if d, code := ask(def, newTask(from), seen(def, "", nil), task.Request{
			To: "dropped", Actor: human(), Reason: "no money"}); code != "" || d.Change.Task.Live {
			t.Errorf("from %s: found %q", from, code)
		}
	}
}

func TestFacts_areSpentAndMustBeNewWhereTheGateSaysSo(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	ev := seen(def, "", map[string]string{"verdict.json": "yes"})
	d, code := ask(def, newTask("check"), ev, task.Request{To: "done", Actor: human()})
	if code != "" || len(d.Change.Spent) != 1 || d.Change.Spent[0].Source != "verdict.json" {
		t.Fatalf("found %+v (%s)", d.Change, code)
	}
	if text, found := ev.Text(d.Change.Spent[0]); !found || text != "yes" {
		t.Errorf("the text behind the evidence is %q (%v)", text, found)
	}
	ev.Spent = []task.Spent{{Evidence: d.Change.Spent[0], Seq: 9}}
	done := task.Request{To: "done", Actor: human()}
	if _, code := ask(def, newTask("check"), ev, done); code != rejection.GateUnmet {
		t.Errorf("spent evidence: found %q", code)
	}
	into, code := ask(def, newTask("build"),
		seen(def, "", map[string]string{"verdict.json": "old", "tests": "green"}), task.Request{
			To: "check", Actor: human()})
	if code != "" || len(into.Change.Entry) != 1 || into.Change.Entry[0].Source != "verdict.json" {
		t.Fatalf("what was there at the entry: found %+v (%s)", into.Change.Entry, code)
	}
	old := seen(def, "", map[string]string{"verdict.json": "old"})
	old.Entry = into.Change.Entry
	if _, code := ask(def, newTask("check"), old, done); code != rejection.GateUnmet {
		t.Errorf("evidence of before the entry: found %q", code)
	}
}

func TestCreateFromPlan_beginsWhereTheWorkflowSays(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	c, err := decide.CreateFromPlan(def, task.Task{ID: "T1"}, human(), noon)
	if err != nil || c.Task.Status != "plan" || c.Task.Counters.Get("asked") != 1 ||
		c.Task.Counters.Get("budget") != 5 || len(c.Hooks) != 3 {
		t.Errorf("found %+v (%v)", c, err)
	}
	if _, err := decide.CreateFromPlan(defaultWorkflow(t), task.Task{ID: "T1"}, human(), noon); codeOf(
		err) != rejection.NoMove {
		t.Errorf("found %v, want a refusal: default has no entry for a plan file", err)
	}
}

func TestMigrate_wantsAStatusThatBothWorkflowsHave(t *testing.T) {
	t.Parallel()
	def := stepsWorkflow(t)
	tk := newTask("build")
	tk.Workflow = task.WorkflowRef{Name: "steps", Version: 2, Digest: "old"}
	c, err := decide.Migrate(def, tk, nil, nil, decide.Evidence{}, human(), noon)
	if err != nil || c.Task.Workflow.Digest != def.Digest || c.Task.Counters.Get("budget") != 5 ||
		c.Events[0].IsMove() {
		t.Errorf("found %+v (%v)", c, err)
	}
	if data := c.Events[0].Data; data["from_workflow"] != "steps" || data["from_version"] != "2" ||
		data["from"] != "old" || data["workflow"] != def.Name || data["version"] != strconv.Itoa(def.Version) ||
		data["to"] != def.Digest {
		t.Errorf("the event tells %v, want from which text and to which", data)
	}
	_, err = decide.Migrate(def, tk, nil, nil, decide.Evidence{}, task.Actor{Role: "worker"}, noon)
	if want := "from the rules steps 2 (old) to " + def.Ref().String(); err == nil ||
		!strings.Contains(err.Error(), "cannot move task "+tk.ID+" "+want) {
		t.Errorf("the refusal is %v, want the texts by their digests", err)
	}
	tk.Status, tk.Previous, tk.QueuedFor = "working", "working", "working"
	tk.Counters = tk.Counters.With(task.Failures("working"), 2)
	to := func(s task.Status) map[task.Status]task.Status { return map[task.Status]task.Status{"working": s} }
	c, err = decide.Migrate(def, tk, nil, to("build"), evidence(""), human(), noon)
	if err != nil || len(c.Events) != 2 || !c.Events[1].IsMove() || c.Events[1].From != "working" ||
		c.Task.Status != "build" ||
		c.Task.Previous != "build" || c.Task.QueuedFor != "build" || c.Task.Counters.Failures("build") != 2 ||
		c.Task.Counters.Failures("working") != 0 {
		t.Errorf("with another status: found %+v (%v)", c, err)
	}
	for name, try := range map[string]func() error{
		"unknown": func() error {
			_, err := decide.Migrate(def, tk, nil, to("working"), decide.Evidence{}, human(), noon)
			return err
		},
		"final": func() error {
			_, err := decide.Migrate(def, tk, nil, to("done"), decide.Evidence{}, human(), noon)
			return err
		},
		"hooks owed": func() error {
			_, err := decide.Migrate(def, tk, make([]task.OwedHook, 1), to("build"), decide.Evidence{}, human(), noon)
			return err
		},
		"by an agent": func() error {
			_, err := decide.Migrate(def, tk, nil, to("build"), decide.Evidence{}, task.Actor{Role: "worker"}, noon)
			return err
		},
	} {
		if code := codeOf(try()); code != rejection.MigrateRefused {
			t.Errorf("%s: found %q", name, code)
		}
	}
}

func TestNext_letsAPersonChooseWhereSeveralMovesNeedNothing(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "busy", To: "help"}, {From: "busy", To: "todo"}})
	to, _, err := decide.Next(def, newTask("busy"), evidence(""), human(), "", noon)
	if to != "" || codeOf(err) != rejection.NoNext || !strings.Contains(err.Error(), "--status help") ||
		!strings.Contains(err.Error(), "--status todo") {
		t.Errorf("found %q (%v), want the choice between help and todo", to, err)
	}
}

// A person who looks at finished work chooses whether to merge it or to have it reviewed again. If the branch has
// moved since, it cannot be merged.
func TestNext_letsAPersonChooseWhereGitAllowsSeveralMoves(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("reviewing")
	to, _, err := decide.Next(def, one, evidence(""), human(), "", noon)
	if to != "" || codeOf(err) != rejection.NoNext || !strings.Contains(err.Error(), "--status done") ||
		!strings.Contains(err.Error(), "--status agent-review") {
		t.Errorf("found %q (%v), want the choice between done and agent-review", to, err)
	}
	if to, why, err := decide.Next(def, one, withGit(evidence(""), true, false), human(), "",
		noon); to != "agent-review" || err != nil {
		t.Errorf("the branch has moved: found %q because %s (%v)", to, why, err)
	}
	// A review that is at work does not begin again because someone asks what is next.
	one.Status = "agent-review"
	if to, _, err := decide.Next(def, one, withGit(evidence(""), true, false), human(), "", noon); to != "" ||
		codeOf(err) != rejection.NoNext {
		t.Errorf("under review: found %q (%v)", to, err)
	}
}

// Defect: an edge from a status to itself noted what was there before, although Orange had not looked.
func TestNeeds_knowsWhatWasThereBeforeForEveryWayIntoAStatus(t *testing.T) {
	t.Parallel()
	def := parse(t, "again.yml", []byte(`
name: again
version: 1
states: {new: {}, check: {role: reviewer, respawn_prompt: go}, done: {terminal: true}}
transitions:
  - {from: new, to: check}
  - {from: check, to: check}
  - {from: check, to: done, gate: [{section: "## Review", since: entry}, {file: verdict.json, since: entry}]}
prompts: {go: Go.}
`))
	for _, from := range []task.Status{"new", "check"} {
		if parts := decide.Needs(def, newTask(from), "check"); len(parts) != 2 || !decide.NeedsDocument(parts) {
			t.Errorf("from %s: it looks at %v, want the section and the file", from, parts)
		}
	}
}

// Defect: next led out of planning without a plan, and back to work from a review that a person had not looked at.
func TestNext_takesNoUnconditionalMoveWhereAnotherNeedsEvidence(t *testing.T) {
	t.Parallel()
	for name, statuses := range map[string][]task.Status{
		"default": {"planning", "clarification", "working", "agent-review"}, "classic": {"working", "agent-review"}} {
		def := shippedWorkflow(t, name)
		for _, status := range statuses {
			to, _, err := decide.Next(def, newTask(status), evidence(""), human(), "", noon)
			if to != "" || codeOf(err) != rejection.NoNext || !strings.Contains(err.Error(), "no such section") {
				t.Errorf("%s, %s: found %q (%v), want a refusal that tells what is missing", name, status, to, err)
			}
		}
	}
}

func TestOverride_takesTheEdgeWhoseGuardsHold(t *testing.T) {
	t.Parallel()
	def := parse(t, "forked.yml", []byte(`
name: forked
version: 1
fields: {n: 0}
states: {work: {}, check: {}, done: {terminal: true}}
transitions:
  - {from: work, to: check, when: n < 3, override: allowed, gate: {section: "## A"}, hooks: [{action: set_field, field: n, value: 1}]}
  - {from: work, to: check, when: n >= 3, override: allowed, gate: {section: "## A"}, hooks: [{action: set_field, field: n, value: 9}]}
  - {from: check, to: done}
`))
	for n, want := range map[int]int{0: 1, 5: 9} {
		tk := newTask("work")
		tk.Counters = tk.Counters.With("n", n)
		d, code := ask(def, tk, evidence(""), task.Request{To: "check", Actor: human(), Reason: "so", Override: true})
		if code != "" || d.Change.Task.Counters.Get("n") != want {
			t.Errorf("at %d: found n = %d (%s), want %d", n, d.Change.Task.Counters.Get("n"), code, want)
		}
	}
}

// A request for the status that the task has means to do it again only if the workflow has an edge for that which
// asks for nothing.
func TestCanRestart_isThereWhereAnEdgeToItselfAsksForNothing(t *testing.T) {
	t.Parallel()
	of := func(name string) *workflow.Definition { return shippedWorkflow(t, name) }
	as := func(role string) task.Actor { return task.Actor{Role: role} }
	spent := newTask("planning")
	spent.Counters = spent.Counters.With("returns", mostReturns+1)
	failing := &workflow.Definition{States: []workflow.State{{Name: "plan"}}, Transitions: []workflow.Transition{
		{From: "plan", To: "plan", By: []string{task.RoleHuman}, Failure: true}}}
	for _, c := range []struct {
		name  string
		def   *workflow.Definition
		t     task.Task
		actor task.Actor
		want  bool
	}{
		{"a plan, by a person", of("phases"), newTask("planning"), human(), true},
		{"a plan that came back often", of("phases"), spent, human(), true},
		{"code, by a person", of("phases"), newTask("codegen"), human(), true},
		{"a plan, by the planner", of("phases"), newTask("planning"), as(task.RoleWorker), false},
		{"a phase that the workflow leads not to itself", of("phases"), newTask("test"), human(), false},
		{"a way that counts a failure", of("build"), newTask("planning"), human(), false},
		{"a way that counts a failure and asks for nothing", failing, task.Task{Status: "plan", Live: true}, human(),
			false},
		{"a way that asks for a section", stepsWorkflow(t), newTask("plan"), human(), false},
		{"a review whose branch may have moved", of("default"), newTask("agent-review"), human(), true},
		{"the same, by who may not", of("default"), newTask("agent-review"), as(task.RoleWorker), false},
	} {
		if got := decide.CanRestart(c.def, c.t, c.actor); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

package workflow_test

import (
	"fmt"
	"slices"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestExclude_isOfGatesThatNoEvidenceOpensAtOnce(t *testing.T) {
	t.Parallel()
	verdict := func(section, word, in string) workflow.Part {
		return workflow.Part{Section: section, Verdict: word, VerdictIn: in}
	}
	first, anywhere := workflow.VerdictFirstLine, workflow.VerdictAnywhere
	moved, unmoved := workflow.Part{Git: workflow.GitMoved}, workflow.Part{Git: workflow.GitUnmoved}
	clean := workflow.Part{Git: workflow.GitClean}
	pass := verdict("## Review", "PASS", first)
	tests := workflow.Part{Check: "tests", Result: workflow.CheckPassed}
	for name, c := range map[string]struct {
		a, b workflow.Part
		want bool
	}{
		"two verdicts of a section":  {pass, verdict("## review", "FAIL", first), true},
		"one verdict":                {pass, pass, false},
		"verdicts of two sections":   {pass, verdict("## Owner", "FAIL", first), false},
		"verdicts read in two ways":  {pass, verdict("## Review", "FAIL", anywhere), false},
		"a verdict and a text":       {pass, workflow.Part{Section: "## Review", VerdictIn: first}, false},
		"a text and a verdict":       {workflow.Part{Section: "## Review", VerdictIn: first}, pass, false},
		"a section and a check":      {pass, tests, false},
		"two results of a check":     {tests, workflow.Part{Check: "tests", Result: workflow.CheckFailed}, true},
		"one result":                 {tests, tests, false},
		"results of two checks":      {tests, workflow.Part{Check: "lint", Result: workflow.CheckFailed}, false},
		"moved and not":              {moved, unmoved, true},
		"not and moved":              {unmoved, moved, true},
		"twice moved":                {moved, moved, false},
		"twice not moved":            {unmoved, unmoved, false},
		"two words that go together": {moved, clean, false},
		"the same, the other way":    {clean, moved, false},
		"unmoved and clean":          {unmoved, clean, false},
		"clean and unmoved":          {clean, unmoved, false},
		"one that is only alternative": {pass, workflow.Part{Any: []workflow.Part{
			verdict("## Review", "FAIL", first), tests}}, false},
	} {
		if got := workflow.Exclude([]workflow.Part{c.a}, []workflow.Part{c.b}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestName_saysInShortWhatAPartAsksFor(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]workflow.Part{
		"plan.json": {File: "plan.json"}, "code/**": {Glob: "code/**"}, "tests": {Check: "tests"},
		workflow.GitClean: {Git: workflow.GitClean}, "what its rule asks for": {}, `"## Plan"`: {Section: "## Plan"},
	} {
		if got := p.Name(); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	entry, judged := workflow.Part{Since: workflow.SinceEntry}, workflow.Part{Judges: true}
	if !entry.IsSince() || !judged.IsSince() || (&workflow.Part{File: "x"}).IsSince() {
		t.Error("what has to be new is told from what need not be")
	}
}

func TestKey_tellsPartsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	parts := []workflow.Part{{File: "a"}, {File: "a", Empty: true}, {File: `a"`}, {File: `a\`}, {File: "a\n"},
		{Git: workflow.GitUntouched, Untouched: []string{"a"}},
		{Git: workflow.GitUntouched, Untouched: []string{"a", "b"}},
		{Git: workflow.GitUntouched, Untouched: []string{"a"}, Except: []string{"b"}}}
	for i, p := range parts {
		if at, twice := seen[p.Key()]; twice {
			t.Errorf("the parts %d and %d have the key %s", at, i, p.Key())
		}
		seen[p.Key()] = i
	}
}

// rested is a workflow in which agents start at a move and at a birth, and exit rules say what follows from a death.
const rested = `
name: rested
version: 1
override: strict
strict: true
promise: [check tests]
roles: {cto: {about: It decides.}}
states:
  todo: {about: It waits.}
  doing: {role: worker, respawn: auto, respawn_prompt: go}
  asked: {role: cto, respawn_prompt: go}
  read: {role: reviewer, respawn_prompt: go}
  ready: {}
  done: {terminal: true}
checks: {tests: {run: [make, test], scratch: true}}
create:
  todo: []
  read: [{action: acquire_workspace}, {action: spawn_reviewer, prompt: go, permissions: full}]
transitions:
  - {from: todo, to: doing, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: doing, to: asked, by: worker}
  - {from: asked, to: read, by: cto, gate: {section: "## Note"}}
  - {from: read, to: ready, by: reviewer, gate: {all: [{section: "## Review", verdict: PASS}, {check: tests}]}}
  - from: ready
    to: done
    by: human
    gate: {file: plan.json, required: true, want: write it}
  - {from: read, to: doing, by: human}
exit_monitoring:
  poll_interval: 7
  rules:
    - {status: doing, has_artifact: {section: "## Note"}, then: asked}
    - {status: doing, action: crash, stuck_after: 2, then: asked}
    - {status: asked, action: mark_dead}
prompts: {go: Go.}
`

func restedWorkflow(t *testing.T) *workflow.Definition {
	t.Helper()
	def, err := workflow.Parse("rested.yml", []byte(rested), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestAWorkflowIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	d := restedWorkflow(t)
	said := fmt.Sprintln(d.Strict, d.FindingsRefuse, len(d.Promise), d.Exit.PollInterval, d.Roles[0].About,
		d.States[0].About, d.States[1].Respawn, d.Checks[0].Scratch, d.Checks[0].Timeout,
		d.Transitions[4].Gate[0].Required, d.Transitions[4].Gate[0].Want, d.Transitions[4].Gate[0].Fresh,
		d.Transitions[2].Gate[0].Fresh)
	if want := "true true 1 7 It decides. It waits. auto true 600 true write it false true\n"; said != want {
		t.Errorf("found %swant %s", said, want)
	}
	plain := `{version: 1, states: {a: {}, b: {terminal: true}}, transitions: [{from: a, to: b}]}`
	named, err := workflow.Parse("some/where/own.yml", []byte(plain), usual(t))
	if err != nil || named.Name != "own" || named.Strict || named.FindingsRefuse ||
		named.Exit.PollInterval != workflow.DefaultPollInterval {
		t.Errorf("found %+v, %v", named, err)
	}
	for _, file := range []string{"own", ".yml"} {
		if named, err := workflow.Parse(file, []byte(plain), usual(t)); err == nil {
			t.Errorf("a file %q without a name is %q", file, named.Name)
		}
	}
}

func TestWaitsForPerson_isWhereNothingFollowsFromADeath(t *testing.T) {
	t.Parallel()
	d := restedWorkflow(t)
	for status, want := range map[task.Status][2]bool{"todo": {true, true}, "doing": {false, false},
		"asked": {true, true}, "read": {true, false}, "ready": {true, true}} {
		if got := [2]bool{d.Attended(status), d.WaitsForPerson(status)}; got != want {
			t.Errorf("%s: %v, want %v", status, got, want)
		}
	}
	if d.Index("todo") != 0 || d.Index("ready") != 4 || d.Index("nowhere") >= 0 {
		t.Errorf("the places are %d, %d and %d", d.Index("todo"), d.Index("ready"), d.Index("nowhere"))
	}
	arms := workflow.Rule{Then: "a", ThenWhen: []workflow.Branch{{Then: "b"}, {Then: "c"}}}
	if got := arms.LeadsTo(); !slices.Equal(got, []task.Status{"a", "b", "c"}) {
		t.Errorf("a rule leads to %q", got)
	}
	if got := (&workflow.Rule{}).LeadsTo(); len(got) > 0 {
		t.Errorf("a rule without a state leads to %q", got)
	}
}

func TestSpawns_isOfWhatStartsAnAgent(t *testing.T) {
	t.Parallel()
	d := restedWorkflow(t)
	if !d.Transitions[0].Spawns() || d.Transitions[1].Spawns() || d.Births[0].Spawns() || !d.Births[1].Spawns() {
		t.Error("a move or a birth starts what it does not, or the other way round")
	}
	at := d.Index("read")
	h, starts := d.StartIn(d.States[at])
	if !starts || h.Action != action.SpawnReviewer || h.Permissions != task.PermissionsFull {
		t.Errorf("what a birth starts there is %+v, %t", h, starts)
	}
	if h, starts := d.StartIn(workflow.State{Name: "x", Role: task.RoleHuman,
		RespawnPrompt: workflow.Named{Name: "go"}}); starts {
		t.Errorf("a person is started: %+v", h)
	}
}

func TestOverridable_isAllButAVerdictOfAStrictWorkflow(t *testing.T) {
	t.Parallel()
	strict := restedWorkflow(t)
	free := *strict
	free.Strict = false
	verdict, plain := &strict.Transitions[3], &strict.Transitions[4]
	allowed := *verdict
	allowed.Override = true
	if strict.Overridable(verdict) || !strict.Overridable(plain) || !strict.Overridable(&allowed) ||
		!free.Overridable(verdict) {
		t.Error("an override is allowed where it is not, or refused where it is a right")
	}
	if !strict.AsksVerdicts() {
		t.Error("a workflow with a verdict asks for none")
	}
	free.Transitions = free.Transitions[4:]
	if free.AsksVerdicts() {
		t.Error("a workflow without a verdict asks for one")
	}
	if want := []string{"verdict", "done", "cancel", "override"}; !slices.Equal(workflow.Permissions(), want) {
		t.Errorf("the permissions are %q", workflow.Permissions())
	}
}

func TestAWebhookIsAnAddressOfTheWeb(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{"https://example.com/x": true, "http://localhost:1/x": true,
		"ftp://example.com": false, "https:///x": false, "example.com": false, "http://[": false,
		"/etc/passwd": false} {
		text := fmt.Sprintf(`{version: 1, states: {a: {}, b: {terminal: true}}, transitions: [{from: a, to: b,
			hooks: [{action: notify, via: webhook, url: %q, message: done}]}]}`, url)
		if _, err := workflow.Parse("own.yml", []byte(text), usual(t)); (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestCommand_hasAReasonWhereTheMoveTakesOne(t *testing.T) {
	t.Parallel()
	for reason, want := range map[bool]string{false: "orange task update T --status b",
		true: "orange task update T --status b --reason TEXT"} {
		if got := (&workflow.Transition{Reason: reason}).Command("T", "b"); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

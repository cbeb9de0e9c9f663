package guarantee_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func parse(t *testing.T, text string) *workflow.Definition {
	t.Helper()
	usual, err := os.ReadFile("../../../workflows/usual.yml")
	if err != nil {
		t.Fatal(err)
	}
	more, err := workflow.ParseUsual("usual.yml", usual)
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse("one.yml", []byte(text), more)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// planned is a workflow in which a plan is judged, built and judged again, a check is met in one of two ways, and a
// person looks at what goes wrong.
const planned = `
name: planned
version: 1
promise: ["## Review PASS"]
states:
  plan: {role: worker, respawn_prompt: go}
  judge: {role: reviewer, respawn_prompt: go}
  build: {role: worker, respawn_prompt: go}
  review: {role: reviewer, respawn_prompt: go}
  ready: {}
  lost: {}
  done: {terminal: true, success: true}
  dropped: {terminal: true}
moves: {cancel: dropped}
checks: {tests: {run: [make, test]}, lint: {run: [make, lint]}}
transitions:
  - {from: plan, to: judge, by: worker, gate: {section: "## Plan"}}
  - {from: judge, to: build, by: reviewer, gate: {section: "## Check", verdict: PASS}}
  - {from: judge, to: plan, by: reviewer, gate: {section: "## Check", verdict: FAIL}}
  - {from: build, to: review, by: worker, gate: {any: [{all: [{check: tests}, {check: lint}]}, {check: lint}]}}
  - {from: review, to: ready, by: reviewer, gate: {all: [{section: "## Review", verdict: PASS}, {git: unmoved}]}}
  - {from: review, to: build, by: reviewer, gate: {section: "## Review", verdict: FAIL}}
  - {from: review, to: lost, by: human, gate: {check: tests, result: failed}}
  - {from: lost, to: ready, by: human, gate: {git: committed}}
  - {from: ready, to: done, by: human}
  - {from: "*", to: dropped, by: human}
prompts: {go: Go.}
`

func TestThings_areWhatWorkPasses(t *testing.T) {
	t.Parallel()
	def := parse(t, planned)
	names, verdicts := guarantee.Things(def)
	want := []string{`"## Check" PASS`, "check tests", "check lint", `"## Review" PASS`, "git committed", guarantee.Person}
	if !slices.Equal(names, want) || !verdicts[`"## Check" PASS`] || verdicts["check lint"] {
		t.Errorf("found %q, %v, want %q", names, verdicts, want)
	}
	needs := guarantee.Needs(def.Transitions[3].Gate)
	if got := slices.Sorted(maps.Keys(needs)); !slices.Equal(got, []string{"check lint"}) {
		t.Errorf("an alternative needs %q", got)
	}
	for edge, want := range map[int]string{2: `"## Check" PASS`, 6: "check tests", 1: ""} {
		if got := guarantee.Refuses(&workflow.Leaves(def.Transitions[edge].Gate)[0]); got != want {
			t.Errorf("transition %d refuses %q, want %q", edge, got, want)
		}
	}
	if is := guarantee.Needs(def.Transitions[4].Gate)[`"## Review" PASS`]; !is {
		t.Error("a review is no verdict")
	}
	lint := []workflow.Part{{Check: "lint"}}
	for _, alone := range []workflow.Part{{All: lint}, {Any: lint}} {
		if needs := guarantee.Needs([]workflow.Part{alone}); len(needs) != 1 {
			t.Errorf("%+v needs %v", alone, needs)
		}
	}
	again := strings.Replace(planned, "{from: lost, to: ready, by: human, gate: {git: committed}}",
		"{from: lost, to: ready, by: human, gate: {all: [{git: committed}, {check: lint}]}}", 1)
	if names, _ := guarantee.Things(parse(t, again)); slices.Index(names, "check lint") !=
		len(names)-1-slices.Index(reversed(names), "check lint") {
		t.Errorf("one that two transitions ask for is there twice: %q", names)
	}
}

func reversed(names []string) []string {
	out := slices.Clone(names)
	slices.Reverse(out)
	return out
}

func TestName_isWhatPeopleCallAPart(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]workflow.Part{
		`"## Review" PASS`:    {Section: "## Review", Verdict: "PASS"},
		"check lint":          {Check: "lint"},
		"git untouched a b/*": {Git: workflow.GitUntouched, Untouched: []string{"a", "b/*"}},
		"git committed":       {Git: workflow.GitCommitted},
		"plan.json":           {File: "plan.json"},
		"code/**":             {Glob: "code/**"},
	} {
		if got := guarantee.Name(&p); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

func TestShows_isAGateThatComparesTheWork(t *testing.T) {
	t.Parallel()
	def := parse(t, planned)
	asReviewed := []workflow.Part{{Git: workflow.GitAsReviewed}}
	if !guarantee.Shows(def.Transitions[4].Gate) || guarantee.Shows(def.Transitions[5].Gate) ||
		!guarantee.Shows(asReviewed) ||
		guarantee.Shows([]workflow.Part{{Git: workflow.GitCommitted}}) {
		t.Error("it does not go by what git is asked for")
	}
}

func TestCalled_isTheNameInTheTable(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{" ## Review PASS ": `"## Review" PASS`, "lint PASS": "lint PASS",
		"## Plan": "## Plan", " a person ": "a person"} {
		if got := guarantee.Called(line); got != want {
			t.Errorf("%q: found %q, want %q", line, got, want)
		}
	}
}

// The reviewer's move is a thing where no verdict says so, and it does not lead back; people count as two where the
// file wants that.
func TestBy_isWhoMakesTheMove(t *testing.T) {
	t.Parallel()
	plain := strings.NewReplacer(`by: reviewer, gate: {all: [{section: "## Review", verdict: PASS}, {git: unmoved}]}`,
		"by: [reviewer, human]", `by: reviewer, gate: {section: "## Review", verdict: FAIL}`, "by: reviewer",
		"by: reviewer, gate: {section: \"## Check\"", "by: cto, gate: {section: \"## Check\"",
		"{from: lost, to: ready, by: human", "{from: lost, to: ready, by: {human: {other_than: author}}",
	).Replace(planned)
	def := parse(t, strings.Replace(plain, "states:\n", "roles: [cto]\nstates:\n", 1))
	names, _ := guarantee.Things(def)
	if want := []string{guarantee.Person, guarantee.TwoPeople}; !slices.Equal(names[len(names)-2:], want) ||
		!slices.Contains(names, guarantee.Reviewer) {
		t.Errorf("found %q", names)
	}
	edge := func(from, to task.Status) *workflow.Transition {
		found, _ := def.Edge(from, to)
		return found
	}
	for _, tt := range []struct {
		from, to task.Status
		speaks   string
		person   bool
		want     string
	}{
		{"review", "ready", task.RoleReviewer, false, guarantee.Reviewer},
		{"review", "ready", task.RoleReviewer, true, guarantee.Reviewer + " " + guarantee.Person},
		{"review", "ready", task.RoleHuman, true, guarantee.Person},
		{"review", "build", task.RoleReviewer, false, ""},
		{"lost", "ready", task.RoleHuman, true, guarantee.Person + " " + guarantee.TwoPeople},
		{"lost", "ready", task.RoleHuman, false, ""},
		{"build", "review", task.RoleWorker, false, ""},
	} {
		if got := strings.Join(guarantee.By(def, edge(tt.from, tt.to), tt.speaks, tt.person), " "); got != tt.want {
			t.Errorf("%s to %s by %s: found %q, want %q", tt.from, tt.to, tt.speaks, got, tt.want)
		}
	}
	want := []string{"git committed", guarantee.TwoPeople}
	if got := guarantee.Gives(def, edge("lost", "ready")); !slices.Equal(got, want) {
		t.Errorf("it gives %q", got)
	}
	both := strings.Replace(plain, "by: [reviewer, human]", "by: [reviewer, worker]", 1)
	both = strings.Replace(both, "states:\n", "roles: [cto]\nstates:\n", 1)
	if names, _ := guarantee.Things(parse(t, both)); slices.Contains(names, guarantee.Reviewer) {
		t.Errorf("what the worker may do is a review: %q", names)
	}
	if names, _ := guarantee.Things(parse(t, planned)); slices.Contains(names, guarantee.Reviewer) {
		t.Errorf("a reviewer with a verdict is a thing besides it: %q", names)
	}
}

func TestSkipped_isWhatTheTransitionsThereAskFor(t *testing.T) {
	t.Parallel()
	def := parse(t, planned)
	for move, want := range map[[2]task.Status]string{
		{"review", "ready"}: `"## Review" PASS`,
		{"lost", "ready"}:   "git committed",
		{"build", "ready"}:  `"## Review" PASS; git committed`,
		{"build", "review"}: "check lint",
		{"review", "build"}: "",
		{"plan", "lost"}:    "",
	} {
		if got := strings.Join(guarantee.Skipped(def, move[0], move[1]), "; "); got != want {
			t.Errorf("from %s to %s: found %q, want %q", move[0], move[1], got, want)
		}
	}
}

func TestPlan_isAVerdictBeforeTheWorkThatAnotherJudges(t *testing.T) {
	t.Parallel()
	def := parse(t, planned)
	for verdict, want := range map[string]string{`"## Check" PASS`: "true [plan]", `"## Review" PASS`: "false []",
		"check lint": "false []"} {
		is, made := guarantee.Plan(def, verdict)
		if got := fmt.Sprint(is, made); got != want {
			t.Errorf("%s: found %s, want %s", verdict, got, want)
		}
	}
	compared := strings.Replace(planned, `gate: {section: "## Check", verdict: PASS}`,
		`gate: {all: [{section: "## Check", verdict: PASS}, {git: unmoved}]}`, 1)
	if is, _ := guarantee.Plan(parse(t, compared), `"## Check" PASS`); is {
		t.Error("a verdict on the work as it is passes for one on a plan")
	}
	checked := strings.Replace(planned, `gate: {section: "## Check", verdict: PASS}`,
		`gate: {all: [{section: "## Check", verdict: PASS}, {check: tests}]}`, 1)
	if is, _ := guarantee.Plan(parse(t, checked), "check tests"); is {
		t.Error("a check passes for a verdict on a plan")
	}
	byHand := strings.NewReplacer("build: {role: worker, respawn_prompt: go}", "build: {role: human}",
		"{from: build, to: review, by: worker", "{from: build, to: review, by: human").Replace(planned)
	if is, _ := guarantee.Plan(parse(t, byHand), `"## Check" PASS`); is {
		t.Error("a verdict before what a person does passes for one on a plan")
	}
	polished := strings.Replace(planned, `{all: [{section: "## Review", verdict: PASS}, {git: unmoved}]}`,
		`{section: "## Review", verdict: PASS}`, 1)
	polished = strings.Replace(polished, "  ready: {}", "  ready: {role: worker, respawn_prompt: go}", 1)
	if is, _ := guarantee.Plan(parse(t, polished), `"## Review" PASS`); is {
		t.Error("a verdict before work that no one judges passes for one on a plan")
	}
	again := strings.Replace(planned, "  - {from: review, to: lost",
		"  - {from: build, to: judge, by: worker, gate: {section: \"## More\"}}\n  - {from: review, to: lost", 1)
	if is, made := guarantee.Plan(parse(t, again), `"## Check" PASS`); !is || !slices.Equal(made, []task.Status{"plan"}) {
		t.Errorf("where the builder asks again it is one, %t, made in %q", is, made)
	}
}

func TestAuthors_areThoseBehindTheVerdicts(t *testing.T) {
	t.Parallel()
	more := strings.Replace(planned, "  done: {", "  help: {role: worker, respawn_prompt: go}\n  desk: {role: human}\n"+
		"  done: {", 1)
	def := parse(t, strings.Replace(more, "transitions:\n", "transitions:\n  - {from: help, to: review, by: worker}\n"+
		"  - {from: desk, to: review, by: human, gate: {section: \"## Note\"}}\n", 1))
	for judged, want := range map[task.Status]string{"judge": "plan", "review": "build", "ready": "build", "done": ""} {
		var got []string
		for _, s := range guarantee.Authors(def, judged) {
			got = append(got, string(s.Name))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %q, want %q", judged, got, want)
		}
	}
	twice := parse(t, strings.Replace(planned, "transitions:\n",
		"transitions:\n  - {from: build, to: judge, by: worker, gate: {section: \"## More\"}}\n"+
			"  - {from: judge, to: ready, by: reviewer, gate: {section: \"## Check\", verdict: PASS}}\n", 1))
	if got := guarantee.Authors(twice, "ready"); len(got) != 2 {
		t.Errorf("one that two verdicts are about is there twice: %+v", got)
	}
}

// move is an event with what versions of the work have passed.
func move(to task.Status, entries ...string) history.Event {
	return history.Event{Type: history.StatusChanged, To: to,
		Data: map[string]string{guarantee.DataPassed: strings.Join(entries, "\n")}}
}

func TestHad_isWhatThisVersionOfTheWorkHasPassed(t *testing.T) {
	t.Parallel()
	def := parse(t, planned)
	review := move("ready", `"## Review" PASS @c1`, "check lint @c1 t1", "check tests @c2")
	c1 := guarantee.Version{Commit: "c1"}
	made := move("build", `"## Check" PASS @c0`)
	for name, tt := range map[string]struct {
		events []history.Event
		now    []guarantee.Version
		want   string
	}{
		"the commit":     {[]history.Event{review}, []guarantee.Version{c1}, `["## Review" PASS check lint]`},
		"its files":      {[]history.Event{review}, []guarantee.Version{{"c1", "t1"}}, `["## Review" PASS check lint]`},
		"other files":    {[]history.Event{review}, []guarantee.Version{{"c1", "t2"}}, `["## Review" PASS]`},
		"another commit": {[]history.Event{review}, []guarantee.Version{{Commit: "c3"}}, "[]"},
		"either of two": {[]history.Event{review}, []guarantee.Version{{Commit: "c2"}, {"c1", "t1"}},
			`["## Review" PASS check lint check tests]`},
		"no move": {[]history.Event{{Type: history.Updated, Data: review.Data}}, []guarantee.Version{c1}, "[]"},
		"a plan":  {[]history.Event{made}, []guarantee.Version{{Commit: "c9"}}, `["## Check" PASS]`},
		"refused since": {[]history.Event{review, {Type: history.StatusChanged, To: "build",
			Data: map[string]string{guarantee.DataRefused: `"## Review" PASS @c1`}}}, []guarantee.Version{c1}, "[check lint]"},
		"refused in another version": {[]history.Event{review, {Type: history.StatusChanged, To: "build",
			Data: map[string]string{guarantee.DataRefused: `"## Review" PASS @c2`}}}, []guarantee.Version{c1},
			`["## Review" PASS check lint]`},
		"a plan that was refused": {[]history.Event{made, {Type: history.StatusChanged, To: "judge",
			Data: map[string]string{guarantee.DataRefused: `"## Check" PASS @c7`}}}, []guarantee.Version{c1}, "[]"},
		"committed since": {[]history.Event{review, {Type: history.StatusChanged, To: "done",
			Data: map[string]string{guarantee.DataSame: " @c9\n @c1 t1"}}}, []guarantee.Version{{Commit: "c9"}},
			`["## Review" PASS check lint]`},
		"others were committed since": {[]history.Event{review, {Type: history.StatusChanged, To: "done",
			Data: map[string]string{guarantee.DataSame: " @c8\n @c1 t1"}}}, []guarantee.Version{{Commit: "c9"}}, "[]"},
		"a plan that is made again": {[]history.Event{made, move("plan")}, []guarantee.Version{{Commit: "c0"}},
			"[]"},
	} {
		had := guarantee.Had(def, tt.events, tt.now...)
		if got := fmt.Sprint(slices.Sorted(maps.Keys(had))); got != tt.want {
			t.Errorf("%s: found %s, want %s", name, got, tt.want)
		}
	}
}

func TestWrite_hasALineForEachVersion(t *testing.T) {
	t.Parallel()
	one := guarantee.Version{Commit: "c1"}
	got := guarantee.Write("", "a person", one, one)
	got = guarantee.Write(got, `"## A @b" PASS`, one, guarantee.Version{"c2", "t"})
	want := "a person @c1\n\"## A @b\" PASS @c1\n\"## A @b\" PASS @c2 t"
	if got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	def := parse(t, strings.Replace(planned, `"## Review"`, `"## A @b"`, 1))
	if had := guarantee.Had(def, []history.Event{{Type: history.AutoAdvanced, To: "ready",
		Data: map[string]string{guarantee.DataPassed: got}}}, one); !had[`"## A @b" PASS`] || !had["a person"] {
		t.Errorf("read back: %v", had)
	}
}

func TestOwedBy_isWhatWorkflowProjectAndForceWant(t *testing.T) {
	t.Parallel()
	def := parse(t, planned)
	born := history.Event{Type: history.Created, Seq: 1}
	guarantee.Pin(&born, nil)
	if _, said := born.Data[guarantee.DataPromise]; said {
		t.Error("a task without a promise says one")
	}
	guarantee.Pin(&born, []string{"## Review PASS", "a person"})
	later := history.Event{Type: history.Updated, Seq: 2}
	guarantee.Pin(&later, []string{"check lint"})
	forced := move("ready")
	forced.Seq, forced.Data[guarantee.DataSkipped] = 3, "\"## Review\" PASS\ngit committed"
	told := func(events ...history.Event) string {
		var out []string
		for _, o := range guarantee.OwedBy(def, events) {
			out = append(out, fmt.Sprintf("%s, %s after %d", o.What, o.By, o.After))
		}
		return strings.Join(out, "; ")
	}
	const file = `"## Review" PASS, the workflow "planned" promises it after 0; `
	if got, want := told(born), file+"a person, its project promises it after 0"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	const force = ", event 3 moved the task by force past it after 3; "
	if got, want := told(born, later, forced), `"## Review" PASS`+force+"git committed"+force+
		"check lint, its project promises it after 0"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

func TestBroken_isWhatAFileLeadsAround(t *testing.T) {
	t.Parallel()
	const review = `"## Review" PASS`
	around := func(a guarantee.Around) []guarantee.GoodEnd {
		a.What = review
		return []guarantee.GoodEnd{{End: "done", Around: []guarantee.Around{a}}}
	}
	always := guarantee.GoodEnd{End: "done", Always: []string{review}}
	for name, tt := range map[string]struct {
		table []guarantee.GoodEnd
		want  string
	}{
		"on each way":   {[]guarantee.GoodEnd{always}, ""},
		"nothing known": {nil, ""},
		"a way around": {around(guarantee.Around{Way: "a -> b", Line: 7}),
			`a way to "done" leads around it: a -> b (line 7)`},
		"by an override": {around(guarantee.Around{By: guarantee.ByOverride}), ""},
		"merged":         {around(guarantee.Around{By: guarantee.ByMerge}), ""},
		"another thing's": {[]guarantee.GoodEnd{{End: "done", Around: []guarantee.Around{{What: "check lint"}}}},
			`no way to "done" has it`},
		"on no way":       {[]guarantee.GoodEnd{{End: "done"}}, `no way to "done" has it`},
		"on one end only": {[]guarantee.GoodEnd{always, {End: "shipped"}}, `no way to "shipped" has it`},
	} {
		got := ""
		for _, p := range guarantee.Broken(parse(t, planned), tt.table) {
			got += p.Message
		}
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: found %q, want %q", name, got, tt.want)
		}
	}
	word := parse(t, strings.Replace(planned, `["## Review PASS"]`, "a person", 1))
	if len(word.Promise) != 1 || guarantee.Called(word.Promise[0].Name) != guarantee.Person {
		t.Errorf("a single word promises %+v", word.Promise)
	}
	unknown := parse(t, strings.Replace(planned, "## Review PASS", "## Reviews PASS", 1))
	if got := guarantee.Broken(unknown, nil); len(got) != 1 || !strings.Contains(got[0].Message, "did you mean") {
		t.Errorf("of an unknown name: %v", got)
	}
}

func TestUnkept_isWhatNoWayOfAWorkflowHas(t *testing.T) {
	t.Parallel()
	table := []guarantee.GoodEnd{{End: "done", Always: []string{`"## Review" PASS`},
		Around: []guarantee.Around{{What: "check lint"}}}, {End: "shipped"}}
	got := guarantee.Unkept(parse(t, planned),
		[]string{"## Review PASS", "check lint", "check tests", "check all"}, table)
	if len(got) != 2 || !strings.Contains(got[0], `"check tests", and no way to a good end has it`) ||
		!strings.Contains(got[1], `"check all", and no transition asks for it`) {
		t.Errorf("found %q", got)
	}
}

package decide_test

import (
	"errors"
	"reflect"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	ledger "orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func TestAnAcceptedMoveIsOneChangeWithEverythingInIt(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	tk := newTask("working")
	tk.Previous, tk.Attention, tk.QueuedFor = "planning", "a hook failed", "agent-review"
	doc := docOf("## Notes\nx\n## Plan\nAPPROACH: a\n## Handoff\nDONE: b\n## Review\nVerdict: FAIL\n")
	handoff, review := sectionEvidence(t, doc, "Handoff"), sectionEvidence(t, doc, "Review")
	req := task.Request{Task: tk.ID, To: "agent-review", Reason: "done at last", Actor: task.Actor{
		Role: task.RoleHuman, As: task.RoleWorker, Person: "Ada <ada@example.com>"}}
	tk.Subject = task.Subject{Commit: "first", Reviewed: true}
	ev := still(decide.Evidence{Document: doc, Subject: task.Subject{Commit: "second"}})
	d, err := decide.Transition(def, tk, ev, req, noon)
	if err != nil || !d.Moved {
		t.Fatalf("found %v, want a move", err)
	}
	moved := tk
	moved.Status, moved.Previous, moved.Attention, moved.QueuedFor = "agent-review", "working", "", ""
	moved.EnteredAt, moved.UpdatedAt = noon, noon
	moved.Counters = task.Counters{{Name: "rereviews", Value: 0}, {Name: task.ReviewRound, Value: 1}}
	moved.Subject = task.Subject{Commit: "second"}
	rested := []task.Evidence{handoff, {Source: "git committed", Digest: "committed"}}
	want := record.Change{
		Task: moved, Expect: tk.Version, Entered: true, Spent: rested, Entry: []task.Evidence{review},
		Hooks: []task.Hook{
			{Action: action.SetField, Field: "rereviews"},
			{Action: action.IncrementReviewRound, Field: task.ReviewRound},
			{Action: action.SpawnReviewer, Prompt: "reviewer", Harness: task.HarnessReview,
				Permissions: task.PermissionsReduced},
		},
		Events: []history.Event{{
			Time: noon, Type: history.StatusChanged, Actor: task.RoleHuman, ActingAs: task.RoleWorker,
			Person: "Ada <ada@example.com>", From: "working", To: "agent-review",
			Reason: "done at last", Counters: moved.Counters, Evidence: rested, Workflow: def.Digest,
			Hooks: []string{action.SetField, action.IncrementReviewRound, action.SpawnReviewer}, Subject: task.Subject{
				Commit: "second"},
			Data: map[string]string{ledger.DataPassed: "git committed @second\na person @second"},
		}},
	}
	if !reflect.DeepEqual(d.Change, want) {
		t.Errorf("found the change\n%+v\nwant\n%+v", d.Change, want)
	}
}

// forks is a workflow with what default.yml does not use: two edges for one move, a verdict anywhere, a section that
// only has to exist, an edge for anyone, an edge from a state to itself.
const forks = `
name: forks
version: 1
fields: {tries: 0}
states:
  a: {terminal: false}
  b: {terminal: false}
  c: {terminal: false}
  d: {terminal: false}
  end: {terminal: true}
transitions:
  - {from: a, to: b, by: worker, when: "tries < 3"}
  - {from: a, to: b, by: [worker, reviewer], when: "tries >= 3", gate: {section: "## Why", required: true}}
  - {from: a, to: c, gate: {section: "## Check", verdict: PASS}}
  - {from: a, to: d, gate: [{section: "## Why"}, {section: "## Check", verdict: FAIL, fresh: false}]}
  - {from: b, to: b, by: worker, hooks: [{action: increment, increment: tries}]}
  - {from: b, to: end}
`

func TestFeaturesThatDefaultLacksAreJudgedToo(t *testing.T) {
	t.Parallel()
	def := parse(t, "forks.yml", []byte(forks))
	const why, pass, fail = "## Why\nbecause\n", "## Check\nAll in all a pass.\n",
		"## Check\nI read it.\n\nThis must FAIL\n"
	for _, c := range []struct {
		name     string
		from, to task.Status
		role     string
		tries    int
		body     string
		code     string // empty: accepted
	}{
		{"the first of two edges", "a", "b", "worker", 2, "", ""},
		{"the second of two edges", "a", "b", "worker", 3, why, ""},
		{"the refusal that came furthest is told: the gate of the second", "a", "b", "worker", 3, "",
			rejection.GateUnmet},
		{"the refusal that came furthest is told: the guard of the second", "a", "b", "reviewer", 2, why,
			rejection.GuardFailed},
		{"neither edge is for this role", "a", "b", "human", 2, why, rejection.ActorDenied},
		{"a verdict anywhere, asked for by anyone", "a", "c", "cto", 0, pass, ""},
		{"the other verdict anywhere", "a", "c", "cto", 0, fail, rejection.GateUnmet},
		{"no verdict anywhere", "a", "c", "cto", 0, "## Check\nbypassed\n", rejection.GateUnmet},
		{"a gate of two parts", "a", "d", "worker", 0, why + fail, ""},
		{"a gate of two parts lacks the first", "a", "d", "worker", 0, fail, rejection.GateUnmet},
		{"a gate of two parts lacks the second", "a", "d", "worker", 0, why, rejection.GateUnmet},
		{"an edge from a state to itself is a move", "b", "b", "worker", 0, "", ""},
		{"an edge from a state to itself asks who comes", "b", "b", "human", 0, "", rejection.ActorDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tk := newTask(c.from)
			tk.Counters = tk.Counters.With("tries", c.tries)
			req := task.Request{Task: tk.ID, To: c.to, Actor: task.Actor{Role: c.role}}
			d, err := decide.Transition(def, tk, evidence(c.body), req, noon)
			if c.code != "" {
				if no := refusal(t, err); no.Code != c.code {
					t.Errorf("found %v, want %s", no, c.code)
				}
				return
			}
			if err != nil || !d.Moved || d.Change.Task.Status != c.to {
				t.Errorf("found %+v (%v), want a move to %s", d, err, c.to)
			}
		})
	}
}

func TestASelfMoveCountsAndKeepsThePreviousStatus(t *testing.T) {
	t.Parallel()
	req := task.Request{To: "b", Actor: task.Actor{Role: task.RoleWorker}}
	tk := newTask("b")
	tk.Previous = "a"
	d, err := decide.Transition(parse(t, "forks.yml", []byte(forks)), tk, decide.Evidence{}, req, noon)
	if err != nil || d.Change.Task.Counters.Get("tries") != 1 || d.Change.Task.Previous != tk.Previous ||
		len(d.Change.Events) != 1 {
		t.Errorf("found %+v (%v), want one move from b to b with tries = 1", d.Change, err)
	}
}

func TestARefusalOfAGateTellsEveryUnmetPart(t *testing.T) {
	t.Parallel()
	req := task.Request{To: "d", Actor: task.Actor{Role: task.RoleWorker}}
	_, err := decide.Transition(parse(t, "forks.yml", []byte(forks)), newTask("a"), evidence(""), req, noon)
	no := refusal(t, err)
	want := []rejection.Detail{
		{Condition: `section "## Why"`, Found: "no such section", Where: "TASK.md",
			Want: `write "## Why" with something in it`},
		{Condition: `section "## Check"`, Found: "no such section", Where: "TASK.md",
			Want: `write "## Check" with the word FAIL in it`},
	}
	if !reflect.DeepEqual(no.Details, want) {
		t.Errorf("found the details %+v, want %+v", no.Details, want)
	}
}

func TestARefusalNamesTheCharacterThatMakesALineNoEvidence(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, c := range []struct{ from, to, role, body, want string }{
		{"planning", "working", "worker", "##\u3000Plan\n\nAPPROACH: x\n",
			`no such section; line 5: "##\u3000Plan" is no heading: it has U+3000 where " " is expected`},
		{"planning", "working", "worker", "## Plan:\n\nAPPROACH: x\n",
			`no such section; there are Plan:; "Plan:" has U+003A ':' where the heading ends`},
		{"planning", "working", "worker", "## Plan\n\n- APPROACH – x\n", "none of these labels with something behind " +
			`it: APPROACH, TOUCHING; "- APPROACH – x" has U+2013 '–' where ":" is expected`},
		{"agent-review", "working", "reviewer", "## Review\n\nVerdict - FAIL\n",
			`no verdict in "Verdict - FAIL": it has U+002D '-' where ":" is expected`},
	} {
		req := task.Request{To: task.Status(c.to), Actor: task.Actor{Role: c.role}}
		_, err := decide.Transition(def, newTask(task.Status(c.from)), evidence(c.body), req, noon)
		if no := refusal(t, err); no.Details[0].Found != c.want {
			t.Errorf("%q: found %s, want %s", c.body, no.Details[0].Found, c.want)
		}
	}
}

func TestAQueuedStart_isRefusedWhereTheTaskNoLongerWaits(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ask := task.Request{To: "planning", Queued: true, Actor: task.Actor{Rule: true}, Reason: "a workspace became free"}
	for status, waits := range map[task.Status]bool{"pending": true, "clarification": false} {
		one := newTask(status)
		if waits {
			one.QueuedFor = ask.To
		}
		d, err := decide.Transition(def, one, evidence(""), ask, noon)
		var refused *rejection.Rejection
		if d.Moved != waits || waits == errors.As(err, &refused) {
			t.Errorf("in %q: moved %v, %v", status, d.Moved, err)
		}
	}
}

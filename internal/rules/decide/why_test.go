package decide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func waysIn(ways []decide.Option) string {
	var out []string
	for _, w := range ways {
		text := fmt.Sprintf("%s by %s: %v", w.To, strings.Join(w.By, " "), w.Open)
		for _, g := range w.Guards {
			text += fmt.Sprintf(" [%v]", g)
		}
		for _, d := range w.Details {
			text += fmt.Sprintf(" {%s}", d.Condition)
		}
		if w.Reason {
			text += " reason"
		}
		if w.Override {
			text += " override"
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func TestWhy_tellsEveryEdgeOfEverybody(t *testing.T) {
	t.Parallel()
	def, err := workflow.Parse("why.yml", []byte(`
name: why
version: 1
roles: {cto: {}}
states: {a: {role: worker}, b: {}, c: {terminal: true}}
transitions:
  - {from: a, to: b, by: [worker, cto], when: review_round < 2, gate: {section: "## Plan"}}
  - {from: a, to: c, by: human, reason: required}
  - {from: a, to: b, by: human, when: review_round >= 2, override: allowed}
  - {from: b, to: c}
`), workflow.Usual{})
	if err != nil {
		t.Fatal(err)
	}
	one := task.Task{ID: "x", Status: "a"}
	want := `b by worker cto: false [review_round < 2 holds at 0] {section "## Plan"}
b by human: false [review_round >= 2 does not hold at 0] {review_round >= 2} override
c by human: true reason`
	if got := waysIn(decide.Why(def, one, evidence(""))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := waysIn(decide.Explanation{Ways: decide.Why(def, one, evidence("\n## Plan\nx\n"))}.For(
		"cto").Ways); got != "b by worker cto: true [review_round < 2 holds at 0]" {
		t.Errorf("got %s", got)
	}
}

func TestAwaits_saysWhoAndWhatATaskWaitsFor(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for i := range def.States {
		if def.States[i].Timeout.After == 0 && !def.States[i].Terminal {
			def.States[i].Timeout = workflow.Timeout{After: 100, Then: def.States[len(def.States)-1-i].Name}
		}
	}
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	working := task.Task{ID: "x", Status: "working", Live: true, Workspace: "garden--1",
		EnteredAt: now.Add(-time.Second)}
	with := func(change func(s *record.Snapshot)) record.Snapshot {
		s := record.Snapshot{Task: working}
		change(&s)
		return s
	}
	failed := task.OwedHook{Hook: task.Hook{Action: "spawn_reviewer"}, State: task.HookFailed, Attempts: 2,
		Error: "no tmux", NextTry: now.Add(10 * time.Second)}
	tests := []struct {
		name  string
		s     record.Snapshot
		lives string
		want  []string
	}{
		{"at work", with(func(*record.Snapshot) {}), record.AgentAlive, []string{"the worker: it is at work"}},
		{"dead", with(func(*record.Snapshot) {}), record.AgentDead, []string{
			"the worker: it is dead: start it again: orange task respawn x"}},
		{"unknown", with(func(s *record.Snapshot) { s.Task.StalledAt = now }), record.AgentUnknown, []string{
			"the worker: whether it lives is unknown: look again: orange task why x"}},
		{"stalled", with(func(s *record.Snapshot) { s.Task.StalledAt = now }), record.AgentAlive, []string{
			"it lives, and has done nothing since 2024-05-06"}},
		{"not started", with(func(s *record.Snapshot) { s.Task.Workspace = "" }), record.AgentDead, []string{
			"the task has no workspace: get it one and start the agent: orange task respawn x"}},
		{"a person", with(func(s *record.Snapshot) { s.Task.Status = "reviewing" }), record.AgentDead, []string{
			`a person: no agent works in "reviewing"`}},
		{"queued", with(func(s *record.Snapshot) { s.Task.Status, s.Task.QueuedFor = "pending", "planning" }),
			record.AgentDead, []string{`a free workspace: none for the move to "planning"`}},
		{"over", with(func(s *record.Snapshot) { s.Task.Status, s.Task.Live = "done", false }), record.AgentDead,
			[]string{`no one: "done", which is final`}},
		{"late", with(func(s *record.Snapshot) {
			s.Task.EnteredAt, s.Task.Overdue = now.Add(-101*time.Second), 100
		}), record.AgentAlive,
			[]string{"at work", "no more than 1m40s in the status: 1m41s in \"working\": " +
				"look after it; at 150 per cent the workflow asks for"}},
		{"a hook", with(func(s *record.Snapshot) { s.Owed = []task.OwedHook{failed} }), record.AgentDead,
			[]string{"the hook spawn_reviewer: it failed: no tmux (attempts: 2): put that right, then: orange " +
				"task retry x (the monitor tries it again in 10s)"}},
		{"attention", with(func(s *record.Snapshot) { s.Task.Attention = "crash 1" }), record.AgentAlive, []string{
			"at work", "a person's attention: crash 1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range decide.Awaits(def, test.s, test.lives, nil, nil, now) {
				got = append(got, d.Condition+": "+d.Found+": "+d.Want)
			}
			all := strings.Join(got, "\n")
			for _, want := range test.want {
				if !strings.Contains(all, want) {
					t.Errorf("got\n%s\nwant %q", all, want)
				}
			}
			if test.name == "a hook" && strings.Contains(all, "dead") {
				t.Errorf("nobody is dead before the hooks are performed:\n%s", all)
			}
		})
	}
}

func TestWhy_namesTheOverrideOnlyToPeopleWhoHaveOne(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{
		{From: "busy", To: "help", Override: true, Gate: []workflow.Part{{Section: "## Plan"}}, By: []string{
			task.RoleHuman}},
		{From: "busy", To: "todo", Gate: []workflow.Part{{Section: "## Plan", Verdict: "PASS"}},
			By: []string{task.RoleHuman}},
		{From: "busy", To: "done", Override: true, Gate: []workflow.Part{{Section: "## Plan"}}, By: []string{
			task.RoleWorker}},
	})
	one := newTask("busy")
	want := map[task.Status]string{"help": "orange task next " + one.ID + " --override REASON --to help",
		"todo": "", "done": ""}
	def.Strict = true
	for _, w := range decide.Why(def, one, evidence("")) {
		if w.Command != want[w.To] {
			t.Errorf("to %q: %q, want %q", w.To, w.Command, want[w.To])
		}
	}
}

// A guard looks at the failures including the one that its own edge would count: if none has happened yet, no text
// speaks of one that has.
func TestWhy_tellsTheCountToComeFromTheOneThatIs(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	one := newTask("planning")
	all := ""
	for _, way := range decide.Why(def, one, evidence("")) {
		for _, g := range way.Guards {
			all += g.String() + "\n"
		}
	}
	for _, want := range []string{"failures < 3 holds at 0, 1 with this one",
		"failures >= 3 does not hold at 0, 1 with this one", "cto_attempts < 2 holds at 0\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q in\n%s", want, all)
		}
	}
	_, err := decide.Transition(def, one, evidence("## Validation\nVerdict: FAIL\n"), task.Request{
		Task: one.ID, To: "cto_intervention", Actor: human()}, noon)
	if err == nil || !strings.Contains(err.Error(), "failures >= 3: found failures = 0, 1 with this one") {
		t.Errorf("refused with: %v", err)
	}
}

// Awaits tells the last words of an agent once, and shows where its lines ended.
func TestAwaits_tellsTheLastWordsOnceAndLineByLine(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	death := deathOf(task.RoleWorker)
	death.LastWords = "╭──────╮\n│ no such file:   key.pem │\n\n   log in again \n╰──────╯\n" // a frame is no word
	c := decide.Exit(def, newTask("clarification"), evidence(""), death, noon)
	const said = "; its last words: no such file: key.pem / log in again"
	if !strings.HasSuffix(c.Task.Attention, said) {
		t.Errorf("the mark is %q", c.Task.Attention)
	}
	var found []string
	c.Task.Workspace = "ws"
	for _, d := range decide.Awaits(def, record.Snapshot{Task: c.Task}, record.AgentDead, c.Events, nil, noon) {
		found = append(found, d.Found)
	}
	all := strings.Join(found, "\n")
	if len(found) != 2 || strings.Count(all, said) != 1 || !strings.Contains(found[1], "start it again with") {
		t.Errorf("it waits for\n%s", all)
	}
}

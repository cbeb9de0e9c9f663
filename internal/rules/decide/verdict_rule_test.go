package decide_test

import (
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// leadsOn is a workflow whose rule for "busy" leads to "help", and what leads on from there.
func leadsOn(artifact workflow.Part, gate []workflow.Part, onward ...workflow.Transition) *workflow.Definition {
	edges := append([]workflow.Transition{{From: "busy", To: "help", Gate: gate}}, onward...)
	def := tiny(edges, workflow.Rule{Status: "busy", HasArtifact: &artifact, Then: "help"})
	def.States = append(def.States, workflow.State{Name: "good", Terminal: true, Success: true})
	return def
}

// A verdict that accepts the work counts only if its author ended well; one that refuses it counts always. A file says
// by where it leads what it does.
func TestTakesVerdict_whereWhatTheRuleReliesOnMayAcceptTheWork(t *testing.T) {
	t.Parallel()
	section := func(verdict string) workflow.Part {
		return workflow.Part{Section: "## Review", Verdict: verdict, VerdictIn: workflow.VerdictFirstLine}
	}
	file := workflow.Part{File: "review.json", Judges: true}
	toGood := workflow.Transition{From: "help", To: "good"}
	back := workflow.Transition{From: "help", To: "busy"}
	again := workflow.Transition{From: "busy", To: "good"}
	nowhere := leadsOn(section("PASS"), nil)
	nowhere.Exit.Rules[0].Then = ""
	fileNowhere := leadsOn(file, nil)
	fileNowhere.Exit.Rules[0].Then = ""
	for name, c := range map[string]struct {
		def  *workflow.Definition
		want bool
	}{
		"the rule looks for PASS":                    {leadsOn(section("PASS"), nil, back, again), true},
		"the rule looks for FAIL":                    {leadsOn(section("FAIL"), nil, toGood), false},
		"the rule looks for no verdict":              {leadsOn(note(""), nil, toGood), false},
		"the gate of its move asks for PASS":         {leadsOn(note(""), []workflow.Part{section("PASS")}), true},
		"the gate of its move asks for FAIL":         {leadsOn(note(""), []workflow.Part{section("FAIL")}), false},
		"a file leads to a good end":                 {leadsOn(file, nil, toGood), true},
		"a file leads back":                          {leadsOn(file, nil, back, again), false},
		"a file leads back, and to a good end too":   {leadsOn(file, nil, back, again, toGood), true},
		"a file leads nowhere, and so accepts":       {leadsOn(file, nil), true},
		"the rule leads nowhere and looks for PASS":  {nowhere, true},
		"the rule leads nowhere and looks at a file": {fileNowhere, true},
	} {
		if got := decide.TakesVerdict(c.def, newTask("busy"), &c.def.Exit.Rules[0]); got != c.want {
			t.Errorf("%s: found %v", name, got)
		}
	}
}

// The files that were judged and the commit of them are the same work: the event of the move says so, or what passed
// the one would not count for the other.
func TestTransition_saysWhichVersionsAreTheSameWork(t *testing.T) {
	t.Parallel()
	unmoved := []workflow.Part{{Git: workflow.GitUnmoved}}
	for name, c := range map[string]struct {
		gate     []workflow.Part
		override bool
		want     string
	}{
		"the gate compares":      {unmoved, false, " @c9\n @c1 t1"},
		"an override of it":      {unmoved, true, ""},
		"a gate that does not":   {[]workflow.Part{note("")}, false, ""},
		"one without conditions": {nil, false, ""},
	} {
		def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: c.gate, Override: true, Failure: true}})
		one := newTask("busy")
		one.Subject = task.Subject{Commit: "c1", Tree: "t1"}
		d, err := decide.Transition(def, one, evidenceAbout("## Note\nyes\n", task.Subject{Commit: "c9"}), task.Request{
			Task: "T1", To: "help", Actor: human(), Reason: "so", Override: c.override}, noon)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := d.Change.Events[0].Data[guarantee.DataSame]; got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// Too many crashes end no task well: neither where the file calls the end a success, nor where a merge leads there. To
// any other end they lead.
func TestExit_bringsNoTaskToAGoodEndByForce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(def *workflow.Definition)
		moved  bool
	}{
		"the file says success": {func(*workflow.Definition) {}, false},
		"a merge leads there": {func(def *workflow.Definition) {
			def.States[4].Success = false
			def.Moves = []workflow.Move{{Command: workflow.MoveMerge, To: "good"}}
		}, false},
		"a merge leads elsewhere": {func(def *workflow.Definition) {
			def.States[4].Success = false
			def.Moves = []workflow.Move{{Command: workflow.MoveMerge, To: "lost"}}
		}, true},
		"nothing says so": {func(def *workflow.Definition) { def.States[4].Success = false }, true},
	} {
		def := leadsOn(note(""), nil, workflow.Transition{From: "help", To: "good"})
		def.Exit.Rules = []workflow.Rule{{Status: "busy", NoArtifact: true, Action: workflow.ActionCrash,
			StuckAfter: 1, Then: "good"}}
		c.change(def)
		change := decide.Exit(def, newTask("busy"), evidence(""), deathOf("worker"), noon)
		if moved := change.Task.Status == "good"; moved != c.moved {
			t.Errorf("%s: it leads to %s, with the mark %q", name, shape(change), change.Task.Attention)
		}
	}
}

// Of several ways that a gate takes, the task passes each one that is met, and not only the first.
func TestAGateOfSeveralWays_passesAllThatAreMet(t *testing.T) {
	t.Parallel()
	check := func(name string) workflow.Part { return workflow.Part{Check: name} }
	def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{
		{Any: []workflow.Part{check("a"), check("b"), check("c")}}}}})
	ev := evidenceAbout("", task.Subject{Commit: "c1"})
	for name, holds := range map[string]bool{"a": true, "b": false, "c": true} {
		p := check(name)
		ev.Facts[p.Key()] = decide.Fact{Holds: holds, Source: "check " + name, Digest: digestOf(name)}
	}
	d, err := decide.Transition(def, newTask("busy"), ev, task.Request{Task: "T1", To: "help", Actor: worker()}, noon)
	if err != nil {
		t.Fatal(err)
	}
	const want = "check a @c1\ncheck c @c1"
	if got := d.Change.Events[0]; got.Type != history.StatusChanged || got.Data[guarantee.DataPassed] != want {
		t.Errorf("found %q, want %q", got.Data[guarantee.DataPassed], want)
	}
}

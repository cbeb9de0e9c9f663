package workflow_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"orange/internal/rules/workflow"
)

func usual(t *testing.T) workflow.Usual {
	t.Helper()
	text, err := os.ReadFile("../../../workflows/usual.yml")
	if err != nil {
		t.Fatal(err)
	}
	u, err := workflow.ParseUsual("usual.yml", text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// shipped are the workflows that come with the program, with the number of their states and transitions.
var shipped = map[string][2]int{"default": {9, 23}, "classic": {8, 18}, "minimal": {5, 6}, "build": {13, 67},
	"phases": {9, 26}}

func TestTheWorkflowsThatShipLoad(t *testing.T) {
	t.Parallel()
	for name, want := range shipped {
		d := load(t, "../../../workflows/"+name+".yml")
		if len(d.States) != want[0] || len(d.Transitions) != want[1] || d.Name != name {
			t.Errorf("found %q with %d states and %d transitions, want %q with %v", d.Name, len(d.States),
				len(d.Transitions), name, want)
		}
	}
}

// minimal and phases have no state for a task that gets nowhere.
func TestTheWorkflowsThatShipHaveNoWarnings(t *testing.T) {
	t.Parallel()
	for name := range shipped {
		var found []string
		for _, w := range load(t, "../../../workflows/"+name+".yml").Warnings() {
			found = append(found, w.Rule)
		}
		if len(found) > 0 {
			t.Errorf("found the warnings %q of %s", found, name)
		}
	}
}

// The two files of document 002 load as they are (testdata/ok has their structure), and what ships is the same
// machine, edge for edge and gate for gate.
func TestClassicAndMinimal_areTheMachinesOfDocument002(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"classic", "minimal"} {
		ours, theirs := load(t, "../../../workflows/"+name+".yml"), load(t, "testdata/ok/"+name+"-like.yml")
		if len(ours.States) != len(theirs.States) || len(ours.Transitions) != len(theirs.Transitions) {
			t.Fatalf("found %d states and %d transitions in %s, want %d and %d",
				len(ours.States), len(ours.Transitions), name, len(theirs.States), len(theirs.Transitions))
		}
		for i, want := range theirs.States {
			if s := ours.States[i]; s.Name != want.Name || s.Terminal != want.Terminal || s.Role != want.Role {
				t.Errorf("found the state %+v in %s, want %+v", s, name, want)
			}
			if name := want.RespawnPrompt.Name; name != "" && ours.States[i].RespawnPrompt.Name != name {
				t.Errorf("found the prompt %q for a respawn in %s of %s, want %q",
					ours.States[i].RespawnPrompt.Name, want.Name, ours.Name, name)
			}
		}
		for i := range theirs.Transitions {
			got, want := machine(&ours.Transitions[i]), machine(&theirs.Transitions[i])
			if got != want {
				t.Errorf("found in %s\n%s\nwant\n%s", name, got, want)
			}
		}
		if ours.Exit.PollInterval != theirs.Exit.PollInterval || theirs.Exit.PollInterval != 30 {
			t.Errorf("found a look every %d s in %s, want %d", ours.Exit.PollInterval, name, theirs.Exit.PollInterval)
		}
		for i, want := range theirs.Exit.Rules {
			if got, want := ruleLine(ours.Exit.Rules[i]), ruleLine(want); got != want {
				t.Errorf("found in %s the exit rule\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// machine is an edge in one line: guards, gate and hooks, without who may ask and how new the evidence must be.
func machine(e *workflow.Transition) string {
	var parts, hooks []string
	for _, g := range e.When {
		parts = append(parts, g.String())
	}
	for _, p := range e.Gate {
		parts = append(parts, strings.TrimSpace(p.Section+" "+p.Verdict+" "+p.VerdictIn+" "+p.Git+p.Check+p.File))
	}
	for _, h := range e.Hooks {
		hooks = append(hooks, h.Action+" "+h.Prompt+" "+h.Harness+" "+h.Permissions+" "+h.Field)
	}
	return fmt.Sprintf("%s->%s | %s | %s", e.From, e.To, strings.Join(parts, "; "), strings.Join(hooks, "; "))
}

func ruleLine(r workflow.Rule) string {
	line := fmt.Sprintf("%s %s %d %s %d", r.Status, r.Action, r.StuckAfter, r.Then, len(r.ThenWhen))
	if r.HasArtifact != nil {
		line += " " + r.HasArtifact.Section + " " + r.HasArtifact.Verdict + " " + r.HasArtifact.VerdictIn
	}
	return line
}

// build.yml shows how a project asks for a check in place of a section: what it shows can be put in.
func TestTheCheckThatBuildShowsCanBePutIn(t *testing.T) {
	t.Parallel()
	text := string(read(t, "../../../workflows/build.yml"))
	for _, swap := range [][2]string{
		{"# checks:\n#   tests:\n#     run: [make, test]\n#     timeout: 15m\n",
			"checks:\n  tests:\n    run: [make, test]\n    timeout: 15m\n"},
		{"    gate: &checked\n      section: \"## Self-check\"\n      required: true\n      since: entry\n",
			"    gate: &checked\n      check: tests\n"},
	} {
		if !strings.Contains(text, swap[0]) {
			t.Fatalf("found nothing like this in build.yml:\n%s", swap[0])
		}
		text = strings.Replace(text, swap[0], swap[1], 1)
	}
	d, err := workflow.Parse("build.yml", []byte(text), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := d.Edge("testing", "quality_review"); len(e.Gate) != 1 || e.Gate[0].Check != "tests" ||
		e.Gate[0].Result != workflow.CheckPassed {
		t.Errorf("found the gate %+v, want the check", e.Gate)
	}
}

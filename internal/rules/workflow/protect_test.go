package workflow_test

import (
	"fmt"
	"slices"
	"testing"

	"orange/internal/rules/workflow"
)

// A check whose gate leaves open what the agent changes is named.
func TestUnprotected_namesChecksWhoseGatesLeaveFilesOpen(t *testing.T) {
	t.Parallel()
	if got := load(t, "../../../workflows/build.yml").Unprotected(); len(got) > 0 {
		t.Errorf("build leaves %q open", got)
	}
	guarded := workflow.Definition{Transitions: []workflow.Transition{
		{Gate: []workflow.Part{{Check: "safe"}, {Git: workflow.GitUntouched}}},
		{Gate: []workflow.Part{{Any: []workflow.Part{{Check: "open"}, {Section: "## A"}}}}},
		{Gate: []workflow.Part{{Check: "open"}}},
	}}
	if got := guarded.Unprotected(); fmt.Sprint(got) != "[open]" {
		t.Errorf("got %q", got)
	}
}

// Where a project protects files, each gate with a check and each hand-off of the work ask for them.
func TestProtecting_asksAtEachCheckAndHandOff(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"default": {"working -> agent-review"},
		"classic": {"working -> agent-review"},
		"minimal": {"working -> reviewing"},
		"build":   {"testing -> quality_review"},
		"phases":  {"codegen -> review", "codegen -> plan_review", "revert -> done"},
	} {
		d := load(t, "../../../workflows/"+name+".yml")
		before := fmt.Sprint(d.Transitions)
		protecting := d.Protecting([]string{"Makefile"}, []string{"a"})
		got := []string{}
		for _, edge := range protecting.Transitions {
			line := string(edge.From) + " -> " + string(edge.To)
			if workflow.Asks(edge.Gate, workflow.GitProtected) && !slices.Contains(got, line) {
				got = append(got, line)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: asks at %q, want %q", name, got, want)
		}
		if fmt.Sprint(d.Transitions) != before {
			t.Errorf("%s: the workflow itself changed", name)
		}
		if patterns, except := protecting.Protected(); len(got) > 0 && (len(patterns) != 1 || len(except) != 1) {
			t.Errorf("%s: protects %q but for %q", name, patterns, except)
		}
		if d.Protecting(nil, nil) != d {
			t.Errorf("%s: another workflow where nothing is protected", name)
		}
	}
}

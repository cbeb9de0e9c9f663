package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestATransitionIsSaidInShort(t *testing.T) {
	t.Parallel()
	part := func(p workflow.Part) workflow.Transition { return workflow.Transition{Gate: []workflow.Part{p}} }
	clean, ahead := workflow.Part{Git: workflow.GitClean}, workflow.Part{Git: workflow.GitAhead}
	tests := []struct {
		want string
		t    workflow.Transition
	}{
		{"anyone", workflow.Transition{}},
		{"worker, human", workflow.Transition{By: []string{"worker", "human"}}},
		{"human: n < 2, m == 0", workflow.Transition{By: []string{"human"}, When: []workflow.Guard{
			{Field: "n", Op: "<", Value: 2}, {Field: "m", Op: "==", Value: 0}}}},
		{"anyone: on failure, with a reason, or override", workflow.Transition{
			Failure: true, Reason: true, Override: true}},
		{"anyone: came from a or b", workflow.Transition{CameFrom: []task.Status{"a", "b"}}},
		{"anyone: ## Review FAIL", part(workflow.Part{Section: "## Review", Verdict: "FAIL"})},
		{"anyone: plan.json (jq)", part(workflow.Part{File: "plan.json", JQ: ".ok"})},
		{"anyone: code/**", part(workflow.Part{Glob: "code/**"})},
		{"anyone: check tests", part(workflow.Part{Check: "tests", Result: workflow.CheckPassed})},
		{"anyone: check tests failed", part(workflow.Part{Check: "tests", Result: workflow.CheckFailed})},
		{"anyone: git clean and git ahead", part(workflow.Part{All: []workflow.Part{clean, ahead}})},
		{"anyone: (git clean and git ahead) or a.json",
			part(workflow.Part{Any: []workflow.Part{{All: []workflow.Part{clean, ahead}}, {File: "a.json"}}})},
	}
	for _, test := range tests {
		if got := terms(test.t); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// edgesOf are a picture's edges as text.
func edgesOf(p picture) []string {
	var out []string
	for _, e := range p.edges {
		arrow := "->"
		if e.auto {
			arrow = "-->"
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s", p.nodes[e.from].text, arrow, p.nodes[e.to].text,
			strings.Join(e.labels, " | ")))
	}
	return out
}

func TestAPictureShowsEveryWayOnce(t *testing.T) {
	t.Parallel()
	d := &workflow.Definition{Initial: "a"}
	for _, name := range []task.Status{"a", "b", "c", "d", "e", "f", "g", "h"} {
		d.States = append(d.States, workflow.State{Name: name})
	}
	d.States = append(d.States, workflow.State{Name: "end", Terminal: true})
	d.States[1].Timeout = workflow.Timeout{After: 4 * 3600, Then: "c"}
	edges := func(label string, to task.Status, from ...task.Status) {
		for _, f := range from {
			d.Transitions = append(d.Transitions, workflow.Transition{From: f, To: to, By: []string{label}})
		}
	}
	edges("all", "end", "a", "b", "c", "d", "e", "f", "g", "h")
	edges("most", "end", "a", "b", "c", "d", "e", "f", "g")
	edges("some", "end", "a", "b", "c", "d", "e")
	edges("three", "end", "a", "b", "c")
	edges("two", "b", "a", "c")
	edges("again", "b", "a", "a")
	edges("back", workflow.Previous, "b")
	d.Exit.Rules = []workflow.Rule{
		{Status: "a", Action: workflow.ActionCrash, StuckAfter: 1, Then: "b"},
		{Status: "a", Action: workflow.ActionMarkDead},
		{Status: "b", HasArtifact: &workflow.Part{File: "x"}, ThenWhen: []workflow.Branch{
			{When: []workflow.Guard{{Field: "n", Op: "<", Value: 2}}, Then: "c"}}},
	}
	want := []string{
		"any state -> end: all", "any state but h -> end: most", "a, b, c and 2 more -> end: some",
		"a, b, c -> end: three",
		"a -> b: two | again", "c -> b: two", "b -> previous: back",
		"a --> b: 1 crash", "b --> c: agent ends: x, n < 2 | after 6h",
	}
	if got := edgesOf(pictureOf(d)); !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

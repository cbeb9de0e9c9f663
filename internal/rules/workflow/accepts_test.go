package workflow_test

import (
	"fmt"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestAccepts_isAboutMovesThatCannotBeMadeWithoutAPassingVerdict(t *testing.T) {
	t.Parallel()
	const pass, fail = `{section: "## Review", verdict: PASS}`, `{section: "## Review", verdict: FAIL}`
	const file = `{file: verdict.json, judges: true, jq: .ok}`
	for _, test := range []struct {
		gates     []string // of the transitions from doing to ready
		edge, all bool
	}{
		{[]string{pass}, true, true},
		{[]string{"{all: [" + pass + ", {git: unmoved}]}"}, true, true},
		{[]string{"{any: [" + pass + ", {git: committed}]}"}, false, false},
		{[]string{fail}, false, false},
		{[]string{"{all: [" + pass + `, {section: "## Owner", verdict: FAIL}]}`}, false, false},
		{[]string{"{git: committed}"}, false, false},
		{[]string{file}, true, false},
		{[]string{pass, "{git: committed}"}, true, false},
		{[]string{pass, "{all: [" + pass + ", {git: committed}]}"}, true, true},
	} {
		text := "name: small\nversion: 1\nstates:\n  todo: {}\n  doing: {}\n  ready: {}\n  done: {terminal: true}\n" +
			"transitions:\n  - {from: todo, to: doing, by: human}\n"
		for n, gate := range test.gates {
			when := []string{"< 2", ">= 2"}[n] // the two exclude one another
			text += fmt.Sprintf("  - {from: doing, to: ready, by: human, when: review_round %s, gate: %s}\n",
				when, gate)
		}
		text += "  - {from: ready, to: done, by: human}\n"
		def, err := workflow.Parse("small.yml", []byte(text), usual(t))
		if err != nil {
			t.Fatal(err)
		}
		edge, _ := def.Edge("doing", "ready")
		if got := edge.Accepts(); got != test.edge {
			t.Errorf("%q: the first transition accepts: %t", test.gates, got)
		}
		if got := def.Accepts("doing", "ready"); got != test.all {
			t.Errorf("%q: the move accepts: %t", test.gates, got)
		}
		for _, to := range []task.Status{"doing", "done"} {
			if def.Accepts("doing", to) {
				t.Errorf("a move from doing to %s accepts", to)
			}
		}
	}
}

package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/printable"
	"orange/internal/rules/workflow"
)

func TestACheck_thatGaveUpTellsWhatItFoundBrokenUntilThen(t *testing.T) {
	t.Parallel()
	broken := explore.Verdict{Name: explore.NobodyLeft, Message: "somebody lives", Steps: []string{"One."},
		Line: 7, Col: 1, Suggestion: "end it", Risk: "it costs money"}
	tests := map[string]struct {
		report  explore.Report
		outcome string
		status  int
		says    string
	}{
		"nothing": {explore.Report{TooMany: true, Configurations: 50}, "not proved", exitFailed,
			"own.yml: nothing found (0 states, 0 transitions)\n  not proved: there was too " +
				"much to follow: it gave up after 50 configurations; "},
		"a gate": {
			explore.Report{Vast: []explore.TooMany{{State: "review", Parts: []string{"## A", "b.json"}}}},
			"not proved", exitFailed,
			"  not proved: in the state \"review\" these can be there in more than 1024 combinations, which " +
				"gates look at together: ## A, b.json; ",
		},
		"something": {
			explore.Report{TooMany: true, Configurations: 50, Verdicts: []explore.Verdict{broken}}, "not proved",
			exitFailed, "own.yml:7:1: finding: somebody lives [nobody-left]\n  1. One.\n  can happen: it costs " +
				"money\n  to do: end it\nown.yml: 1 finding (0 states, 0 transitions)\n  not proved: there was too " +
				"much to follow",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p := &printer{Out: printable.NewWriter(&out)}
			c := checked{def: &workflow.Definition{File: "own.yml"}, report: tt.report}
			err := c.tell(p, "")
			if unsaid := p.flush(); unsaid != nil {
				t.Error(unsaid)
			}
			var end *ended
			if !errors.As(err, &end) || end.status != tt.status || c.outcome() != tt.outcome {
				t.Errorf("found %q, %v, want %q and status %d", c.outcome(), err, tt.outcome, tt.status)
			}
			if !strings.Contains(out.String(), tt.says) {
				t.Errorf("it says %q, want %q", out.String(), tt.says)
			}
		})
	}
}

func TestACheck_refusesForFindingsWhereItIsStrict(t *testing.T) {
	t.Parallel()
	report := explore.Report{Verdicts: []explore.Verdict{{Name: explore.NobodyLeft, Message: "somebody lives"}}}
	for strict, status := range map[bool]int{false: 0, true: exitFailed} {
		var out bytes.Buffer
		p := &printer{Out: printable.NewWriter(&out)}
		err := checked{def: &workflow.Definition{File: "own.yml"}, report: report, strict: strict}.tell(p, "")
		if unsaid := p.flush(); unsaid != nil {
			t.Error(unsaid)
		}
		end := &ended{}
		if err != nil && !errors.As(err, &end) || end.status != status ||
			strings.Contains(out.String(), "allow: {nobody-left: REASON}") != strict {
			t.Errorf("strict %v: %v, it says %q", strict, err, out.String())
		}
	}
}

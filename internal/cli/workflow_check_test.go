package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"orange/internal/explore"
	"orange/internal/printable"
	"orange/internal/workflow"
)

func TestACheck_thatGaveUpTellsWhatItFoundBrokenUntilThen(t *testing.T) {
	t.Parallel()
	broken := explore.Verdict{Name: explore.NobodyLeft, Message: "somebody lives", Steps: []string{"One."},
		Line: 7, Col: 1, Suggestion: "end it"}
	tests := map[string]struct {
		report  explore.Report
		outcome string
		status  int
		says    string
	}{
		"nothing": {explore.Report{TooMany: true, Configurations: 50}, "not proved", exitFailed,
			"own.yml: not all of it could be looked at (0 states, 0 transitions)\n  not proved: there was too " +
				"much to follow: it gave up after 50 configurations; "},
		"a gate": {
			explore.Report{Vast: []explore.TooMany{{State: "review", Parts: []string{"## A", "b.json"}}}},
			"not proved", exitFailed,
			"  not proved: in the state \"review\" these can be there in more than 1024 combinations, which " +
				"gates look at together: ## A, b.json; ",
		},
		"something": {
			explore.Report{TooMany: true, Configurations: 50, Verdicts: []explore.Verdict{broken}}, "broken", exitUsage,
			"own.yml:7:1: broken: somebody lives [nobody-left]\n  1. One.\n  to do: end it\n" +
				"own.yml: it does not keep what is proved of a workflow; broken properties: 1 (0 states, 0 " +
				"transitions)\n" +
				"  correct it, or say in the file why it is right: allow: {nobody-left: REASON}\n  not " +
				"proved: there was too much to follow",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p := &Program{Out: printable.NewWriter(&out)}
			c := checked{def: &workflow.Definition{File: "own.yml"}, report: tt.report}
			err := p.tellChecked(c, "")
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

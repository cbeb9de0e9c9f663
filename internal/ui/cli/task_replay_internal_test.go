package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"orange/internal/proof/replay"
	"orange/internal/rules/printable"
)

// What another edition of the rules decided counts as not checked, and is a failure where one wants all of it.
func TestReplay_countsWhatAnotherEditionDecidedAsNotChecked(t *testing.T) {
	t.Parallel()
	all := replay.Replays{Tasks: []replay.Replayed{{Task: "4Fz", Decisions: 3, Equal: 3, OtherEdition: 2}}}
	for _, strict := range []bool{false, true} {
		var out bytes.Buffer
		p := &printer{Out: printable.NewWriter(&out)}
		err := sayReplays(p, all, "", strict)
		var failed *ended
		if errors.As(err, &failed) != strict {
			t.Errorf("strict %t: %v", strict, err)
		}
		if err := p.flush(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(out.String(), "not checked: 2 decisions by another edition of the rules") {
			t.Errorf("it says %q", out.String())
		}
	}
}

package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/rules/printable"
	"orange/internal/rules/record"
)

// Defect: at a terminal sentences broke inside words ("attac/hes").
func TestLinesAtATerminal_breakBetweenWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"it fits\n", "it fits\n"},
		{"a person attaches and fixes it together with them\n",
			"a person attaches and fixes it\n  together with them\n"},
		{"  an indent stays where it was in each line of it\n",
			"  an indent stays where it was in\n    each line of it\n"},
		{"orange task respawn abcdefghijklmnopqrstuvwxyz --fresh\n",
			"orange task respawn abcdefghijklmnopqrstuvwxyz --fresh\n"},
		{"mend that, then run: orange task retry abc\n",
			"mend that, then run:\n  orange task retry abc\n"},
		{"start it with \"orange task respawn abc\" or wait for it\n",
			"start it with\n  \"orange task respawn abc\" or\n  wait for it\n"},
		{"look at its screen there now: orange task attach 4F --role worker\n",
			"look at its screen there now:\n  orange task attach 4F --role worker\n"},
		{"", ""},
	} {
		if got := wrapped(c.text, 34, 2); got != c.want {
			t.Errorf("%q becomes\n%s\nwant\n%s", c.text, got, c.want)
		}
		if got := wrapped(c.text, 0, 2); got != c.text {
			t.Errorf("without a terminal %q becomes %q", c.text, got)
		}
	}
}

func TestFieldsAndFindings_goOnBelowTheirValue(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 50, 80, 120, 200} {
		var out bytes.Buffer
		p := &printer{Out: printable.NewWriter(&out),
			Err:         printable.NewWriter(&out),
			OutTerminal: func() (int, bool) { return width, false }}
		long := strings.TrimSpace(strings.Repeat("some words ", 30))
		p.field("status", long+"\nand a line of its own")
		sayFinding(p, record.Finding{Level: record.LevelWarning, Check: "folders", Subject: "a", Found: long,
			Advice: long})
		p.say("%s", long)
		if err := p.flush(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := ansi.StringWidth(line); width > 0 && n > width {
				t.Errorf("at %d a line has %d columns: %s", width, n, line)
			}
			if strings.HasSuffix(line, " som") || strings.HasSuffix(line, " wor") {
				t.Errorf("at %d a word is broken: %s", width, line)
			}
		}
		if !strings.Contains(out.String(), "\n"+strings.Repeat(" ", 17)+"and a line of its own\n") {
			t.Errorf("at %d:\n%s", width, out.String())
		}
	}
}

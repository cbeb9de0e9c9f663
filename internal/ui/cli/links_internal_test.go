package cli

import (
	"bytes"
	"strings"
	"testing"

	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// A pull request is a link at a terminal that has more than plain text, and is none in a pipe or elsewhere.
func TestAPullRequestIsALinkAtATerminalAlone(t *testing.T) {
	t.Parallel()
	const address, bad = "https://github.com/o/r/pull/18", "https://x/\x1b[2J"
	for _, at := range []struct {
		width           int
		coloured, links bool
		address         string
	}{{100, true, true, address}, {100, false, false, address}, {0, false, false, address}, {100, true, false, bad}} {
		var out bytes.Buffer
		p := &finder{}
		p.Out = printable.NewWriter(&out)
		p.Err = printable.NewWriter(&out)
		p.OutTerminal = func() (int, bool) { return at.width, at.coloured }
		one := task.Task{ID: "abcdefghijklmnopqrstu", Branch: "fix/login", Status: "reviewing", PRURL: at.address,
			PRState: "OPEN", Live: true}
		if err := sayReport(&p.printer, record.Report{Task: one}, task.Timing{}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := (lister{finder: p}).list([]task.Task{one}, known{}); err != nil {
			t.Fatal(err)
		}
		if err := p.flush(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		opens := strings.Count(text, "\x1b]8;;"+at.address+"\x1b\\")
		if want := map[bool]int{true: 2}[at.links]; opens != want || strings.Count(text, "\x1b]8") != 2*want {
			t.Errorf("%+v: %d links, want %d:\n%q", at, opens, want, text)
		}
		if at.address == bad && strings.Contains(text, bad) {
			t.Errorf("a terminal obeys the address: %q", text)
		}
		if at.address == address && !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text,
			"\x1b]8;;"+address+"\x1b\\", ""), "\x1b]8;;\x1b\\", ""), "  pull request   "+address+" (open)\n") {
			t.Errorf("%+v: the address is not told:\n%q", at, text)
		}
	}
}

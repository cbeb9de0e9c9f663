package tmux_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

// The terminal types that a machine knows are those of its tmux, which is a script here.
func TestOpen_takesATerminalTypeThatTheMachineKnows(t *testing.T) {
	t.Parallel()
	const text = `case " $KNOWN " in
*" $TERM "*) ;;
*) echo "missing or unsuitable terminal: $TERM" >&2; exit 1 ;;
esac
test "$TERM" != dumb || { echo "open terminal failed: terminal does not support clear" >&2; exit 1; }
echo "$TERM" >"$0.opened"
`
	script := filepath.Join(t.TempDir(), "tmux")
	// A process that another test starts meanwhile would have the file open for writing too.
	syscall.ForkLock.RLock()
	err := os.WriteFile(script, []byte("#!/bin/sh\n"+text), 0o700) //nolint:gosec // a program
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		term, known, opened, fails string
		told                       []string
	}{
		"its own": {term: "xterm-ghostty", known: "xterm-ghostty xterm", opened: "xterm-ghostty"},
		"a usual one": {term: "xterm-ghostty", known: "xterm xterm-256color", opened: "xterm-256color",
			told: []string{`no terminfo here for "xterm-ghostty": taking "xterm-256color"`}},
		"the second usual one": {term: "xterm-256color", known: "xterm", opened: "xterm",
			told: []string{`no terminfo here for "xterm-256color": taking "xterm"`}},
		"none": {term: "odd", fails: `cannot open the window: this machine has no terminfo for a terminal of the type ` +
			`"odd", nor for xterm-256color, xterm, vt100; install one`},
		"another failure": {term: "dumb", known: "dumb xterm",
			fails: "cannot open the window: tmux: open terminal failed: terminal does not support clear"},
	} {
		_ = os.Remove(script + ".opened")
		var told []string
		env := []string{"PATH=" + os.Getenv("PATH"), "KNOWN=" + row.known, "TERM=" + row.term}
		tell := func(line string) { told = append(told, line) }
		err := tmux.Open(t.Context(), proc.Command{Name: script, Env: env}, tell)
		opened, _ := os.ReadFile(script + ".opened")
		if strings.TrimSpace(string(opened)) != row.opened || row.told != nil && !slices.Equal(told, row.told) ||
			row.opened == row.term && told != nil {
			t.Errorf("%s: opened %q and said %q", name, opened, told)
		}
		if (err != nil) != (row.fails != "") || err != nil && !strings.HasPrefix(err.Error(), row.fails) {
			t.Errorf("%s: found %v, want %q", name, err, row.fails)
		}
	}
}

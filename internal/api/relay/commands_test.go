package relay

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// A shell takes the place of orange, and prints what it was called with.
func TestCommands_runsACallAsTheAgentWould(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := Commands("/bin/sh", []string{"SAYS=why", "ORANGE_CONVERSATION_IN=OTHER"})
	says := `pwd; cat; echo "$ORANGE_CONVERSATION$ORANGE_CONVERSATION_IN"; echo "$SAYS" >&2; exit 3`
	got := run(t.Context(), Call{Dir: dir, Args: []string{"-c", says}, Stdin: []byte("input "), Conversation: "c1"})
	if want := dir + "\ninput c1\n"; got.Code != 3 || string(got.Stdout) != want || string(got.Stderr) != "why\n" {
		t.Errorf("it answers %d, %q, %q", got.Code, got.Stdout, got.Stderr)
	}
	if got = Commands(dir+"/gone", nil)(t.Context(), Call{}); got.Code != 1 ||
		!bytes.Contains(got.Stderr, []byte("no such file")) {
		t.Errorf("without a program it answers %d, %q", got.Code, got.Stderr)
	}
}

func TestCommands_endsWithItsAgent(t *testing.T) {
	t.Parallel()
	ctx, off := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer off()
	if got := Commands("/bin/sh", nil)(ctx, Call{Args: []string{"-c", "exec sleep 60"}}); got.Code != 1 {
		t.Errorf("it answers %d, %q", got.Code, got.Stderr)
	}
}

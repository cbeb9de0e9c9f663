package tmux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// reader starts a program that says something and then keeps what is typed, line by line, in a file.
// With echo off the typed text is not on the screen, so one Enter is enough.
func reader(t *testing.T, s *Server, script string) (Pane, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	p := mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{"sh", "-c", script, "sh", out}})
	within(t, "the reader reads", func() bool { _, err := os.Stat(out); return err == nil })
	return p, out
}

func typing(ready, dialog string) Typing {
	t := Typing{Patience: 5 * time.Second, Pause: 100 * time.Millisecond}
	if ready != "" {
		t.Ready = regexp.MustCompile(ready)
	}
	if dialog != "" {
		t.Dialog = regexp.MustCompile(dialog)
	}
	return t
}

func TestType_arrivesExactly(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	// It is ready a while after it began, and someone scrolls it.
	p, out := reader(t, s, `stty -echo; : > "$1"; sleep 0.3; echo READY; exec cat > "$1"`)
	if _, err := s.run(t.Context(), nil, "copy-mode", "-t", p.ID); err != nil {
		t.Fatal(err)
	}
	text := "it's \"quoted\" `id` $HOME $(id) #{pane_id} #S ~ \\n %H größe 日本 🙂;\n\n  second\tline;" +
		strings.Repeat("\n"+strings.Repeat("long ", 30), 150) + "\n-end;\r\n\x1b[201~\n\n"
	if err := s.Type(t.Context(), p.ID, text, typing("^READY", "Allow")); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("\t", "    ", "\r", "", "\x1b", "").Replace(strings.TrimRight(text, "\n")) + "\n"
	within(t, "all of it is there", func() bool { return len(read(t, out)) >= len(want) })
	if got := read(t, out); got != want {
		t.Errorf("got %q", got)
	}
	if now, _ := pane(t, s, p.ID); now.InMode {
		t.Error("the pane is still in copy mode")
	}
	res, err := s.run(t.Context(), nil, "list-buffers")
	if err != nil || res.Text() != "" {
		t.Errorf("buffers left: %q, %v", res.Text(), err)
	}
}

func TestType_enterAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	// The text stays on the screen, as in an editor that took Enter for a newline.
	p, out := reader(t, s, `echo READY; exec cat > "$1"`)
	if err := s.Type(t.Context(), p.ID, "hello", typing("READY", "")); err != nil {
		t.Fatal(err)
	}
	within(t, "two lines are there", func() bool { return read(t, out) == "hello\n\n" })
}

func TestType_refuses(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, out := reader(t, s, `stty -echo; echo READY; echo 'Allow this command?'; exec cat > "$1"`)
	within(t, "the dialog is on the screen", func() bool {
		screen, err := s.Capture(t.Context(), p.ID, 0)
		return err == nil && strings.Contains(screen, "Allow")
	})
	for _, row := range []struct {
		ready, dialog string
		want          Reason
	}{
		{"READY", `Allow .*\?`, DialogOpen},
		{"", `Allow`, DialogOpen},
		{"NOTHING", "", NotReady},
	} {
		how := typing(row.ready, row.dialog)
		how.Patience = 100 * time.Millisecond
		err := s.Type(t.Context(), p.ID, "refused", how)
		var no *NotSafe
		if !errors.As(err, &no) || !errors.Is(err, ErrNotSafe) || no.Reason != row.want || no.Pasted {
			t.Errorf("%+v: %v", row, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Type(ctx, p.ID, "called off", typing("NOTHING", "")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("called off: %v", err)
	}
	if err := s.Type(t.Context(), p.ID, "\n\x1b\n", Typing{}); err == nil {
		t.Error("nothing was typed and no error")
	}
	if err := s.Type(t.Context(), p.ID, "at last", Typing{}); err != nil {
		t.Fatal(err)
	}
	within(t, "what was not refused is there", func() bool { return strings.HasSuffix(read(t, out), "at last\n") })
	if got := read(t, out); got != "at last\n" {
		t.Errorf("got %q", got)
	}
}

func TestType_dialogAfterThePaste(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, out := reader(t, s, `stty raw -echo; echo READY; head -c 5 > "$1"; echo 'Allow?'; exec cat >> "$1"`)
	how := typing("READY", "Allow")
	how.Pause = 2 * time.Second // the program opens its dialog meanwhile, on a loaded machine too
	err := s.Type(t.Context(), p.ID, "hello", how)
	var no *NotSafe
	if !errors.As(err, &no) || no.Reason != DialogOpen || !no.Pasted {
		t.Fatalf("the answer is %v", err)
	}
	if got := read(t, out); got != "hello" {
		t.Errorf("got %q: Enter reached the dialog", got)
	}
}

func TestType_ended(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustStart(t, s, Start{Task: "t", Session: "s"})
	p := mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{"true"}})
	within(t, "the program has ended", func() bool { p, _ = pane(t, s, p.ID); return p.Dead })
	for _, id := range []string{p.ID, "%77"} {
		if err := s.Type(t.Context(), id, "x", typing("", "")); !errors.Is(err, ErrEnded) {
			t.Errorf("pane %q: %v", id, err)
		}
	}
	if err := s.Type(t.Context(), "s", "x", Typing{}); err == nil {
		t.Error("a name was taken for an id")
	}
}

func TestType_personAttached(t *testing.T) {
	t.Parallel()
	s, own := newServer(t), newServer(t)
	p, out := reader(t, s, `stty -echo; echo READY; exec cat > "$1"`)
	// The person is in a tmux of their own: this pane has TMUX set.
	cmd, err := s.Attach(p.Session, p.WindowID)
	must(t, err)
	theirs := mustStart(t, own,
		Start{Task: "person", Session: "own", Argv: append([]string{"env", "-u", "TMUX", cmd.Name}, cmd.Args...)})
	attached := func() bool { now, _ := pane(t, s, p.ID); return now.Attached }
	within(t, "the person is attached", attached)

	how := typing("READY", "")
	how.Patience = 0
	err = s.Type(t.Context(), p.ID, "refused", how)
	var no *NotSafe
	if !errors.As(err, &no) || no.Reason != PersonTyping {
		t.Fatalf("the answer is %v", err)
	}
	// A person who only watches is no hindrance.
	how.Patience, how.Quiet = 5*time.Second, time.Nanosecond
	if err := s.Type(t.Context(), p.ID, "watched", how); err != nil {
		t.Fatal(err)
	}
	within(t, "the text is there", func() bool { return read(t, out) == "watched\n" })

	if _, err := own.run(t.Context(), nil, "send-keys", "-t", theirs.ID, KeyBack); err != nil {
		t.Fatal(err)
	}
	within(t, "the key has led the person back", func() bool { return !attached() })
}

func TestSits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20)
	tail := strings.Repeat("output\n\n", editorTail)
	for _, row := range []struct {
		screen, text string
		want         bool
	}{
		{"> hello\n\n footer\n", "first\nhello", true},
		{"> hello\n" + tail, "hello", false},
		{tail + "> " + long[:60] + "\n  " + long[60:], long, true},
		{"[Pasted text #1]\n", "hello", false},
		{"", "hello", false},
		{"anything", "x\n   ", false},
	} {
		if got := sits(row.screen, row.text); got != row.want {
			t.Errorf("%q on %q: %v", row.text, row.screen, got)
		}
	}
}

func TestType_withoutASignOfReadinessWaitsUntilTheScreenStandsStill(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	// It draws until someone has seen that nothing is typed meanwhile.
	busy, out := reader(t, s, `stty -echo; : > "$1"; while ! test -e "$1.rest"; do date +%N; sleep 0.1; done; exec cat > "$1"`)
	var unsafe *NotSafe
	if err := s.Type(t.Context(), busy.ID, "early", Typing{Pause: 100 * time.Millisecond}); !errors.As(err, &unsafe) ||
		unsafe.Reason != Moving {
		t.Fatalf("got %v, want that its screen does not stand still", err)
	}
	if err := os.WriteFile(out+".rest", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Type(t.Context(), busy.ID, "late", typing("", "")); err != nil {
		t.Fatal(err)
	}
	within(t, "the text is there", func() bool { return read(t, out) == "late\n" })
}

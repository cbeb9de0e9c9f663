package tmux

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// ended starts a program that says something, waits until its last word is seen, and lets it end. It answers its
// dead pane. Not at once: of a program that ends right after its words tmux now and then misses some.
func ended(t *testing.T, s *Server, says, last, end string) Pane {
	t.Helper()
	leave := filepath.Join(t.TempDir(), "leave")
	script := says + "\n" + `while [ ! -e "$0" ]; do sleep 0.01; done` + "\n" + end
	p := mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{"sh", "-c", script, leave}})
	within(t, "its last word is there", func() bool {
		screen, err := s.Capture(t.Context(), p.ID, 0)
		return err == nil && strings.HasSuffix(screen, last)
	})
	write(t, leave, "")
	within(t, "it has ended", func() bool { p, _ = pane(t, s, p.ID); return p.Dead && p.Ending.Known })
	return p
}

func mustWords(t *testing.T, s *Server, p Pane, lines int) string {
	t.Helper()
	words, err := s.LastWords(t.Context(), p.ID, lines)
	if err != nil {
		t.Fatal(err)
	}
	return words
}

func TestLastWords_ofAProgramThatSaidMuch(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	long := strings.Repeat("long ", 30) + "line"
	p := ended(t, s, `i=1; while [ $i -le 100 ]; do printf '\033[1;31mline %d\033[0m\n' $i; i=$((i+1)); done
		echo '`+long+`'; printf '\033]0;title\007\n\n\n  \033[32mrød\033[0m\tend \n\n'`, "end\n", "exit 3")
	if words, want := mustWords(t, s, p, 3), "line 100\n"+long+"\n  rød   end"; words != want {
		t.Errorf("got %q, want %q", words, want)
	}
	// More than the screen has: from the history.
	words := strings.Split(mustWords(t, s, p, 80), "\n")
	if len(words) != 80 || words[0] != "line 23" {
		t.Errorf("%d lines from %q on", len(words), words[0])
	}
	if words := mustWords(t, s, p, 0); words != "" {
		t.Errorf("no line is %q", words)
	}
	// A person who looks has another size, and tmux breaks the lines again.
	for _, width := range []string{"30", "200"} {
		if _, err := s.run(t.Context(), nil, "resize-window", "-t", p.WindowID, "-x", width); err != nil {
			t.Fatal(err)
		}
		if words, want := mustWords(t, s, p, 2), long+"\n  rød   end"; words != want {
			t.Errorf("%s wide: got %q, want %q", width, words, want)
		}
	}
}

func TestLastWords_ofAFullScreenAreWithoutThoseOfTmux(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, row := range map[string]struct{ says, end string }{
		"no newline at the end": {`i=1; while [ $i -le 100 ]; do printf '\nline %d' $i; i=$((i+1)); done`, "exit 0"},
		"killed":                {`i=1; while [ $i -le 100 ]; do echo line $i; i=$((i+1)); done`, "kill -KILL $$"},
		"a line to the margin": {
			`i=1; while [ $i -le 99 ]; do echo line $i; i=$((i+1)); done; printf '%-120s' 'line 100'`, "exit 1"},
	} {
		if words := mustWords(t, s, ended(t, s, row.says, "line 100\n", row.end), 2); words != "line 99\nline 100" {
			t.Errorf("%s: got %q", name, words)
		}
	}
}

func TestLastWords_ofAProgramThatSaidNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, end := range []string{"exit 0", "exit 7", "kill -TERM $$", `printf '\n\n  \n\033[0m'`} {
		if words := mustWords(t, s, ended(t, s, "", "", end), 10); words != "" {
			t.Errorf("%s: it has said %q", end, words)
		}
	}
	if _, err := s.LastWords(t.Context(), "%77", 10); !errors.Is(err, ErrEnded) {
		t.Errorf("a pane that is not there: %v", err)
	}
	if _, err := s.LastWords(t.Context(), "s", 10); err == nil {
		t.Error("a name was taken for an id")
	}
}

func TestLastWords_areLegibleAndFew(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ screen, want string }{
		{"", ""},
		{"a\n\n \nb  \n\n", "a\nb"},
		{"a\x1b[31;1mb\x1b[0mc\x1b]0;t\x07d\x1b]8;;u\x1b\\e\x1b(Bf\x1bMg\x1bP1;2q\x1b\\h", "abcdefgh"},
		{"a\x1b[", "a"},
		{"a\x1b", "a"},
		{"a\x1b]0;never ends", "a"},
		{"a\tb\x07\x00\x7f\u009b\u202ec\u2028d\xff", "a bcd"},
		{"a\nPane is dead (status 1, Sat Nov 21 14:16:54 2026)\n", "a"},
		{"a\nPane is dead (signal 9, Sat Nov 21 14:16:54 2026)\n", "a"},
		{"a\nPane is dead", "a"},
		{"aPane is dead (status 1, now)", "a"},
		{"Pane is dead (status 1, now)\nno", "Pane is dead (status 1, now)\nno"},
		{"Pane is dead (status 1, now)\nPane is dead (status 2, now)", "Pane is dead (status 1, now)"},
	} {
		if got := lastWords(row.screen, 10); got != row.want {
			t.Errorf("%q: got %q, want %q", row.screen, got, row.want)
		}
	}
	long := lastWords(strings.Repeat("日", 300), 1)
	if utf8.RuneCountInString(long) != wordsLine || !strings.HasSuffix(long, "日…") {
		t.Errorf("a long line is %d runes: %q", utf8.RuneCountInString(long), long)
	}
	var screen strings.Builder
	for i := range 300 {
		fmt.Fprintf(&screen, "%s %d\n", strings.Repeat("ü", 60), i)
	}
	much := lastWords(screen.String(), 300)
	if len(much) > wordsBytes || len(much) < wordsBytes-200 || !strings.HasPrefix(much, "ü") ||
		!strings.HasSuffix(much, " 299") {
		t.Errorf("%d bytes: %q", len(much), clip(much))
	}
}

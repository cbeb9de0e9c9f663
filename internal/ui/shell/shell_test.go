package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

var errRefused = errors.New("refused")

// clerk notes the words of each line, and refuses some.
type clerk struct {
	asked  []string
	refuse string // what begins like this is refused
}

func (*clerk) Prompt(context.Context) (string, error) { return "fix planning> ", nil }

func (c *clerk) Run(_ context.Context, words []string) (left bool, err error) {
	c.asked = append(c.asked, strings.Join(words, "|"))
	if c.refuse != "" && strings.HasPrefix(words[0], c.refuse) {
		return false, errRefused
	}
	return words[0] == "/quit", nil
}

func (*clerk) Complete(context.Context, string) []string { return nil }

func (*clerk) End(err error) int {
	switch {
	case errors.Is(err, errRefused):
		return 3
	case errors.Is(err, task.ErrUsage):
		return 2
	}
	return 0
}

func talk(t *testing.T, c *clerk, text string) (status int) {
	t.Helper()
	s := &Shell{In: strings.NewReader(text), Out: printable.NewWriter(io.Discard),
		History: filepath.Join(t.TempDir(), "history")}
	status, err := s.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func TestLinesGoOnAfterARefusal_andReturnTheLastFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"# talk\n\n/plan\n", 0},
		{"/redo code\n/plan\n", 3},
		{"/redo code\n/plan 'x\n/plan\n", 2},
		{"/plan \\\n/redo code\n/quit\n/plan 'x\n", 3},
	} {
		clerk := &clerk{refuse: "/redo"}
		if status := talk(t, clerk, c.text); status != c.want {
			t.Errorf("%q ended with %d, want %d", c.text, status, c.want)
		}
		if wants := strings.Count(strings.Split(c.text, "/quit")[0], "/plan\n"); wants != strings.Count(
			strings.Join(clerk.asked, " "), "/plan") {
			t.Errorf("%q asked for %q", c.text, clerk.asked)
		}
	}
}

func TestAConversationEndsWithItsProgram(t *testing.T) {
	t.Parallel()
	in, hold := io.Pipe() // nothing ever comes
	defer hold.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := &Shell{In: in, Out: printable.NewWriter(io.Discard)}
	if _, err := s.Run(ctx, &clerk{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want the end of its program", err)
	}
}

// quoted is a word as wordsOf reads it again.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t'\"\\") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

func TestWordsAreReadAsTheyAreQuoted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z'"\\ \tü-]*`)).Draw(rt, "words")
		var line []string
		for _, w := range words {
			line = append(line, quoted(w))
		}
		got, err := wordsOf(strings.Join(line, "  "))
		if err != nil || !slices.Equal(got, words) {
			rt.Fatalf("%q became %q (%v), want %q", strings.Join(line, "  "), got, err, words)
		}
	})
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{" a\tb ", []string{"a", "b"}},
		{`a"b c"d`, []string{"ab cd"}},
		{`'a\b' "a\b" "a\"b" a\ b`, []string{`a\b`, `a\b`, `a"b`, "a b"}},
		{`""`, []string{""}},
	} {
		if got, err := wordsOf(c.line); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q became %q (%v), want %q", c.line, got, err, c.want)
		}
	}
}

func TestTheFileOfLinesIsKeptShortAndPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	if lines, err := recall(path); err != nil || lines != nil {
		t.Fatalf("found %q (%v) in no file", lines, err)
	}
	for n := range mostInFile + 1 {
		if err := remember(path, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("found the mode %v (%v), want 0600", info.Mode(), err)
	}
	for range 2 {
		lines, err := recall(path)
		if err != nil || len(lines) != mostRemembered || lines[len(lines)-1] != fmt.Sprint(mostInFile) {
			t.Fatalf("recalled %d lines (%v), want the newest %d", len(lines), err, mostRemembered)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != mostRemembered {
		t.Errorf("the file has %d lines (%v), want %d", strings.Count(string(text), "\n"), err, mostRemembered)
	}
}

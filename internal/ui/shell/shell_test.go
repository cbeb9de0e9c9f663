package shell

import (
	"bytes"
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
	"orange/internal/rules/workflow"
)

var errRefused = errors.New("refused")

// clerk notes what is asked for.
type clerk struct {
	def    *workflow.Definition
	open   []task.Status
	asked  []string
	told   []string
	refuse string // what begins like this is refused
}

func (c *clerk) ask(format string, args ...any) error {
	asked := fmt.Sprintf(format, args...)
	c.asked = append(c.asked, asked)
	if c.refuse != "" && strings.HasPrefix(asked, c.refuse) {
		return errRefused
	}
	return nil
}

func (c *clerk) Here(context.Context) (task.Task, *workflow.Definition, error) {
	return task.Task{ID: "T1", Branch: "fix", Status: "planning"}, c.def, nil
}
func (c *clerk) Open(context.Context, task.Task, *workflow.Definition) ([]task.Status, error) {
	return c.open, nil
}
func (c *clerk) Move(_ context.Context, word, reason string) error {
	return c.ask("move %s %q", word, reason)
}
func (c *clerk) Go(_ context.Context, to task.Status, reason string) error {
	return c.ask("go %s %q", to, reason)
}
func (c *clerk) Next(_ context.Context, to task.Status, override bool, reason string) error {
	return c.ask("next %q %t %q", to, override, reason)
}
func (c *clerk) Redo(_ context.Context, to task.Status, reason string) error {
	return c.ask("redo %s %q", to, reason)
}
func (c *clerk) Show(_ context.Context, what string) error { return c.ask("show %s", what) }
func (c *clerk) Tell(err error) int {
	if err == nil {
		return 0
	}
	c.told = append(c.told, err.Error())
	switch {
	case errors.Is(err, errRefused):
		return 3
	case errors.Is(err, task.ErrUsage):
		return 2
	}
	return 1
}

func book() *workflow.Definition {
	return &workflow.Definition{
		Name:   "phases",
		States: []workflow.State{{Name: "planning", About: "it is planned"}, {Name: "plan_review"}, {Name: "code"}},
		Redo:   []workflow.Named{{Name: "planning"}, {Name: "code"}},
		Commands: []workflow.Command{
			{Text: "/plan", To: "planning"}, {Text: "/review plan", To: "plan_review"},
			{Text: "/review code", To: "code"}, {Text: "/status", To: "code"},
		},
	}
}

func talk(t *testing.T, c *clerk, text string) (out string, status int) {
	t.Helper()
	var b bytes.Buffer
	s := &Shell{In: strings.NewReader(text), Out: printable.NewWriter(&b),
		History: filepath.Join(t.TempDir(), "history")}
	status, err := s.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), status
}

func TestALineIsARequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{"/plan", `go planning ""`},
		{"  /review   plan  ", `go plan_review ""`},
		{"/review code --reason 'it is \"done\"'", `go code "it is \"done\""`},
		{"/next", `next "" false ""`},
		{"/next --reason because", `next "" false "because"`},
		{`/next --override "I accept the risk of skipping review"`,
			`next "" true "I accept the risk of skipping review"`},
		{"/next --to code --override=so", `next "code" true "so"`},
		{"/redo planning", `redo planning ""`},
		{"/redo nowhere --reason x", `redo nowhere "x"`},
		{"/status", "show status"}, // the shell's own, whatever the workflow says
		{"/history", "show history"},
		{"/why", "show why"},
	} {
		clerk := &clerk{def: book()}
		if _, status := talk(t, clerk, c.line); status != 0 || !slices.Equal(clerk.asked, []string{c.want}) {
			t.Errorf("%q asked for %q and ended with %d, want %q", c.line, clerk.asked, status, c.want)
		}
	}
}

func TestAWrongLineIsToldAndAsksForNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{"/plam", `there is no command "/plam"; did you mean "/plan"?`},
		{"/reviw plan", `did you mean "/review plan"?`},
		{"plan", `there is no command "plan"`},
		{"/plan 'x", "a quote (') is opened and never closed"},
		{`/plan \`, "ends with a backslash"},
		{"/plan x", `found ["x"] behind /plan`},
		{"/redo", "found nothing behind /redo"},
		{"/redo a b", `found ["a" "b"] behind /redo`},
		{"/next --because x", "/next has no --because"},
		{"/next --override", "--override needs a value"},
		{"/next --override ' '", "an override needs a reason"},
	} {
		clerk := &clerk{def: book()}
		_, status := talk(t, clerk, c.line)
		if status != 2 || len(clerk.asked) != 0 || len(clerk.told) != 1 || !strings.Contains(clerk.told[0], c.want) {
			t.Errorf("%q asked for %q, told %q and ended with %d, want %q", c.line, clerk.asked, clerk.told,
				status, c.want)
		}
	}
}

func TestLinesGoOnAfterARefusal_andTheStatusIsThatOfTheLastFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"# talk\n\n/plan\n", 0},
		{"/redo code\n/plan\n", 3},
		{"/redo code\n/nothing\n/plan\n", 2},
		{"/nothing\n/redo code\n/quit\n/nothing\n", 3},
	} {
		clerk := &clerk{def: book(), refuse: "redo"}
		if _, status := talk(t, clerk, c.text); status != c.want {
			t.Errorf("%q ended with %d, want %d", c.text, status, c.want)
		}
		if wants := strings.Count(strings.Split(c.text, "/quit")[0], "/plan"); wants != strings.Count(
			strings.Join(clerk.asked, " "), "go planning") {
			t.Errorf("%q asked for %q", c.text, clerk.asked)
		}
	}
}

func TestHelpHasEveryCommandOnce(t *testing.T) {
	t.Parallel()
	out, _ := talk(t, &clerk{def: book()}, "/help")
	for _, text := range []string{"/plan ", "/review plan", "/review code", "/next", "/redo STATE", "/status ",
		"/why", "/history", "/help", "/quit"} {
		if strings.Count(out, "\n  "+text) != 1 {
			t.Errorf("found %q not once in\n%s", text, out)
		}
	}
	if !strings.Contains(out, "-> planning  it is planned") {
		t.Errorf("nothing says what a state is about in\n%s", out)
	}
}

func TestAConversationEndsWithItsProgram(t *testing.T) {
	t.Parallel()
	in, hold := io.Pipe() // nothing ever comes
	defer hold.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := &Shell{In: in, Out: printable.NewWriter(io.Discard)}
	if _, err := s.Run(ctx, &clerk{def: book()}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want the end of its program", err)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
	}{
		{"/pl", []string{"/plan "}},
		{"/rev", []string{"/review plan ", "/review code "}},
		{"/review c", []string{"/review code "}},
		{"/re", []string{"/review plan ", "/review code ", "/redo "}},
		{"/redo ", []string{"/redo planning", "/redo code"}},
		{"/redo p", []string{"/redo planning"}},
		{"/redo planning", nil},
		{"/next --", []string{"/next --override ", "/next --to ", "/next --reason "}},
		{"/next --to p", []string{"/next --to planning", "/next --to plan_review"}},
		{"/review plan --r", []string{"/review plan --reason "}},
		{"/zzz", nil},
	} {
		if got := complete(at{def: book()}, c.line); !slices.Equal(got, c.want) {
			t.Errorf("%q becomes %q, want %q", c.line, got, c.want)
		}
	}
}

// quoted is a word as split reads it again.
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
		got, err := split(strings.Join(line, "  "))
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
		if got, err := split(c.line); err != nil || !slices.Equal(got, c.want) {
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

// moving is a workflow without commands, whose moves have the words of the command line.
func moving() *workflow.Definition {
	return &workflow.Definition{
		Name: "moving",
		States: []workflow.State{{Name: "planning", About: "it is planned"},
			{Name: "agent-review", About: "it is read"}, {Name: "done"}, {Name: "next"}},
		Moves: []workflow.Move{{Command: workflow.MoveComplete, To: "agent-review"},
			{Command: workflow.MoveMerge, To: "done"}},
	}
}

func TestTheMovesOutOfAStateHaveTheirNames(t *testing.T) {
	t.Parallel()
	open := []task.Status{"agent-review", "next"}
	for _, c := range []struct{ line, want string }{
		{"/agent-review", `go agent-review ""`},
		{"/complete --reason done", `move complete "done"`},
		{"/next", `next "" false ""`}, // the shell's own, whatever the workflow's states are called
		{"/done", `go done ""`},       // the engine says why not
	} {
		clerk := &clerk{def: moving(), open: open}
		if _, status := talk(t, clerk, c.line); status != 0 || !slices.Equal(clerk.asked, []string{c.want}) {
			t.Errorf("%q asked for %q and ended with %d, want %q", c.line, clerk.asked, status, c.want)
		}
	}
	clerk := &clerk{def: moving(), open: open}
	if _, status := talk(t, clerk, "/merge"); status != 2 || len(clerk.asked) > 0 {
		t.Errorf("a move that leads out of another state asked for %q and ended with %d", clerk.asked, status)
	}
	out, _ := talk(t, clerk, "/help")
	const read = `-> agent-review  it is read` + "\n"
	for text, is := range map[string]bool{`  /complete [--reason "why"]             ` + read: true,
		`  /agent-review [--reason "why"]         ` + read: true, "/done": false, "/merge": false, "/planning": false} {
		if strings.Contains(out, text) != is {
			t.Errorf("%q is there: %v, in\n%s", text, !is, out)
		}
	}
	here := at{def: moving(), open: open}
	for line, want := range map[string][]string{"/a": {"/agent-review "}, "/co": {"/complete "}, "/d": nil} {
		if got := complete(here, line); !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}

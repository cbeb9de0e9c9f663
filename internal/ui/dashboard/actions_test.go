package dashboard

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/settings"

	tea "charm.land/bubbletea/v2"
)

// preferring is a session with a config.yml.
func preferring(t testing.TB, text string) *session {
	t.Helper()
	s := openAt(t, day(t), 120, 40)
	s.m.prefer(func() (string, []byte, error) { return "config.yml", []byte(text), nil })
	return s
}

func TestEveryActionHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, k := range table(t) {
		if other, taken := seen[k.action]; taken || k.action == "" {
			t.Errorf("%q is called %q as %q is: it needs another name", k.does, k.action, other)
		}
		seen[k.action] = k.does
	}
}

// No one can lose help, quit and back: their keys are reserved, and so are their actions.
func TestTheReservedKeysAreThoseThatLeadOut(t *testing.T) {
	t.Parallel()
	for _, name := range settings.Reserved() {
		k, found := table(t).find(name, pageList)
		if !found {
			t.Errorf("%s does nothing in the list", name)
		}
		text := "keys: {" + k.action + ": f9}\n"
		if _, err := settings.Parse("config.yml", []byte(text), table(t).settable()); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestAKeyOfConfigDoesWhatItSays(t *testing.T) {
	t.Parallel()
	s := preferring(t, "keys:\n  merge: ctrl+g\n  down: [ctrl+n, down]\n")
	s.press("g", "j")
	s.shows("j does nothing here: your config.yml gives its action, down, the key ctrl+n")
	s.press("ctrl+n", "ctrl+n", "ctrl+n")
	s.chosen("fix/totals")
	s.press("m")
	s.shows("m does nothing here: your config.yml gives its action, merge, the key ctrl+g")
	s.press("ctrl+g")
	s.shows("Merge fix/totals?")
	s.press("y")
	if want := []string{"Merge " + day(t).tasks[2].ID}; !slices.Equal(s.backend.asked, want) {
		t.Errorf("asked %v, want %v", s.backend.asked, want)
	}
	s.shows("ctrl+g")
	s.press("?")
	s.shows("ctrl+g")
	s.hides(" m  ")
}

// Whatever keys a person gives the actions, the texts of the screen name those, and menus obey them.
func TestTextsNameTheKeysThatAreInForce(t *testing.T) {
	t.Parallel()
	others := "keys: {create: ctrl+a, find: ctrl+f, move: ctrl+o, split: ctrl+w, right: ctrl+l, filter: ctrl+t, " +
		"look-again: ctrl+r, override: ctrl+x, search: ctrl+n, since-review: ctrl+k, request-changes: ctrl+g, " +
		"failures: ctrl+y, find-in-help: ctrl+v, document: ctrl+e, workspaces: ctrl+j, open-file: ctrl+p, " +
		"all-projects: alt+a, down: alt+j, up: alt+k, page-down: [pgdown], page-up: [pgup]}\n"
	opened := func(backend *fakeBackend, width int) *session {
		s := openSession(t, backend, width, 24)
		s.m.prefer(func() (string, []byte, error) { return "config.yml", []byte(others), nil })
		s.hides("config.yml")
		return s
	}
	s := opened(day(t), 80)
	s.press("n")
	s.shows("ctrl+f does, and ctrl+o has the moves of a task")
	s.press("ctrl+w", "J")
	s.shows("ctrl+w shows it")
	s.send(tea.WindowSizeMsg{Width: 80, Height: 12})
	s.press("ctrl+w")
	s.shows("too small for both; ctrl+l shows the task")
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.press("?")
	s.shows("ctrl+v searches")
	s.press("esc", "/")
	s.shows("/ does nothing here: your config.yml gives its action, find, the key ctrl+f")
	s.press("G")
	s.send(failureNews{"look", errors.New("one\ntwo")})
	s.shows("(ctrl+y shows all)")

	s = opened(moving(t), 120)
	s.press("g")
	for one, _ := s.m.tasks.Selected(); one.Branch != "fix/totals"; one, _ = s.m.tasks.Selected() {
		s.press("alt+j")
	}
	s.press("enter")
	s.shows("ctrl+e shows the task, ctrl+o has its moves")
	s.press("ctrl+o")
	s.shows("alt+j alt+k another one")
	s.press("alt+j")
	s.shows("2 of 5")
	s.press("j")
	s.shows("2 of 5")
	s.press("ctrl+o")
	s.hides("2 of 5")
	s.press("3")
	s.hides("; o overrides")

	s = opened(reviewed(t), 120)
	s.press("D")
	s.shows("ctrl+k: only since the last review")
	s.press("n")
	s.shows("nothing was searched for; ctrl+n does that")
	s.press("c")
	s.shows("no line of a file is selected; alt+j and alt+k go to one")
	for range 8 {
		s.press("alt+j")
	}
	s.press("c")
	s.shows("ctrl+g sends all comments")

	only := aTask(t, 1, "working")
	s = opened(&fakeBackend{tasks: []task.Task{only}}, 80)
	s.press("ctrl+t", "ctrl+t")
	s.shows("ctrl+t shows others")
	s = opened(&fakeBackend{fails: map[string]error{"Why": errors.New("no")}, tasks: []task.Task{only}}, 80)
	s.press("3")
	s.shows("ctrl+r looks again")
}

// A text of the program that names the key of an action by itself would be wrong for who gave the action another one.
func TestNoTextNamesAKeyByItself(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`"[^"]*(^|[ ;(,])(Space|[a-zA-Z/!*]):? (shows|looks|tries|does|has|sends|overrides|` +
		`searches|starts|opens|to create|only|goes?)\b[^"]*"|"[^"]*\b[a-zA-Z] and [a-zA-Z]\b[^"]*"|` +
		`"[^"]*[Pp]ress [a-zA-Z/!:*]\b[^"]*"`)
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for n, line := range strings.Split(string(text), "\n") {
			if found := named.FindString(line); found != "" {
				t.Errorf("%s:%d: %s: take the key from screen.KeyTable", path, n+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAWrongConfigLeavesTheUsualKeysAndSaysSo(t *testing.T) {
	t.Parallel()
	s := preferring(t, "keys:\n  down: f5\n  merge: q\n")
	s.shows("config.yml:3:10")
	s.press("j")
	s.hides("config.yml:3:10")
	s.shows("! what went wrong") // until it was read
	s.press("!")
	s.shows(`found the key "q" for "merge"`)
	s.press("esc")
	s.hides("config.yml")
	before := s.m.tasks.Cursor
	s.press("j")
	if s.m.tasks.Cursor != before+1 {
		t.Error("j does not go down")
	}
	s.m.prefer(func() (string, []byte, error) { return "config.yml", nil, errors.New("permission denied") })
	s.shows("permission denied")
}

func TestAThemePaintsTheScreen(t *testing.T) {
	t.Parallel()
	s := preferring(t, "theme: {selection: black on 220}\n")
	if got := s.m.View().Content; !strings.Contains(got, "\x1b[30;48;5;220m") {
		t.Errorf("the selection is not painted: %q", got)
	}
	if len(screen.ThemeNames()) < 15 {
		t.Errorf("few parts have a colour: %v", screen.ThemeNames())
	}
}

// The palette does what the key does, with the same question.
func TestThePaletteDoesWhatTheKeyDoes(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	s.selects("fix/totals")
	s.press(":")
	s.write("merge the")
	s.shows("merge the task's branch")
	s.press("enter")
	s.shows("Merge fix/totals?")
	if len(s.backend.asked) > 0 {
		t.Errorf("something was done without the answer: %v", s.backend.asked)
	}
	s.press("y")
	if want := []string{"Merge " + day(t).tasks[2].ID}; !slices.Equal(s.backend.asked, want) {
		t.Errorf("asked %v, want %v", s.backend.asked, want)
	}
}

func TestThePaletteHasEveryActionAndSaysWhyOneIsClosed(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 120, 40)
	s.selects("fix/login")
	for _, k := range table(t) {
		if k.usual == ":" {
			continue
		}
		s.press(":")
		s.write(k.action)
		s.shows(" " + k.action + "  ")
		s.press("esc")
	}
	s.press(":")
	s.write("pager")
	s.press("enter")
	s.shows("This does nothing now: it works in the review")
	s.press("ctrl+u")
	s.write("merge")
	s.press("enter")
	s.shows(`This does nothing now: the workflow "default" leads nowhere`)
	s.press("ctrl+u")
	s.write("no such thing at all")
	s.press("enter", "down", "up")
	s.shows("no action has these words")
	s.press("esc")
	s.press(":")
	s.write("q")
	s.press("enter")
	if !s.quit {
		t.Errorf("q is not the first that is found:\n%s", s.text())
	}
}

// A letter that is a key elsewhere is a letter in the palette, and a paste is text.
func TestThePaletteIsLeftByEscapeAlone(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	for _, k := range table(t) {
		for _, name := range k.names {
			if len([]rune(name)) > 1 {
				continue
			}
			s.press(":", name)
			s.shows(": " + name)
			s.press("esc")
		}
	}
	if len(s.backend.asked) > 0 || s.quit {
		t.Errorf("a letter did something: %v", s.backend.asked)
	}
	s.press(":", "backspace")
	if s.m.pages.form != nil {
		t.Error("Backspace does not leave an empty palette")
	}
}

// docs/keys.md shows a configuration, which has to be right.
func TestTheExampleOfTheDocumentIsRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "keys.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	got, err := settings.Parse("config.yml", []byte(example), table(t).settable())
	if err != nil || !found || len(got.Keys) != 2 || len(got.Theme) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

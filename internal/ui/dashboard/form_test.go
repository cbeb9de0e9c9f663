package dashboard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// choosing is what a new task can be made from in these tests.
func choosing(t testing.TB) Choices {
	c := Choices{
		Projects: []task.Project{
			{Name: "shop", Path: "/src/shop", DefaultBranch: "main", PoolSize: 5},
			{Name: "garden", Path: "/src/garden", DefaultBranch: "main", PoolSize: 5, Workflow: "classic"},
		},
		Harnesses: []harness.Choice{{Name: "claude", Path: "/bin/claude"}, {Name: "codex", Path: "/bin/codex"},
			{Name: "gemini", Path: "/bin/gemini"}},
		Harness: "claude", Review: "codex",
	}
	for _, name := range []string{"default", "build", "classic", "minimal", "phases"} {
		c.Workflows = append(c.Workflows, WorkflowChoice{Name: name, Rules: rulesOf(t, name)})
	}
	return c
}

// bent is a task, the last of those that are live, whose move may be made in spite of its conditions.
func bent(t testing.TB) task.Task { return taskUnder(t, "phases", 5, "planning") }

// atForms is a session before a few tasks.
func atForms(t testing.TB, width, height int) (*session, *fakeBackend) {
	backend := &fakeBackend{tasks: slices.Insert(few(t), 3, bent(t)), choices: choosing(t)}
	return openSession(t, backend, width, height), backend
}

// formText is a form with its keys, without what is behind it.
func (s *session) formText() string {
	s.Helper()
	if s.m.pages.page != pageForm || s.m.pages.form == nil {
		s.Fatalf("no form is open, but %s", s.m.pages.page)
	}
	lines, _ := s.m.pages.form.View(nil, s.m.layout.body())
	for len(lines) < s.m.layout.body().Height {
		lines = append(lines, "")
	}
	return plainScreen(strings.Join(append(lines, s.m.footLine()), "\n"))
}

// cursor is the letter at the terminal's cursor, and the text before it on its line.
func (s *session) cursor() (before, on string) {
	s.Helper()
	c := s.m.View().Cursor
	if c == nil {
		s.Fatalf("the cursor is hidden:\n%s", s.text())
	}
	line := strings.Split(ansi.Strip(s.m.View().Content), "\n")[c.Y]
	return ansi.Truncate(line, c.X, ""), ansi.Truncate(ansi.TruncateLeft(line, c.X, ""), 1, "")
}

func (s *session) paste(text string) {
	s.Helper()
	s.send(tea.PasteMsg{Content: text})
}

// asked fails the test unless this and nothing else was asked for.
func (s *session) asked(want ...string) {
	s.Helper()
	if got := fmt.Sprintf("%q", s.backend.asked); got != fmt.Sprintf("%q", want) {
		s.Errorf("asked for %s, want %q", got, want)
	}
}

func TestAQuestionIsAnsweredByOneKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ keys, want []string }{
		"y":             {[]string{"j", "x", "y"}, []string{"Command " + few(t)[0].ID + " cancel"}},
		"Esc leaves it": {[]string{"j", "x", "esc"}, nil},
		"n leaves it":   {[]string{"j", "x", "n"}, nil},
		"q leaves it":   {[]string{"j", "x", "q"}, nil},
		"another key does not": {[]string{"j", "x", "z", "enter", "space", "y"}, []string{
			"Command " + few(t)[0].ID + " cancel"}},
		"of several answers": {[]string{"g", "m", "c"}, []string{"Merge " + few(t)[1].ID + " merge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := atForms(t, 80, 24)
			s.press(c.keys...)
			s.asked(c.want...)
			if s.m.pages.page != pageList || s.m.pages.form != nil || len(s.m.pages.back) != 0 {
				t.Errorf("it is in %s, and Escape leads through %v", s.m.pages.page, s.m.pages.back)
			}
		})
	}
}

func TestAQuestionAppearsInFrontOfTheList(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{50, 12}, {80, 24}, {120, 40}} {
		s, _ := atForms(t, size[0], size[1])
		s.press("g", "m")
		for _, text := range []string{"Merge fix/bug-2?", "y  merge", "f  only", "c  with", "n  leave it"} {
			s.shows(text)
		}
		if size[1] > 12 {
			s.shows("fix/bug-3") // the list behind it
		}
	}
}

// A quick hand, or a slow line, sends two Escapes in one piece: both count.
func TestTwoQuickEscapesAreTwo(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	s.press("c")
	s.write("fix/one")
	s.press("alt+esc")
	if s.m.pages.page != pageList || s.m.pages.form != nil {
		t.Errorf("it is in %s", s.m.pages.page)
	}
	s.press("?", "alt+esc")
	if s.m.pages.page != pageList {
		t.Errorf("out of the help it is in %s", s.m.pages.page)
	}
	s.press("/")
	s.write("login")
	s.press("alt+esc")
	if s.m.list.Searching || s.m.tasks.Text != "" {
		t.Errorf("the filter still holds %q", s.m.tasks.Text)
	}
}

func TestAReasonIsNeeded(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	s.press("G", "k", "o")
	s.shows("Override: why?")
	s.press("enter")
	s.shows("cannot be empty")
	s.write("   ")
	s.press("enter")
	s.asked()
	s.write("The reviewer is wrong")
	s.hides("cannot be empty")
	s.press("enter")
	s.asked("Next " + bent(t).ID + " plan_review The reviewer is wrong")
	if s.m.pages.page != pageList {
		t.Errorf("it is in %s", s.m.pages.page)
	}
}

func TestWhatWasWrittenIsNotThrownAwayByOneKey(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	s.press("G", "k", "o", "esc")
	if s.m.pages.page != pageList {
		t.Fatal("an empty form asks whether it may be left")
	}
	s.press("G", "k", "o")
	s.write("because")
	s.press("esc")
	s.shows("Esc again throws it away")
	s.write("!")
	s.hides("Esc again")
	s.press("esc", "esc")
	s.asked()
	if s.m.pages.page != pageList {
		t.Errorf("it is in %s", s.m.pages.page)
	}
	s.press("G", "k", "o")
	s.hides("because")
}

// A move that was made is not told as one that could not be, whatever became of its hooks; and what was sent is
// not offered again.
func TestAMoveWithFailedHooksIsNotShownAsRefused(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 100, 24)
	made := few(t)[1]
	backend.answer = func(string, string) (record.Outcome, error) {
		return record.Outcome{Task: made, Moved: true, Hooks: []task.OwedHook{
			{Hook: task.Hook{Action: "notify_worker"}, State: task.HookFailed, Error: "cannot reach the worker"}}}, nil
	}
	s.press("g", "r")
	s.write("Say more")
	s.press("ctrl+s")
	s.shows("! " + made.Branch + " is " + string(made.Status) +
		", but notify_worker: cannot reach the worker; t tries again")
	s.press("!")
	s.hides("cannot send")
	s.press("esc", "r")
	s.hides("was not sent")
	s.hides("Say more")
}

func TestALongTextHasSeveralLinesAndIsSentByControlS(t *testing.T) {
	t.Parallel()
	for _, send := range []string{"ctrl+s", "ctrl+enter"} {
		s, _ := atForms(t, 80, 24)
		s.press("g", "r")
		s.write("First")
		s.press("enter")
		s.write("second")
		s.asked()
		if before, _ := s.cursor(); before != " second" {
			t.Errorf("the cursor stands behind %q", before)
		}
		s.press(send)
		s.asked("RequestChanges " + few(t)[1].ID + " First\nsecond")
	}
}

func TestALongTextIsEditedInTheEditor(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	backend.edit = func(text string) (string, error) { return text + " and\nthat\x1b[2J\n", nil }
	s.press("g", "r")
	s.write("this")
	s.press("ctrl+e")
	s.shows("this and")
	s.press("ctrl+s")
	s.asked("RequestChanges " + few(t)[1].ID + " this and\nthat")

	s, backend = atForms(t, 80, 24)
	backend.fails = map[string]error{"Edit": errors.New("cannot find \"vim\"")}
	s.press("g", "r")
	s.write("kept")
	s.press("ctrl+e")
	s.shows(`! cannot find "vim"`)
	s.shows("kept")
}

func TestATextThatDidNotArriveCanBeHadAgain(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	backend.fails = map[string]error{"RequestChanges": errors.New("the disk is full")}
	s.press("g", "r")
	s.write("much work")
	s.press("ctrl+s")
	s.shows("the disk is full")
	backend.fails = nil
	s.press("r")
	s.shows("much work")
	s.shows("not sent the last time")
	s.press("ctrl+s", "r")
	s.hides("much work")
}

func TestAHugeTextIsHeldForTheEditor(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	huge := strings.Repeat("a line of a log\n", 5000)
	s.press("g", "r")
	s.write("See:")
	s.paste(huge)
	s.shows("See:")
	s.shows("5001 lines")
	s.write("lost") // it is not typed into what cannot be seen
	s.press("ctrl+s")
	s.asked("RequestChanges " + few(t)[1].ID + " See:\n" + strings.TrimSpace(huge))
}

func TestWhatIsPastedIsClean(t *testing.T) {
	t.Parallel()
	const dirty = "eins\r\nzwei\tdrei\x1b[31m\x07\u202e vier\r"
	s, _ := atForms(t, 80, 24)
	s.press("G", "k", "o")
	s.paste(dirty)
	s.press("enter")
	s.asked("Next " + bent(t).ID + " plan_review eins zwei drei vier")

	s, _ = atForms(t, 80, 24)
	s.press("g", "r")
	s.paste(dirty)
	s.press("ctrl+s")
	s.asked("RequestChanges " + few(t)[1].ID + " eins\nzwei    drei vier")
}

func TestTheCursorStandsBehindWideLetters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"abc", "日本語", "👩‍👩‍👧 e\u0301x", strings.Repeat("日本語 👍 ", 40),
		strings.Repeat("long ", 60)} {
		for _, width := range []int{50, 80, 120} {
			s, _ := atForms(t, width, 24)
			s.press("G", "k", "o")
			s.paste(text)
			before, _ := s.cursor()
			if want := strings.TrimRight(text, " "); !strings.HasSuffix(strings.TrimRight(before, " "),
				lastLetters(want)) {
				t.Errorf("at %d cells the cursor stands behind %q", width, before)
			}
			for range 7 {
				s.press("left")
			}
			s.cursor()
			s.press("home")
			if before, _ := s.cursor(); !strings.HasSuffix(before, "> ") {
				t.Errorf("at home the cursor stands behind %q", before)
			}
		}
	}
}

func lastLetters(text string) string {
	letters := []rune(text)
	return string(letters[max(0, len(letters)-3):])
}

func TestFormsFitEveryScreen(t *testing.T) {
	t.Parallel()
	open := map[string][]string{"question": {"g", "m"}, "line": {"G", "k", "o"}, "text": {"g", "r"}, "creation": {"c"}}
	for name, keys := range open {
		for _, width := range []int{1, 2, 5, 17, 50, 72, 80, 300} {
			for _, height := range []int{1, 2, 5, 12, 24, 90} {
				s, _ := atForms(t, 80, 24)
				s.press(keys...)
				s.paste(strings.Repeat("日本語 👩‍👩‍👧 word\x1b[2J\x07\u0085 ", 30) + "\nsecond\x9bline")
				if name != "question" {
					s.press("esc") // it asks whether the text may be lost
				}
				s.send(tea.WindowSizeMsg{Width: width, Height: height})
				tabs := 1
				if name == "creation" {
					tabs = 11
				}
				for range tabs {
					fits(t, name, s, width, height)
					s.press("tab")
				}
			}
		}
	}
}

func fits(t *testing.T, name string, s *session, width, height int) {
	t.Helper()
	lines, _ := s.m.pages.form.View(nil, s.m.layout.body())
	if len(lines) > s.m.layout.body().Height {
		t.Errorf("%s at %dx%d has %d lines", name, width, height, len(lines))
	}
	for _, line := range lines {
		if strings.ContainsFunc(ansi.Strip(line), unicode.IsControl) || strings.Contains(line, "\x1b[2J") {
			t.Errorf("%s at %dx%d has a line that a terminal would obey: %q", name, width, height, line)
		}
		if got := ansi.StringWidth(line); got > width {
			t.Errorf("%s at %dx%d has a line of %d cells: %q", name, width, height, got, line)
		}
	}
	if c := s.m.View().Cursor; c != nil && (c.X < 0 || c.X >= width || c.Y < 0 || c.Y >= height) {
		t.Errorf("%s at %dx%d has its cursor at %d, %d", name, width, height, c.X, c.Y)
	}
}

func TestFormsAsTheyLook(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		name          string
		width, height int
	}{{"50x12", 50, 12}, {"80x24", 80, 24}, {"120x40", 120, 40}} {
		s, backend := atForms(t, size.width, size.height)
		s.press("g", "m")
		golden(t, "form_question_"+size.name, s.formText())
		s.press("esc", "G", "k", "o")
		s.write("The tests of another branch fail.")
		golden(t, "form_line_"+size.name, s.formText())
		s.press("esc", "esc", "g", "r")
		s.write("The button is too small.")
		s.press("enter")
		s.write("And it is red.")
		golden(t, "form_text_"+size.name, s.formText())
		s.press("esc", "esc", "c")
		golden(t, "form_create_"+size.name, s.formText())
		s.write("fix/login")
		s.press("tab")
		s.write("Say what was wrong when the login fails")
		s.press("tab")
		s.paste("Users ask.\nThey do not know.\n")
		backend.fails = map[string]error{
			"Create": errors.New(`cannot use the branch "fix/login": the live task 7kQ has it`)}
		s.press("ctrl+s", "shift+tab")
		golden(t, "form_refused_"+size.name, s.formText())
	}
}

func TestEveryFormTellsItsKeys(t *testing.T) {
	t.Parallel()
	for want, keys := range map[string][]string{
		"y f c s choose  Esc leave it":                                  {"g", "m"},
		"y delete it  Esc leave it":                                     {"d"},
		"Enter send  Esc leave it":                                      {"G", "k", "o"},
		"ctrl+s send  ctrl+e your editor  Esc leave it  Enter new line": {"g", "r"},
		"ctrl+s create  Tab next  Esc leave it":                         {"c"},
		"ctrl+s create  ←→ or a letter choose  Tab next  Esc leave it":  {"c", "shift+tab"},
		"ctrl+s create  ctrl+e your editor  Tab next  Esc leave it":     {"c", "tab", "tab"},
		"Enter create  ←→ or a letter choose  Tab next  Esc leave it":   {"c", "up", "up"},
		"Esc throws it away  any other key goes on":                     {"c", "x", "esc"},
	} {
		s, _ := atForms(t, 80, 24)
		s.press(keys...)
		if got := ansi.Strip(s.m.footLine()); got != want {
			t.Errorf("after %v the keys are %q, want %q", keys, got, want)
		}
	}
}

func TestTheCursorIsThereWhenTheEditorIsLeft(t *testing.T) {
	t.Parallel() // Bubble Tea shows it again after the editor, and does not hide it for a screen without one
	s, backend := atForms(t, 80, 24)
	backend.edit = func(string) (string, error) { return "one\ntwo\n", nil }
	s.press("c", "tab", "tab", "ctrl+e")
	s.cursor()
	backend.edit = func(string) (string, error) { return strings.Repeat("line\n", 400), nil }
	s.press("esc", "esc", "g", "r", "ctrl+e")
	s.shows("400 lines")
	s.cursor()
}

func TestALongTextKeepsItsCursorInSight(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	s.press("g", "r")
	for range 40 {
		s.write("x")
		s.press("enter")
	}
	s.write("here")
	for _, size := range [][2]int{{80, 24}, {50, 12}, {120, 40}, {20, 12}} {
		s.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		if before, _ := s.cursor(); before != " here" {
			t.Errorf("at %v the cursor stands behind %q:\n%s", size, before, s.text())
		}
	}
}

func TestLeavingTheProgramAsksOnceWhetherAFormMayBeLost(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"creation": {"c"}, "text": {"g", "r"}, "line": {"G", "k", "o"}} {
		s, _ := atForms(t, 80, 24)
		s.press(keys...)
		s.write("x")
		s.press("ctrl+c")
		if s.quit {
			t.Errorf("%s: it was left with what was written", name)
		}
		s.shows("not sent; press again")
		s.write("y") // the person stays
		s.press("ctrl+c")
		if s.quit {
			t.Errorf("%s: it is asked only the first time", name)
		}
		s.press("ctrl+c")
		if !s.quit {
			t.Errorf("%s: it cannot be left", name)
		}
	}
	s, _ := atForms(t, 80, 24)
	s.press("c", "ctrl+c")
	if !s.quit {
		t.Error("an empty form keeps the program open")
	}
}

func TestTheQuestionOfAMergeSaysWhetherTheWorkWasReviewed(t *testing.T) {
	t.Parallel()
	noted := few(t)
	noted[1].Subject = task.Subject{Commit: "1111111aaaa", By: "Ada \x1b[31m"}
	for name, c := range map[string]struct {
		works map[string]Work
		want  string
	}{
		"as far as the record says": {nil, `Its work: handed in by Ada`},
		"as the branch is now": {
			map[string]Work{noted[1].ID: {Judged: "reviewed 1111111, now 2222222, 3 commits since"}},
			"now 2222222, 3 commits"},
	} {
		backend := &fakeBackend{tasks: noted, works: c.works}
		if c.works != nil {
			noted[1].Workspace = "shop--1"
		}
		s := openSession(t, backend, 100, 24)
		s.press("g", "m")
		inside := strings.ReplaceAll(s.formText(), "│", " ")
		if text := strings.Join(strings.Fields(inside), " "); !strings.Contains(text, c.want) ||
			strings.Contains(text, "\x1b") {
			t.Errorf("%s: it asks %q, want %q", name, text, c.want)
		}
	}
}

// Defect: the key that overrides moved a task to the end of a merge, and nothing was merged.
func TestAnOverrideThatLeadsToTheEndOfAMergeMerges(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.tasks[2].PRURL, backend.tasks[2].PRState = "", ""
	s := openSession(t, backend, 120, 40)
	s.selects("fix/totals")
	s.press("o")
	s.shows("Override: why?")
	s.shows("Its branch goes into")
	s.write("I read every line")
	s.press("enter")
	row, _ := s.m.tasks.SelectedRow()
	s.asked("Merge " + row.Task.ID + "  I read every line")
}

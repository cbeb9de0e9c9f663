package dashboard

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/tasks"
)

func TestATaskIsCreatedFromWhatWasChosen(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 120, 40)
	s.press("c")
	s.write("fix/login")
	s.press("tab")
	s.write("Mend the login")
	s.press("down")
	s.write("It is slow.")
	s.press("enter", "right", "enter") // harness: codex; the reviewer's follows
	s.press("down", "down")
	s.write("high")
	s.press("enter")
	s.write("low")
	s.press("enter")
	s.write("opus")
	s.press("enter")
	s.write("sonnet")
	s.press("enter", "n", "enter", "enter", "right", "enter")
	if len(backend.made) != 1 {
		t.Fatalf("%d tasks were made:\n%s", len(backend.made), s.text())
	}
	got := backend.made[0]
	if got.Project.Name != "shop" || got.Branch != "fix/login" || got.Summary != "Mend the login" ||
		got.Context != "It is slow." ||
		got.Harness != "codex" || got.ReviewHarness != "codex" || got.Workflow != "default" ||
		got.Effort != "high" || got.ReviewEffort != "low" || got.Model != "opus" || got.ReviewModel != "sonnet" ||
		got.Spawn || got.Status != "pending" {
		t.Errorf("made %+v", got)
	}
	if now, _ := s.m.tasks.Selected(); s.m.pages.page != pageList || now.Branch != "fix/login" {
		t.Errorf("it is in %s, on %s", s.m.pages.page, now.Branch)
	}
}

func TestTheFormOfATaskStartsWithUsefulDefaults(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	s.press("c", "ctrl+s")
	got := backend.made[0]
	if got.Project.Name != "shop" || got.Branch != "" || got.Harness != "claude" ||
		got.ReviewHarness != "codex" || got.Workflow != "default" || !got.Spawn || got.Status != "" {
		t.Errorf("made %+v", got)
	}
}

func TestTheProjectThatIsShownIsChosen(t *testing.T) {
	t.Parallel()
	backend := &fakeBackend{choices: choosing(t), tasks: []task.Task{aTask(t, 1, "working", func(t *task.Task) {
		t.Project = "garden"
	}), aTask(t, 2, "working")}}
	s := openSession(t, backend, 80, 24)
	s.press("c")
	if got := s.creating().Project.Name; got != "garden" {
		t.Errorf("with a task of the garden selected, the project is %q", got)
	}
	if got := s.creating().Workflow; got != "classic" {
		t.Errorf("the workflow of the garden is %q", got)
	}
	s.press("esc", "j", "a", "c")
	if got := s.creating().Project.Name; got != "shop" {
		t.Errorf("with the shop shown, the project is %q", got)
	}
}

// A form that cannot be sent is not opened: the key says what is missing.
func TestWithoutAProjectTheKeySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	backend := &fakeBackend{noTaskYet: "this folder is in no git repository; orange project add PATH"}
	s := openSession(t, backend, 120, 40)
	s.hides("c create")
	s.press("c")
	s.shows("c: this folder is in no git repository; orange project add PATH")
	backend.noTaskYet = "" // the person has added one
	s.press("R", "c")
	s.shows("Create a task")
}

func TestABranchWithoutANameIsNamedAfterTheSummary(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	s.press("c")
	s.shows("empty: named after the summary")
	s.press("tab")
	s.write("Fix the login")
	s.press("ctrl+s")
	if n := backend.made[0]; n.Branch != "" || !n.NameBranch || n.Summary != "Fix the login" {
		t.Errorf("made %+v", n)
	}
}

func TestWhatIsRefusedKeepsEveryField(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{
		task.Notef(task.ErrBranchTaken, "cannot use the branch %q: the live task %s has it", "x", "abc"),
		task.Notef(task.ErrUsage, "cannot use the harness %q", "x"),
		errors.New("bad\nbranch\x1b[2Jname"),
	} {
		s, backend := atForms(t, 80, 24)
		backend.fails = map[string]error{"Create": refusal}
		s.press("c")
		s.write("x")
		s.press("tab")
		s.write("Summary")
		s.press("tab")
		s.paste("one\ntwo")
		s.press("tab", "right", "ctrl+s")
		first, _, _ := strings.Cut(refusal.Error(), "\n")
		s.shows("! " + first)
		if len(s.m.foot.failures.all) != 0 || len(s.m.foot.jobs.running) != 0 {
			t.Errorf("it is told twice: %v", s.m.foot.failures.all)
		}
		backend.fails = nil
		s.press("ctrl+s")
		if len(backend.made) != 1 || backend.made[0].Branch != "x" || backend.made[0].Summary != "Summary" ||
			backend.made[0].Context != "one\ntwo" || backend.made[0].Harness != "codex" {
			t.Fatalf("made %+v:\n%s", backend.made, s.text())
		}
		if s.m.pages.page != pageList {
			t.Errorf("it is in %s", s.m.pages.page)
		}
	}
}

func TestATaskIsNotCreatedTwice(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	s.press("c")
	s.write("x")
	cmd := s.m.Update(keyNamed(t, "ctrl+s"))
	s.shows("creating…")
	s.press("ctrl+s", "enter")
	s.write("more")
	if len(backend.made) != 0 {
		t.Fatal("keys are heard while the task is made")
	}
	s.follow(cmd)
	if len(backend.made) != 1 || backend.made[0].Branch != "x" || s.m.pages.page != pageList {
		t.Errorf("made %+v", backend.made)
	}
}

func TestAFormLeftWhileSendingComesBackWhenRefused(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	backend.fails = map[string]error{"Create": errors.New("the disk is full")}
	s.press("c")
	s.write("fix/login")
	cmd := s.m.Update(keyNamed(t, "ctrl+s"))
	s.press("esc")
	s.shows("still being created")
	s.follow(cmd)
	s.shows("the disk is full")
	s.press("c")
	s.shows("fix/login")
	s.shows("! the disk is full")
}

func TestACreatedTaskThatCannotStartClosesTheForm(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	made := few(t)[2]
	backend.answer = func(string, string) (record.Outcome, error) {
		return record.Outcome{Task: made}, errors.New("task was created, but it cannot be started")
	}
	s.press("c", "ctrl+s")
	s.shows("cannot be started")
	if now, _ := s.m.tasks.Selected(); s.m.pages.page != pageList || now.ID != made.ID {
		t.Errorf("it is in %s, on %s", s.m.pages.page, now.Branch)
	}
}

func TestTheCursorGoesToANewTaskThatTheListHides(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	s.press("/")
	s.write("bug-2")
	s.press("enter", "f", "f", "c")
	s.write("new/one")
	s.press("ctrl+s")
	if now, _ := s.m.tasks.Selected(); now.Branch != "new/one" {
		t.Errorf("the cursor is on %q:\n%s", now.Branch, s.text())
	}
}

func TestTheFormSaysWhereTheTaskWillBegin(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 120, 40)
	s.press("c", "tab")
	s.shows("empty: it begins in clarification")
	s.write("Mend it")
	s.hides("clarification")
	s.shows("pending → planning")
}

func TestTheContextIsALineUntilItHasSeveral(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	backend.edit = func(text string) (string, error) { return text + "\nsecond\r\nthird\n", nil }
	s.press("c", "tab", "tab")
	s.write("first")
	s.press("ctrl+e")
	s.shows("first … 3 lines, 18 letters")
	s.paste("fourth\nfifth")
	s.shows("5 lines")
	s.press("ctrl+u")
	s.hides("lines")
	s.paste("only one\n")
	s.press("ctrl+s")
	if got := backend.made[0].Context; got != "only one" {
		t.Errorf("the context is %q", got)
	}
}

func TestTheFormSaysThatItsChoicesAreNotReadYet(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	look := s.m.Update(keyNamed(t, "c"))
	s.shows("looking…")
	s.write("fix/x")
	s.follow(look)
	s.hides("looking…")
	s.shows("fix/x")
	s.press("esc", "esc")

	backend.fails = map[string]error{"Choices": errors.New("config.yml is wrong")}
	s.press("c")
	s.shows("! config.yml is wrong")
	backend.fails = nil
	s.press("ctrl+s") // looks again
	s.hides("config.yml")
	s.shows("shop")
	if len(backend.made) != 0 {
		t.Error("a task was made without a project")
	}
}

func TestTheFieldInFocusIsInSightOnASmallScreen(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 50, 12)
	s.press("c")
	for range 2 {
		for _, field := range []string{"branch", "summary", "context", "harness", "review harness", "workflow",
			"effort",
			"review effort", "model", "review model", "start at once", "waits for", "begins in",
			"project"} {
			s.shows("> " + field)
			switch field {
			case "branch", "summary", "context", "effort", "review effort", "model", "review model",
				"waits for":
				s.cursor()
			}
			s.press("tab")
		}
	}
	s.press("shift+tab", "up")
	s.shows("> begins in")
}

func TestTooLongASummaryIsRefusedInPlace(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	s.press("c", "tab")
	s.send(tea.PasteMsg{Content: strings.Repeat("x", 1001)})
	s.press("ctrl+s")
	s.shows("more than 1000")
	if len(backend.made) != 0 {
		t.Error("it was made")
	}
}

func TestASummaryOfBlanksIsRefusedInPlace(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 80, 24)
	s.press("c", "tab")
	s.send(tea.PasteMsg{Content: "\u3000 "})
	s.press("ctrl+s")
	s.shows("as the summary: it says nothing")
	if len(backend.made) != 0 {
		t.Error("it was made")
	}
}

func TestTheCursorFindsANewTaskHoweverLateTheListIs(t *testing.T) {
	t.Parallel()
	s, backend := atForms(t, 120, 40)
	s.press("c")
	s.write("new/one")
	create := s.m.Update(keyNamed(t, "ctrl+s"))
	early := s.m.Update(recordChange{}) // a look at the record that began before the task was there
	stale := tasks.Read{Tasks: backend.tasks}
	s.follow(create)
	s.send(stale)
	s.follow(early)
	s.send(recordChange{})
	if now, _ := s.m.tasks.Selected(); now.Branch != "new/one" || s.m.asks.newTask != "" {
		t.Errorf("the cursor is on %q", now.Branch)
	}
}

func TestAFormForgetsNothingWhenItLearnsTheChoicesLate(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	s.press("c", "shift+tab", "right")
	s.send(form.ChoicesRead{Choices: choosing(t)})
	if got := s.creating().Project.Name; got != "garden" {
		t.Errorf("the project went back to %q", got)
	}
}

// creating is the task that the open form describes.
func (s *session) creating() task.New {
	s.Helper()
	c, is := s.m.pages.form.(*form.Creation)
	if !is {
		s.Fatalf("no task is being made, but %s", s.m.pages.page)
	}
	return c.Task()
}

package dashboard

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/tasks"
	"orange/internal/record"
	"orange/internal/task"
)

func TestATaskIsCreatedFromWhatWasChosen(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 120, 40)
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
	s.press("enter", "n", "enter", "right", "enter")
	if len(house.made) != 1 {
		t.Fatalf("%d tasks were made:\n%s", len(house.made), s.text())
	}
	got := house.made[0]
	if got.Project.Name != "shop" || got.Branch != "fix/login" || got.Summary != "Mend the login" ||
		got.Context != "It is slow." ||
		got.Harness != "codex" || got.ReviewHarness != "codex" || got.Workflow != "default" ||
		got.Effort != "high" || got.ReviewEffort != "low" ||
		got.Spawn || got.Status != "pending" {
		t.Errorf("made %+v", got)
	}
	if now, _ := s.m.selected(); s.m.place != inList || now.Branch != "fix/login" {
		t.Errorf("it is in %s, on %s", s.m.place, now.Branch)
	}
}

func TestTheFormOfATaskStartsWithWhatNobodyHasToSay(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 80, 24)
	s.press("c", "ctrl+s")
	got := house.made[0]
	if got.Project.Name != "shop" || got.Branch != "" || got.Harness != "claude" ||
		got.ReviewHarness != "codex" || got.Workflow != "default" || !got.Spawn || got.Status != "" {
		t.Errorf("made %+v", got)
	}
}

func TestTheProjectThatIsShownIsChosen(t *testing.T) {
	t.Parallel()
	house := &fakeHouse{choices: choosing(t), tasks: []task.Task{aTask(t, 1, "working", func(t *task.Task) {
		t.Project = "garden"
	}), aTask(t, 2, "working")}}
	s := sit(t, house, 80, 24)
	s.press("c")
	if got := s.m.form.creation.chosenProject().Name; got != "garden" {
		t.Errorf("with a task of the garden selected, the project is %q", got)
	}
	if got := s.m.form.creation.picks[fieldWorkflow].value(); got != "classic" {
		t.Errorf("the workflow of the garden is %q", got)
	}
	s.press("esc", "j", "a", "c")
	if got := s.m.form.creation.chosenProject().Name; got != "shop" {
		t.Errorf("with the shop shown, the project is %q", got)
	}
}

func TestWhatIsRefusedKeepsEveryField(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{
		task.Notef(task.ErrBranchTaken, "cannot use the branch %q: the live task %s has it", "x", "abc"),
		task.Notef(task.ErrUsage, "cannot use the harness %q", "x"),
		errors.New("bad\nbranch\x1b[2Jname"),
	} {
		s, house := atForms(t, 80, 24)
		house.fails = map[string]error{"Create": refusal}
		s.press("c")
		s.write("x")
		s.press("tab")
		s.write("Summary")
		s.press("tab")
		s.paste("one\ntwo")
		s.press("tab", "right", "ctrl+s")
		first, _, _ := strings.Cut(refusal.Error(), "\n")
		s.shows("! " + first)
		if len(s.m.trouble.told) != 0 || len(s.m.jobs) != 0 {
			t.Errorf("it is told twice: %v", s.m.trouble.told)
		}
		house.fails = nil
		s.press("ctrl+s")
		if len(house.made) != 1 || house.made[0].Branch != "x" || house.made[0].Summary != "Summary" ||
			house.made[0].Context != "one\ntwo" || house.made[0].Harness != "codex" {
			t.Fatalf("made %+v:\n%s", house.made, s.text())
		}
		if s.m.place != inList {
			t.Errorf("it is in %s", s.m.place)
		}
	}
}

func TestATaskIsNotCreatedTwice(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 80, 24)
	s.press("c")
	s.write("x")
	cmd := s.m.Update(keyNamed(t, "ctrl+s"))
	s.shows("creating…")
	s.press("ctrl+s", "enter")
	s.write("more")
	if len(house.made) != 0 {
		t.Fatal("keys are heard while the task is made")
	}
	s.follow(cmd)
	if len(house.made) != 1 || house.made[0].Branch != "x" || s.m.place != inList {
		t.Errorf("made %+v", house.made)
	}
}

func TestAFormThatWasLeftWhileItWasSentComesBackWhenRefused(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 80, 24)
	house.fails = map[string]error{"Create": errors.New("the disk is full")}
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

func TestATaskThatWasCreatedAndCouldNotBeStartedClosesTheForm(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 80, 24)
	made := few(t)[2]
	house.answer = func(string, string) (record.Outcome, error) {
		return record.Outcome{Task: made}, errors.New("task was created, but it cannot be started")
	}
	s.press("c", "ctrl+s")
	s.shows("cannot be started")
	if now, _ := s.m.selected(); s.m.place != inList || now.ID != made.ID {
		t.Errorf("it is in %s, on %s", s.m.place, now.Branch)
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
	if now, _ := s.m.selected(); now.Branch != "new/one" {
		t.Errorf("the cursor is on %q:\n%s", now.Branch, s.text())
	}
}

func TestATaskBeginsOnlyWhereItsWorkflowLetsIt(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 120, 40)
	s.press("c")
	for range 5 {
		s.press("tab")
	}
	for _, name := range []string{"default", "build", "classic", "minimal", "phases"} {
		c := s.m.form.creation
		if c.picks[fieldWorkflow].value() != name {
			t.Fatalf("the workflow is %q, want %q", c.picks[fieldWorkflow].value(), name)
		}
		var got []string
		for _, o := range c.picks[fieldStatus].options[1:] {
			got = append(got, o.value)
		}
		var want []string
		for _, b := range rulesOf(t, name).Births {
			want = append(want, string(b.To))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: tasks may begin in %v, want %v", name, got, want)
		}
		s.press("right")
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
	s, house := atForms(t, 80, 24)
	house.edit = func(text string) (string, error) { return text + "\nsecond\r\nthird\n", nil }
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
	if got := house.made[0].Context; got != "only one" {
		t.Errorf("the context is %q", got)
	}
}

func TestWhileNobodyKnowsWhatCanBeChosenTheFormSaysSo(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 80, 24)
	look := s.m.Update(keyNamed(t, "c"))
	s.shows("looking…")
	s.write("fix/x")
	s.follow(look)
	s.hides("looking…")
	s.shows("fix/x")
	s.press("esc", "esc")

	house.fails = map[string]error{"Choices": errors.New("config.yml is wrong")}
	s.press("c")
	s.shows("! config.yml is wrong")
	house.fails = nil
	s.press("ctrl+s") // looks again
	s.hides("config.yml")
	s.shows("shop")
	if len(house.made) != 0 {
		t.Error("a task was made without a project")
	}
}

func TestTheFieldInFocusIsInSightOnASmallScreen(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 50, 12)
	s.press("c")
	for range 2 * int(fields) {
		f := s.m.form.creation.focus
		s.shows("> " + f.String())
		if !f.picked() {
			s.cursor()
		}
		s.press("tab")
	}
	s.press("shift+tab", "up")
	if s.m.form.creation.focus != fieldStatus {
		t.Errorf("two back from the branch is %s", s.m.form.creation.focus)
	}
}

func TestTooLongASummaryIsRefusedInPlace(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 80, 24)
	s.press("c", "tab")
	s.tell(tea.PasteMsg{Content: strings.Repeat("x", task.MaxSummary+1)})
	s.press("ctrl+s")
	s.shows("more than 1000")
	if len(house.made) != 0 {
		t.Error("it was made")
	}
}

func TestTheCursorGoesToANewTaskHoweverLateTheListHearsOfIt(t *testing.T) {
	t.Parallel()
	s, house := atForms(t, 120, 40)
	s.press("c")
	s.write("new/one")
	create := s.m.Update(keyNamed(t, "ctrl+s"))
	early := s.m.Update(changed{}) // a look at the record that began before the task was there
	stale := tasks.Read{Tasks: house.tasks}
	s.follow(create)
	s.tell(stale)
	s.follow(early)
	s.tell(changed{})
	if now, _ := s.m.selected(); now.Branch != "new/one" || s.m.wanted != "" {
		t.Errorf("the cursor is on %q", now.Branch)
	}
}

func TestAFormForgetsNothingWhenItLearnsTheChoicesLate(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	s.press("c", "shift+tab", "right")
	s.tell(choicesRead{choices: choosing(t)})
	if got := s.m.form.creation.chosenProject().Name; got != "garden" {
		t.Errorf("the project went back to %q", got)
	}
}

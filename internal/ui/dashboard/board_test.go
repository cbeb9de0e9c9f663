package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
)

func TestTheBoardHasTheStatesInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	s := openSession(t, &fakeBackend{tasks: few(t)}, 200, 30)
	s.press("b")
	var states []string
	for _, word := range strings.Fields(strings.Split(s.text(), "\n")[1]) {
		if strings.Trim(word, "0123456789") != "" { // not a count
			states = append(states, word)
		}
	}
	// stuck, clarification and cancelled have no task and are not on the way; what is over is last.
	if got, want := strings.Join(states, " "), "pending planning working agent-review reviewing done"; got != want {
		t.Errorf("the columns are %s, want %s", got, want)
	}
}

func TestTheBoardIsWalkedByColumnsAndCards(t *testing.T) {
	t.Parallel()
	s := openAt(t, crowd(t, 40), 80, 24)
	s.press("b")
	s.chosen("fix/bug-0") // working
	s.press("j")
	s.chosen("fix/bug-5")
	s.press("l")
	s.chosen("fix/bug-6") // agent-review, at the same height
	s.press("l")
	s.chosen("fix/bug-22") // the oldest need is first there
	s.press("h", "h", "h")
	s.chosen("fix/bug-8") // planning
	s.press("G", "k")
	s.chosen("fix/bug-23")
	s.press("g")
	s.chosen("fix/bug-3")
	s.press("h", "h", "h")
	s.chosen("fix/bug-4") // pending is the first
}

func TestEveryKeyOfTheListWorksOnTheBoard(t *testing.T) {
	t.Parallel()
	for _, k := range table(t) {
		if k.group == groupTask && !k.works(pageBoard) {
			t.Errorf("%q does not work on the board", k.names[0])
		}
	}
	backend := day(t)
	s := openSession(t, backend, 120, 40)
	s.selects("fix/totals")
	s.press("b", "m", "y")
	if got := strings.Join(backend.asked, "; "); got != "Merge "+backend.tasks[2].ID {
		t.Errorf("asked: %s", got)
	}
}

// Where the columns do not fit, the selected one is on the screen nevertheless, and none is narrower than its least.
func TestTheSelectedCardIsAlwaysInSight(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{20, 10}, {50, 12}, {80, 24}, {120, 40}, {300, 60}} {
		s := openSession(t, crowd(t, 60), size[0], size[1])
		s.press("b")
		for _, key := range []string{"h", "h", "h", "G", "l", "l", "j", "l", "G", "l", "l", "l", "k", "g", "h",
			"pgdown", "h"} {
			s.press(key)
			one, _ := s.m.tasks.Selected()
			card := ""
			for _, line := range strings.Split(s.m.View().Content, "\n") {
				if _, after, found := strings.Cut(line, "\x1b[7m"); found {
					card, _, _ = strings.Cut(after, "\x1b[")
				}
			}
			tail := one.Branch[len(one.Branch)-2:]
			if !strings.Contains(card, tail) {
				t.Fatalf("%v after %q: %q is selected, and the screen marks %q:\n%s", size, key, one.Branch, card,
					s.text())
			}
		}
	}
}

func TestAWorkflowThatCannotBeReadHasItsColumnsToo(t *testing.T) {
	t.Parallel()
	s := openSession(t, &fakeBackend{tasks: []task.Task{
		aTask(t, 1, "working"),
		aTask(t, 2, "working", func(one *task.Task) {
			one.Workflow = task.WorkflowRef{Name: "lost", Digest: "x"}
			one.Status = "somewhere"
		}),
	}}, 200, 30)
	s.press("b")
	s.shows("lost")
	s.shows("somewhere 1")
	s.press("l")
	s.chosen("fix/bug-2")
}

func TestWorkspacesLeadToTheirTasks(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	s.press("f", "f") // done ones alone: the task is hidden
	s.press("w")
	s.press("g", "j", "enter")
	if s.m.pages.page != pageList {
		t.Fatalf("it shows %s", s.m.pages.page)
	}
	s.chosen("feature/basket-that-remembers-what-was-in-it-yesterday")
	s.press("w")
	s.shows("/home/ann/.orange/workspaces/shop--2")
	s.press("G", "enter")
	s.shows("Enter: no task has this workspace")
	s.press("esc")
	if s.m.pages.page != pageList {
		t.Errorf("it shows %s", s.m.pages.page)
	}
}

func TestWorkspacesThatCannotBeReadAreTold(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.fails = map[string]error{"Workspaces": errLook}
	s := openSession(t, backend, 80, 24)
	s.shows("cannot look at the workspaces: nobody is there")
	s.press("w")
	s.shows("looking…")
	backend.fails = nil
	s.press("R")
	s.shows("shop--1")
}

func TestAClickSelectsAndASecondOneOpens(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	x, y := s.find("fix/flaky")
	s.click(x, y)
	s.chosen("fix/flaky")
	s.click(x, y+1) // its second line is its own
	if s.m.pages.page != pageDetail {
		t.Errorf("it shows %s", s.m.pages.page)
	}
	s.press("esc")
	s.click(s.find("fix/login"))
	s.chosen("fix/login")
	s.click(3, 20) // nothing is there
	s.chosen("fix/login")
	s.press("b", "h", "h", "h", "h", "h")
	s.click(s.find("-1.26"))
	s.chosen("chore/go-1.26")
	s.click(s.find("-1.26"))
	if s.m.pages.page != pageDetail {
		t.Errorf("it shows %s", s.m.pages.page)
	}
	s.press("esc", "w")
	s.click(s.find("shop--3"))
	s.click(s.find("shop--3"))
	s.chosen("fix/totals")
	if len(s.backend.asked) > 0 {
		t.Errorf("clicks asked for %v", s.backend.asked)
	}
}

func TestAClickOnAKeyPressesIt(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 140, 24)
	s.click(s.find("b board"))
	if s.m.pages.page != pageBoard {
		t.Errorf("it shows %s", s.m.pages.page)
	}
	s.click(s.find("? help"))
	s.shows("Keys")
	s.click(s.find("q back"))
	s.send(failureNews{"do it", errLook})
	s.click(s.find("cannot do it"))
	s.shows("What went wrong")
}

func TestTheWheelLeavesTheSelectedTaskWhereItIs(t *testing.T) {
	t.Parallel()
	backend := crowd(t, 200)
	for i := range backend.tasks {
		if backend.tasks[i].Status == "reviewing" {
			backend.tasks[i].Status = "working" // none needs a person
		}
	}
	s := openSession(t, backend, 80, 24)
	s.press("space")  // the list alone
	s.press("pgdown") // 18 down
	s.wheel(5, 5, tea.MouseWheelDown)
	s.chosen("fix/bug-18")
	if first := strings.Split(s.text(), "\n")[2]; !strings.Contains(first, "fix/bug-3 ") {
		t.Errorf("the list begins with %q", first)
	}
	for range 6 {
		s.wheel(5, 5, tea.MouseWheelDown)
	}
	s.chosen("fix/bug-21") // it goes along where it would be lost
	for range 100 {
		s.wheel(5, 5, tea.MouseWheelUp)
	}
	s.chosen("fix/bug-18")
	s.shows("fix/bug-0 ")
}

// A card has two lines, and of long names the words in which they differ.
func TestCardsHaveTheWordsThatDiffer(t *testing.T) {
	t.Parallel()
	var all []task.Task
	for i, word := range []string{"currency", "quantity", "discount"} {
		all = append(all, aTask(t, i, "working", func(one *task.Task) {
			one.Branch, one.Summary = "feature/the-basket-of-the-shop-shows-"+word, "It shows "+word
		}))
	}
	s := openSession(t, &fakeBackend{tasks: all}, 80, 24)
	s.press("b")
	for _, want := range []string{"> ● …currency", "…quantity", "…discount", "quantity"} {
		s.shows(strings.Replace(want, "> ", ">", 1))
	}
}

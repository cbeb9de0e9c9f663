package dashboard

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
)

func few(t testing.TB) []task.Task {
	return []task.Task{
		aTask(t, 1, "working"),
		aTask(t, 2, "reviewing"),
		aTask(t, 3, "pending"),
		aTask(t, 4, "done"),
	}
}

func TestTheCursorStaysOnItsTask(t *testing.T) {
	t.Parallel()
	backend := &fakeBackend{tasks: few(t)}
	s := openSession(t, backend, 80, 24)
	s.selects("fix/bug-3")
	backend.tasks = append([]task.Task{aTask(t, 0, "working")}, backend.tasks...)
	s.send(recordChange{})
	s.chosen("fix/bug-3")
	s.shows("fix/bug-0")
	backend.tasks = backend.tasks[:2]
	s.send(recordChange{})
	s.hides("fix/bug-3")
	s.chosen("fix/bug-1") // where a task is gone, the nearest one that is left
}

func TestLiveTasksComeFirst(t *testing.T) {
	t.Parallel()
	tasks := few(t)
	slices.Reverse(tasks)
	s := openSession(t, &fakeBackend{tasks: tasks}, 80, 24)
	for range [4]int{} {
		s.press("s", "G")
		s.chosen("fix/bug-4")
	}
}

// columnsOf is where each column of the list begins.
func columnsOf(s *session) []int {
	titles, _, _ := strings.Cut(strings.Split(s.text(), "\n")[1], "│") // each is one word
	var out []int
	for at := range titles {
		if titles[at] != ' ' && (at == 0 || titles[at-1] == ' ') {
			out = append(out, at)
		}
	}
	return out
}

func TestColumnsStandStillWhateverIsLearned(t *testing.T) {
	t.Parallel()
	for _, width := range []int{50, 80, 120, 250} {
		backend := day(t)
		s := openSession(t, backend, width, 24)
		want := columnsOf(s)
		backend.tasks[0].Status = "a-status-that-is-quite-long"
		backend.works[backend.tasks[0].ID] = Work{Commits: 123456, Added: 1234567, Removed: 7654321}
		s.send(recordChange{})
		s.press("R")
		if got := columnsOf(s); !slices.Equal(got, want) {
			t.Errorf("%d: columns began at %v, and after a change at %v", width, want, got)
		}
	}
}

func TestALongNameKeepsBothOfItsEnds(t *testing.T) {
	t.Parallel()
	s := openSession(t, &fakeBackend{tasks: []task.Task{aTask(t, 1, "working", func(one *task.Task) {
		one.Branch = "feature/a-very-long-name-of-a-branch-that-says-all-of-it-at-last-42"
	})}}, 80, 24)
	s.press("a")
	s.shows("feature/a-ve")
	s.shows("…")
	s.shows("-at-last-42 ")
}

func TestAttentionIsSaidBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	s.selects("fix/flaky")
	s.shows("the worker died 3 times; see its terminal, then r or x")
	s.shows("4 need you") // two wait for a person in the course of things, and an agent is dead
	s.shows("◆ shop/fix/totals")
	s.shows("◆ shop/feature/gifts")
}

func TestThePoolIsReadAgainOnlyWhenItsHoldersChange(t *testing.T) {
	t.Parallel()
	backend := day(t)
	s := openSession(t, backend, 80, 24)
	looks := func() (n int) {
		for _, c := range backend.calls {
			if c == "Workspaces" {
				n++
			}
		}
		return n
	}
	before := looks()
	s.send(recordChange{}, recordChange{})
	if got := looks(); got != before {
		t.Errorf("nobody got a workspace, and it was looked %d times", got-before)
	}
	backend.tasks = slices.Clone(backend.tasks)
	backend.tasks[0].Workspace = ""
	backend.workspaces[0].Task = ""
	s.send(recordChange{})
	if got := looks(); got != before+1 {
		t.Errorf("a workspace was given back, and it was looked %d times", got-before)
	}
	s.shows("7 of 10 workspaces")
}

func TestTheFooterCutsNoWordAndHidesNoHelp(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	words := map[string]bool{"": true}
	for _, k := range table(t) {
		words[k.name()] = true
		for _, w := range []string{k.footer, "start", "start again", "attach", "this project", "list", "back", "quit"} {
			for _, one := range strings.Fields(w) {
				words[one] = true
			}
		}
	}
	for width := 1; width <= 200; width++ {
		s.send(tea.WindowSizeMsg{Width: width, Height: 24})
		line := strings.Split(s.text(), "\n")[23]
		for _, w := range strings.Fields(line) {
			if !words[w] {
				t.Fatalf("%d: the footer has %q: %s", width, w, line)
			}
		}
		if width >= 16 && (!strings.Contains(line, "? help") || !strings.Contains(line, "q quit")) {
			t.Errorf("%d: %s", width, line)
		}
	}
}

func TestTheFooterHasOpenKeysAlone(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 120, 300} {
		s := openSession(t, day(t), width, 24)
		for _, one := range s.m.keyboard.footer(s.m.layout.width) {
			k, _ := s.m.keyboard.keys.find(one.key, pageList)
			if why := s.m.keyboard.why(k); why != "" {
				t.Errorf("%d: %q is in the footer though %s", width, one.key, why)
			}
		}
	}
}

func TestEveryKeyOfTheFooterHasItsPlaceInTheOrder(t *testing.T) {
	t.Parallel()
	for _, k := range table(t) {
		if k.footer != "" && !slices.Contains(footOrder(), k.names[0]) {
			t.Errorf("%q has no place in footOrder", k.names[0])
		}
	}
}

func TestNoKeyMeansTwoThingsInOnePlace(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, k := range table(t) {
		for _, p := range k.pages {
			for _, name := range k.names {
				at := name + " in " + p.String()
				if other, taken := seen[at]; taken {
					t.Errorf("%s: %q and %q", at, other, k.does)
				}
				seen[at] = k.does
			}
		}
	}
}

func TestLeavingIsAskedOnceWhileSomethingRuns(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	s.m.foot.jobs.running = []job{{id: 1, what: "merge fix/login"}}
	s.press("q")
	if s.quit {
		t.Fatal("it ended in the middle of a merge")
	}
	s.shows("merge fix/login is still at work; press again to leave it")
	s.press("j", "q")
	if s.quit {
		t.Fatal("another key came between, and it ended")
	}
	s.press("q")
	if !s.quit {
		t.Error("it did not end")
	}
}

func TestAClosedKeySaysWhy(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.press("m")
	s.shows(`m: the workflow "default" leads nowhere from "working" to "done"`)
	s.press("r")
	s.shows(`r: the task is "working" already`)
}

// A column that would be empty for all tasks leaves its room to the others.
func TestOnlyColumnsThatSomeTaskNeedsAreThere(t *testing.T) {
	t.Parallel()
	bare := func(one *task.Task) { one.Session, one.Workspace = "", "" }
	backend := &fakeBackend{tasks: []task.Task{aTask(t, 1, "pending", bare), aTask(t, 2, "pending", bare)}}
	s := openSession(t, backend, 100, 19)
	for _, title := range []string{"PR", "Commits", "Changes", "Project"} {
		s.hides(" " + title)
	}
	s.shows("Mend bug 2")
	other := aTask(t, 3, "working", func(one *task.Task) { one.Project, one.PRURL = "site", "https://example.org/7" })
	backend.tasks = append(backend.tasks, other)
	s.send(recordChange{})
	for _, title := range []string{"PR", "Summary"} {
		s.shows(" " + title)
	}
	s.hides(" Commits") // it has a branch, and no work on it
	s.hides(" Changes")
	backend.works = map[string]Work{other.ID: {Commits: 2, Added: 7}}
	s.press("R")
	s.shows(" Changes")
	s.hides(" Commits")
	s.send(tea.WindowSizeMsg{Width: 119, Height: 30})
	s.shows(" Commits")
	s.shows(" Project")
}

// The selected task has a sign of its own, in the list, on the board and among the workspaces.
func TestTheSelectionIsSeenWithoutReverseVideo(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	s.selects("fix/login")
	s.shows("\n>● shop/fix/login")
	s.press("b")
	s.shows(">● fix/login")
	s.press("b", "w", "j")
	s.shows("\n>shop         shop--2")
}

func TestWhatWasGivenUpIsNotMarkedAsDone(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 40)
	s.shows("✓ shop/fix/prices")
	s.shows("⊘ shop/feature/blink")
}

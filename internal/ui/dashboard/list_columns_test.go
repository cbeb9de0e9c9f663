package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// titlesOf are the titles of the list, without the count of what has no room.
func titlesOf(s *session) string {
	for line := range strings.Lines(s.text()) {
		if head, found := strings.CutPrefix(line, "   Task "); found {
			head, _, _ = strings.Cut(head, "│")
			at := strings.Index(head, "S") // the first column after the name
			return strings.TrimSpace(head[max(0, at):])
		}
	}
	return ""
}

func TestTheColumnsStayWhereverTheCursorIs(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {100, 19}, {100, 30}, {120, 24}, {120, 40}, {200, 50}} {
		for name, backend := range map[string]*fakeBackend{"day": day(t), "crowd": crowd(t, 60),
			"needy": needy(t), "calmer": calmer(t, needy(t), 60)} {
			s := openSession(t, backend, size[0], size[1])
			s.press("G", "g") // all that is visible is looked up
			want := titlesOf(s)
			for range backend.tasks {
				s.press("j")
				if got := titlesOf(s); got != want {
					one, _ := s.m.tasks.Selected()
					t.Fatalf("%s, %v: at %s the columns are %q, and were %q", name, size, one.Branch, got, want)
				}
			}
			s.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
			if got := titlesOf(s); got != want {
				t.Errorf("%s, %v: scrolled, the columns are %q, and were %q", name, size, got, want)
			}
		}
	}
}

// Defect: at 80 cells the same death was in the row, below the list and at the foot, with a command for the shell.
func TestADeathIsSaidOnceAndNamesTheKey(t *testing.T) {
	t.Parallel()
	one := aTask(t, 1, "working", func(one *task.Task) {
		one.Attention = "crash 1: the worker (exit status 1) has ended; start it again with \"orange task respawn " +
			one.ID + "\"; its last words: no login"
	})
	for size, want := range map[[2]int]string{{80, 24}: "start it again with Enter",
		{120, 40}: "Enter; its last words"} {
		backend := &fakeBackend{tasks: []task.Task{one, aTask(t, 2, "working")},
			agents: map[string]Agent{one.ID: {State: record.AgentDead}}}
		s := openSession(t, backend, size[0], size[1])
		s.press("j", "i")
		s.shows(want)
		s.hides("orange task")
		if n := strings.Count(s.text(), "has ended"); n != 1 {
			t.Errorf("%v: it is there %d times:\n%s", size, n, s.text())
		}
		if n := strings.Count(s.text(), "no login"); size[0] == 80 && n != 1 {
			t.Errorf("%v: the last words are there %d times:\n%s", size, n, s.text())
		}
		s.press("b")
		s.hides("orange task")
		s.press("b", "t")
		s.hides("orange task")
	}
}

func TestLastWordsAreBrokenAndNotCut(t *testing.T) {
	t.Parallel()
	backend := living(t)
	died := backend.histories[backend.tasks[5].ID]
	died[1].Data[task.DataLastWords] = strings.Repeat("it reads and reads ", 8) + "to the last word"
	s := openSession(t, backend, 80, 24)
	s.selects("feature/search")
	s.press("5")
	s.shows("reads to the\nlast word\n")
	s.hides("…")
}

package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
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

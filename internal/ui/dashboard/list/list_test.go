package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// room is a view of ten lines: a line of titles, and nine tasks or eight where one has two lines.
func room() screen.Size { return screen.Size{Width: 80, Height: 10} }

func newModel(t *testing.T, n int) (*Model, *tasks.Set) {
	t.Helper()
	set := tasks.New(t.Context(), nil, nil, "", time.Time{})
	var all []task.Task
	for i := range n {
		all = append(all, task.Task{ID: fmt.Sprint(i)})
	}
	set.Replace(all)
	return New(set, screen.NewStyle()), set
}

func TestTheSelectedTaskStaysVisible(t *testing.T) {
	t.Parallel()
	m, set := newModel(t, 100)
	for _, n := range []int{1, 7, 1, 50, -3, -1 << 30, 1 << 30, -20} {
		m.Move(n, room())
		selected, _ := set.Selected()
		if !slices.ContainsFunc(m.Visible(room()), func(one *task.Task) bool { return one.ID == selected.ID }) {
			t.Errorf("after a move by %d the task %s is not visible", n, selected.ID)
		}
		if lines := m.View(room()); len(lines) != room().Height {
			t.Errorf("after a move by %d the view has %d lines", n, len(lines))
		}
	}
}

func TestTheTitlesSayHowManyTasksHaveNoRoom(t *testing.T) {
	t.Parallel()
	m, _ := newModel(t, 30)
	for _, row := range []struct {
		to   int
		want string
	}{{0, "Task  ↓ 22 more"}, {10, "Task  ↑ 3  ↓ 19 more"}, {29, "Task  ↑ 22 more"}} {
		m.Select(row.to, room())
		if head := ansi.Strip(m.View(room())[0]); !strings.HasPrefix(strings.TrimSpace(head), row.want+"  ") {
			t.Errorf("at %d the titles are %q, want %q", row.to, head, row.want)
		}
	}
	few, _ := newModel(t, 3)
	if head := few.View(room())[0]; strings.ContainsAny(head, "↑↓") {
		t.Errorf("all are there, and the titles are %q", head)
	}
}

func TestATaskIsFoundAtItsLine(t *testing.T) {
	t.Parallel()
	m, _ := newModel(t, 5)
	m.Select(1, room())
	for line, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 6: 4} {
		if got, found := m.TaskAt(line, room()); !found || got != want {
			t.Errorf("at line %d is the task %d, %v; want %d", line, got, found, want)
		}
	}
	for _, line := range []int{-1, 0, 7, 100} {
		if got, found := m.TaskAt(line, room()); found {
			t.Errorf("at line %d is the task %d", line, got)
		}
	}
}

func TestANarrowScreenShowsOnlyTheTaskAndItsStatus(t *testing.T) {
	t.Parallel()
	const narrowest = 40 // that has room for both
	for width := narrowest; width <= 250; width++ {
		all := columns(width, columnsInUse{projects: true, pr: true, commits: true, changes: true, summary: true,
			reason: true})
		if all[0].width < minTaskWidth {
			t.Errorf("on %d cells the task has %d, at least %d", width, all[0].width, minTaskWidth)
		}
		if width == narrowest && len(all) != 2 {
			t.Errorf("on %d cells there are %d columns, want the task and its status", width, len(all))
		}
	}
}

// Defect: a reason was below the heads of three columns, "Commits" and "Changes" among them. It has the column of the
// summaries, or, where there is no room for that, the place of the status and the activity.
func TestAReasonHasOneColumnOrThePlaceOfStatusAndActivity(t *testing.T) {
	t.Parallel()
	_, set := newModel(t, 1)
	for width := 1; width <= 250; width++ {
		for bits := range 32 {
			is := func(bit int) bool { return bits>>bit&1 == 1 }
			all := columns(width, columnsInUse{projects: is(0), pr: is(1), commits: is(2), changes: is(3),
				summary: is(4), reason: true})
			own := withReason(all, set.At(0))
			if hasColumn(all, summaryTitle) && len(own) != len(all) ||
				!hasColumn(all, summaryTitle) && (len(own) > 2 || len(all) > 3) {
				t.Fatalf("on %d cells, with %b, a reason is in %d columns of %d", width, bits, len(own), len(all))
			}
			cells := 0
			for _, c := range own {
				cells += c.width + 1
			}
			if width >= 40 && cells-1+tasks.SignWidth > width {
				t.Fatalf("on %d cells a row with a reason has %d", width, cells-1+tasks.SignWidth)
			}
		}
	}
}

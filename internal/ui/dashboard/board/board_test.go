package board

import (
	"fmt"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// newModel is a board of tasks whose workflow is unknown: a column for each status, in their order.
func newModel(t *testing.T, statuses ...task.Status) (*Model, *tasks.Set) {
	t.Helper()
	set := tasks.New(t.Context(), nil, nil, "", time.Time{})
	var all []task.Task
	for i := range 40 {
		all = append(all, task.Task{ID: fmt.Sprint(i), Status: statuses[i%len(statuses)]})
	}
	set.Replace(all)
	return New(set, screen.NewStyle()), set
}

func TestACardIsFoundWhereItIsDrawn(t *testing.T) {
	t.Parallel()
	size := screen.Size{Width: 40, Height: 12}
	m, set := newModel(t, "a", "b", "c", "d", "e", "f")
	m.Open(size)
	for _, move := range []func(){
		func() { m.MoveColumn(1, size) }, func() { m.MoveColumn(1, size) }, func() { m.MoveColumn(1, size) },
		func() { m.Move(1<<30, size) }, func() { m.Move(-2, size) }, func() { m.MoveColumn(-1, size) },
	} {
		move()
		selected, found := set.Cursor, false
		for y := range size.Height {
			for x := range size.Width {
				at, is := m.TaskAt(x, y, size)
				found = found || is && at == selected
			}
		}
		if !found {
			t.Errorf("the selected task %d has no card on the board", selected)
		}
	}
}

func TestTheColumnsEndTheCursor(t *testing.T) {
	t.Parallel()
	size := screen.Size{Width: 200, Height: 20}
	m, set := newModel(t, "a", "b", "c")
	for range 5 {
		m.MoveColumn(1, size)
	}
	if one, _ := set.Selected(); one.Status != "c" {
		t.Errorf("the last column is %q", one.Status)
	}
	for range 5 {
		m.MoveColumn(-1, size)
	}
	if one, _ := set.Selected(); one.Status != "a" {
		t.Errorf("the first column is %q", one.Status)
	}
}

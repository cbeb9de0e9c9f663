// Package list is the view of the tasks as a table.
package list

import (
	"math"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Model is the view of the tasks as a table. The selected task has two lines, and so has each that needs the person
// where all rows have room; below those of the selected one is all of why it needs the person, where that is more than
// its lines say and lines are free.
type Model struct {
	// Searching reports whether the person types the text that tasks must contain.
	Searching bool
	// NextToTask and AboveTask report whether the selected task is shown at the side of the list, or below it.
	NextToTask, AboveTask func() bool
	// Most is the greatest height that the list has on this screen, whatever task is selected.
	Most func() int
	// Answering reports whether the person answers the selected task: what it asks then has the lines of the others.
	Answering func() bool

	tasks *tasks.Set
	style *screen.Style
	top   int // index of the first visible task
}

// New makes the view of some tasks.
func New(set *tasks.Set, style *screen.Style) *Model {
	never := func() bool { return false }
	return &Model{tasks: set, style: style, NextToTask: never, AboveTask: never, Answering: never,
		Most: func() int { return math.MaxInt }}
}

// visible is how many tasks are visible, where one has two lines and the first line has the titles. Where others have
// two lines too, all tasks are visible.
func visible(size screen.Size) int { return max(1, size.Height-2) }

// Select selects one of the shown tasks.
func (m *Model) Select(at int, size screen.Size) {
	m.tasks.Select(at)
	m.KeepVisible(size)
}

// Move moves the cursor by n tasks.
func (m *Model) Move(n int, size screen.Size) { m.Select(m.tasks.Cursor+n, size) }

// Scroll scrolls by n lines. The cursor moves only where it would become invisible.
func (m *Model) Scroll(n int, size screen.Size) {
	visible := visible(size)
	m.top = max(0, min(m.top+n, len(m.tasks.Shown)-visible))
	m.tasks.Select(min(max(m.tasks.Cursor, m.top), m.top+visible-1))
}

// KeepVisible scrolls so that both lines of the selected task are visible.
func (m *Model) KeepVisible(size screen.Size) {
	m.top = screen.Follow(m.top, m.tasks.Cursor, visible(size), len(m.tasks.Shown))
}

// Lines is how many lines the list needs for all its rows, and at most so many.
func (m *Model) Lines(most int) int {
	n := len(m.tasks.Shown) + 2 // the titles, and the second line of the selected task
	return min(most, n+m.needs(most-n))
}

// needs is how many tasks need the person, which are on top, and at most so many.
func (m *Model) needs(most int) (n int) {
	for n < most && n < len(m.tasks.Shown) {
		if _, needs := m.tasks.At(n).Need(); !needs {
			break
		}
		n++
	}
	return n
}

// placement is a task that is visible, and how many lines it has.
type placement struct{ at, lines int }

// placements are the visible tasks. Those that need the person have a second line, from the top, while all rows fit,
// or, in a list that is too long for that, in a third of the lines while the selected task is visible all the same.
func (m *Model) placements(size screen.Size) []placement {
	fit := m.needs(size.Height - 2 - len(m.tasks.Shown) - len(m.whole(size, m.Answering())))
	if some := m.needs(size.Height / 3); some > fit {
		out := m.placementsWith(size, some)
		for _, one := range out {
			if one.at == m.tasks.Cursor && one.lines > 1 {
				return out
			}
		}
	}
	return m.placementsWith(size, fit)
}

// placementsWith are the visible tasks, where the first ones have a second line.
func (m *Model) placementsWith(size screen.Size, twice int) []placement {
	shown, cursor, below := len(m.tasks.Shown), m.tasks.Cursor, len(m.whole(size, m.Answering()))
	out := make([]placement, 0, max(0, size.Height))
	used := 1
	for i := m.first(size); i < shown && used < size.Height; i++ {
		one := placement{i, 1}
		switch {
		case i == cursor:
			one.lines = 2 + below
		case i < twice:
			one.lines = 2
		}
		one.lines = min(one.lines, size.Height-used)
		used += one.lines
		out = append(out, one)
	}
	return out
}

// first is the first visible task: the selected one is visible also in less room than the list had before.
func (m *Model) first(size screen.Size) int {
	return max(min(m.top, m.tasks.Cursor), m.tasks.Cursor-visible(size)+1)
}

// Visible are the tasks that are visible.
func (m *Model) Visible(size screen.Size) []*task.Task {
	var out []*task.Task
	for _, one := range m.placements(size) {
		out = append(out, m.tasks.At(one.at).Task)
	}
	return out
}

// CursorLine is the last line of the selected task, counted from the titles.
func (m *Model) CursorLine(size screen.Size) (line int) {
	for _, one := range m.placements(size) {
		line += one.lines
		if one.at == m.tasks.Cursor {
			break
		}
	}
	return line
}

// RoomToAnswer is a size of the list in which the selected task is visible with all that it asks, where a form takes
// some lines of it.
func (m *Model) RoomToAnswer(size screen.Size, form int) screen.Size {
	size.Height -= form
	size.Height -= len(m.whole(size, true))
	return size
}

// TaskAt is which of the shown tasks is on a line, counted from the titles; false where there is none.
func (m *Model) TaskAt(line int, size screen.Size) (int, bool) {
	if line < 1 {
		return 0, false
	}
	last := 0
	for _, one := range m.placements(size) {
		if last += one.lines; line <= last {
			return one.at, true
		}
	}
	return 0, false
}

// Search takes a key or a paste while the person types what tasks must contain.
func (m *Model) Search(msg tea.Msg, size screen.Size) (found bool) {
	field := screen.LineInput{Typing: m.Searching, Text: m.tasks.Text}
	field.Type(msg)
	m.Searching, m.tasks.Text = field.Typing, field.Text
	switch k, _ := msg.(tea.KeyPressMsg); k.String() {
	case "up":
		m.Move(-1, size)
	case "down":
		m.Move(1, size)
	case "esc":
		m.tasks.ChooseAgain()
	default:
		m.tasks.Choose()
	}
	m.KeepVisible(size)
	return true
}

// Searched is what tasks must contain, and whether the person still types it.
func (m *Model) Searched() (text string, typing bool) { return m.tasks.Text, m.Searching }

// SearchKeys are the keys of the search.
func (m *Model) SearchKeys() []string {
	return []string{"Enter", "keeps it", "Esc", "leaves it", "↑ ↓", "other task"}
}

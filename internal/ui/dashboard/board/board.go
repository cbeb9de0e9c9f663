// Package board is the view of the tasks as cards, grouped by status: its columns are the states of their workflows.
package board

import (
	"cmp"
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Model is the view of the tasks as cards.
type Model struct {
	tasks *tasks.Set
	style *screen.Style
	first string // the workflow that comes first: that of the task that was selected when the board was opened
	top   int    // the first visible card of the selected task's column; other columns begin with their first card
}

// New makes the view of some tasks.
func New(set *tasks.Set, style *screen.Style) *Model { return &Model{tasks: set, style: style} }

type column struct {
	digest   string // of the workflow
	workflow string // its name
	state    task.Status
	terminal bool   // the state is terminal
	cards    []int  // indices of the shown tasks
	project  string // of all tasks of the workflow; empty where they are of several
}

// same reports whether another column is that of the same state.
func (c column) same(other column) bool { return c.digest == other.digest && c.state == other.state }

// columns are the columns of each workflow, each in the order of the workflow's file, terminal states last. They are
// the states that have tasks, and those on the shortest path from the beginning of a workflow to its end.
func (m *Model) columns() []column {
	var digests []string // in the order of the tasks
	refs := map[string]task.WorkflowRef{}
	cards := map[string]map[task.Status][]int{}
	defs := map[string]*workflow.Definition{}
	projects := map[string]string{}
	for i := range m.tasks.Shown {
		t := m.tasks.At(i).Task
		d := t.Workflow.Digest
		if cards[d] == nil {
			digests, refs[d], cards[d] = append(digests, d), t.Workflow, map[task.Status][]int{}
			defs[d], projects[d] = m.tasks.Workflow(*t), t.Project
		}
		if projects[d] != t.Project {
			projects[d] = ""
		}
		cards[d][t.Status] = append(cards[d][t.Status], i)
	}
	slices.SortStableFunc(digests, func(a, b string) int {
		return cmp.Or(tasks.TrueFirst(refs[a].Name == m.first, refs[b].Name == m.first),
			cmp.Compare(refs[a].Name, refs[b].Name), cmp.Compare(refs[b].Version, refs[a].Version), cmp.Compare(a, b))
	})
	var out []column
	for _, d := range digests {
		of := columnsOf(defs[d], refs[d], cards[d])
		for i := range of {
			of[i].project = projects[d]
		}
		out = append(out, of...)
	}
	return out
}

// columnsOf are the columns of one workflow. While the workflow is unknown, they are those that have tasks, by name.
func columnsOf(def *workflow.Definition, ref task.WorkflowRef, cards map[task.Status][]int) []column {
	var open, terminal []column
	known := map[task.Status]bool{}
	if def != nil {
		usual := append([]task.Status{def.Initial}, tasks.Ahead(def, def.Initial)...)
		for _, s := range def.States {
			known[s.Name] = true
			if len(cards[s.Name]) == 0 && !slices.Contains(usual, s.Name) {
				continue
			}
			one := column{digest: ref.Digest, workflow: ref.Name, state: s.Name,
				terminal: decide.Marks(def, s.Name).Terminal, cards: cards[s.Name]}
			if one.terminal {
				terminal = append(terminal, one)
			} else {
				open = append(open, one)
			}
		}
	}
	var others []column
	for s, some := range cards {
		if !known[s] {
			others = append(others, column{digest: ref.Digest, workflow: ref.Name, state: s, cards: some})
		}
	}
	slices.SortFunc(others, func(a, b column) int { return cmp.Compare(a.state, b.state) })
	return slices.Concat(open, others, terminal)
}

// position is where the selected task's card is; column is -1 where no task is shown.
func (m *Model) position(columns []column) (column, card int) {
	for i, c := range columns {
		if at := slices.Index(c.cards, m.tasks.Cursor); at >= 0 {
			return i, at
		}
	}
	return -1, 0
}

// Move moves the cursor by n cards within its column.
func (m *Model) Move(n int, size screen.Size) {
	columns := m.columns()
	column, card := m.position(columns)
	if column < 0 {
		return
	}
	cards := columns[column].cards
	m.Select(cards[max(0, min(card+n, len(cards)-1))], size)
}

// MoveColumn moves the cursor by a column, 1 or -1, past those that are empty. It stays at the same height where it
// can.
func (m *Model) MoveColumn(n int, size screen.Size) {
	columns := m.columns()
	column, card := m.position(columns)
	if column < 0 {
		return
	}
	line := card - m.top
	for to := column + n; to >= 0 && to < len(columns); to += n {
		if cards := columns[to].cards; len(cards) > 0 {
			m.tasks.Select(cards[max(0, min(line, len(cards)-1))])
			m.top = 0
			break
		}
	}
	m.keepVisible(size)
}

// Select selects one of the shown tasks.
func (m *Model) Select(at int, size screen.Size) {
	m.tasks.Select(at)
	m.keepVisible(size)
}

// Open begins with the selected task, whose workflow comes first.
func (m *Model) Open(size screen.Size) {
	m.first, m.top = "", 0
	if t, found := m.tasks.Selected(); found {
		m.first = t.Workflow.Name
	}
	m.keepVisible(size)
}

func (m *Model) keepVisible(size screen.Size) { m.top = m.scroll(m.columns(), size) }

// scroll is the first visible card of the selected column: unchanged where that shows the selected card.
func (m *Model) scroll(columns []column, size screen.Size) int {
	column, card := m.position(columns)
	if column < 0 {
		return 0
	}
	return screen.Follow(m.top, card, visibleCards(columns, column, size), len(columns[column].cards))
}

// How much a column matters where not all have room: those in which a task needs the person come first, then those in
// which an agent works, the others with tasks that are not over, with tasks that are, and with none.
const (
	needsPerson = iota
	works
	open
	over
	empty
)

// matters is how much a column matters.
func (m *Model) matters(c column) int {
	if len(c.cards) == 0 {
		return empty
	}
	most := open
	if c.terminal {
		most = over
	}
	for _, card := range c.cards {
		r := m.tasks.At(card)
		if _, needs := r.Need(); needs {
			return needsPerson
		}
		if m.tasks.AgentWorks(r) {
			most = works
		}
	}
	return most
}

// visible are the columns that have room, in their order, and the others. That of the selected task always has room.
func (m *Model) visible(columns []column, width int) (visible, hidden []column) {
	selected, _ := m.position(columns)
	order := make([]int, len(columns))
	important := 0
	for i := range columns {
		order[i] = i
		if m.matters(columns[i]) <= works {
			important++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(tasks.TrueFirst(a == selected, b == selected),
			cmp.Compare(m.matters(columns[a]), m.matters(columns[b])))
	})
	room := order[:min(len(order), visibleColumns(width, important))]
	for i, c := range columns {
		if slices.Contains(room, i) {
			visible = append(visible, c)
		} else {
			hidden = append(hidden, c)
		}
	}
	return visible, hidden
}

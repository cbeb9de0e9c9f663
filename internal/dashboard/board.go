package dashboard

import (
	"cmp"
	"slices"

	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

// board shows tasks grouped by state: the columns are the states of their workflows.
type board struct {
	first string // the workflow that comes first: that of the task which was selected when the board was opened
	left  int    // the first column on the screen
	top   int    // the first card on the screen of the selected task's column; others begin with their first
}

// lane is one column of the board.
type lane struct {
	digest   string // of the workflow
	workflow string // its name
	state    task.Status
	over     bool  // tasks here are over
	cards    []int // indices of list.shown
}

// lanes are the columns: those of one workflow after those of another, each in the order of its file, and what is
// over last. There are those that have tasks, and those on the usual way from the beginning of a workflow to its
// end.
func (m *Model) lanes() []lane {
	var digests []string // in the order of the tasks
	refs := map[string]task.WorkflowRef{}
	cards := map[string]map[task.Status][]int{}
	for i, at := range m.list.shown {
		t := m.list.rows[at].task
		d := t.Workflow.Digest
		if cards[d] == nil {
			digests, refs[d], cards[d] = append(digests, d), t.Workflow, map[task.Status][]int{}
		}
		cards[d][t.Status] = append(cards[d][t.Status], i)
	}
	slices.SortStableFunc(digests, func(a, b string) int {
		return cmp.Or(second(refs[a].Name == m.board.first, refs[b].Name == m.board.first),
			cmp.Compare(refs[a].Name, refs[b].Name), cmp.Compare(refs[b].Version, refs[a].Version), cmp.Compare(a, b))
	})
	var out []lane
	for _, d := range digests {
		out = append(out, lanesOf(m.rules[d], refs[d], cards[d])...)
	}
	return out
}

// second orders what is before what is not.
func second(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

// lanesOf are the columns of one workflow. While its rules are not known, those that have tasks, by name.
func lanesOf(def *workflow.Definition, ref task.WorkflowRef, cards map[task.Status][]int) []lane {
	var open, over []lane
	known := map[task.Status]bool{}
	if def != nil {
		usual := append([]task.Status{def.Initial}, ahead(def, def.Initial)...)
		for _, s := range def.States {
			known[s.Name] = true
			if len(cards[s.Name]) == 0 && !slices.Contains(usual, s.Name) {
				continue
			}
			one := lane{ref.Digest, ref.Name, s.Name, decide.Marks(def, s.Name).Terminal, cards[s.Name]}
			if one.over {
				over = append(over, one)
			} else {
				open = append(open, one)
			}
		}
	}
	var others []lane
	for s, some := range cards {
		if !known[s] {
			others = append(others, lane{ref.Digest, ref.Name, s, false, some})
		}
	}
	slices.SortFunc(others, func(a, b lane) int { return cmp.Compare(a.state, b.state) })
	return slices.Concat(open, others, over)
}

// onBoard is where the selected task's card is; column is -1 where no task is shown.
func (m *Model) onBoard(lanes []lane) (column, card int) {
	for i, l := range lanes {
		if at := slices.Index(l.cards, m.list.cursor); at >= 0 {
			return i, at
		}
	}
	return -1, 0
}

// boardStep goes some cards down.
func (m *Model) boardStep(n int) {
	lanes := m.lanes()
	column, card := m.onBoard(lanes)
	if column < 0 {
		return
	}
	cards := lanes[column].cards
	m.list.cursor = cards[max(0, min(card+n, len(cards)-1))]
	m.keepCardInSight()
}

// boardColumn goes some columns on, past those that are empty, and stays at the same height where it can.
func (m *Model) boardColumn(n int) {
	lanes := m.lanes()
	column, card := m.onBoard(lanes)
	if column < 0 {
		return
	}
	line := card - m.board.top
	for to := column + n; to >= 0 && to < len(lanes); to += n {
		if cards := lanes[to].cards; len(cards) > 0 {
			m.list.cursor = cards[max(0, min(line, len(cards)-1))]
			m.board.top = 0
			break
		}
	}
	m.keepCardInSight()
}

// openBoard shows the board, the selected task's workflow first.
func (m *Model) openBoard() {
	m.place = inBoard
	m.board = board{}
	if t, found := m.selected(); found {
		m.board.first = t.Workflow.Name
	}
	m.keepCardInSight()
}

// keepCardInSight scrolls the board so that the selected card is on the screen.
func (m *Model) keepCardInSight() {
	lanes := m.lanes()
	m.board.left, m.board.top = m.boardScroll(lanes)
}

// boardScroll is the first column and the first card of the selected column that are on the screen: as they were,
// where that shows the selected card.
func (m *Model) boardScroll(lanes []lane) (left, top int) {
	column, card := m.onBoard(lanes)
	if column < 0 {
		return 0, 0
	}
	fits := boardFits(m.width)
	left = max(0, min(m.board.left, len(lanes)-fits))
	if column < left {
		left = column
	}
	if column >= left+fits {
		left = column - fits + 1
	}
	visible := m.boardCards(lanes)
	top = max(0, min(m.board.top, len(lanes[column].cards)-visible))
	if card < top {
		top = card
	}
	if card >= top+visible {
		top = card - visible + 1
	}
	return left, top
}

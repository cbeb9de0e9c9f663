package board

import (
	"fmt"
	"strings"

	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
)

// Sizes of the board, in cells and lines.
const (
	minColumn  = 20 // the least width of a column
	maxColumn  = 32
	gap        = 1 // between two columns
	footLines  = 3 // a rule, and two lines about the selected card
	smallBoard = 9 // up to this height the foot has only the first of those lines
	maxProject = 8 // of a project's name on a card
	cardLines  = 2 // of a card: the name, and what the task is about or needs
)

func visibleColumns(width int) int { return max(1, (width+gap)/(minColumn+gap)) }

func foot(size screen.Size) int {
	if size.Height < smallBoard {
		return 1
	}
	return footLines
}

// heads is the number of lines above the cards: the states, and the workflows where there are several.
func heads(columns []column) int {
	for _, c := range columns {
		if c.digest != columns[0].digest {
			return 2
		}
	}
	return 1
}

// cardRoom is the number of lines that the cards have.
func cardRoom(columns []column, size screen.Size) int {
	return max(1, size.Height-heads(columns)-foot(size))
}

func visibleCards(columns []column, size screen.Size) int {
	return max(1, cardRoom(columns, size)/cardLines)
}

// widths are the widths of the visible columns: terminal states stay narrow, the others share the rest.
func widths(visible []column, width int) []int {
	out := make([]int, len(visible))
	spare, wider := width+gap, 0
	for i, c := range visible {
		out[i] = min(minColumn, max(1, width))
		spare -= out[i] + gap
		if !c.terminal {
			wider++
		}
	}
	if wider == 0 {
		return out
	}
	more := max(0, min(spare/wider, maxColumn-minColumn))
	for i, c := range visible {
		if !c.terminal {
			out[i] += more
		}
	}
	return out
}

// View draws the board.
func (m *Model) View(size screen.Size) []string {
	columns := m.columns()
	if len(columns) == 0 {
		return append([]string{""}, m.tasks.Empty(size.Width)...)
	}
	left, top := m.scroll(columns, size)
	visible := columns[left:min(len(columns), left+visibleColumns(size.Width))]
	widths := widths(visible, size.Width)
	room := cardRoom(columns, size)
	column, _ := m.position(columns)
	drawn := make([][]string, len(visible))
	for i, c := range visible {
		from := 0
		if left+i == column {
			from = top
		}
		drawn[i] = append([]string{m.title(c, widths[i], left+i == column)}, m.cards(c, widths[i], from, room)...)
	}
	var out []string
	if heads(columns) > 1 {
		out = append(out, m.workflowLine(visible, widths))
	}
	for line := range room + 1 {
		cells := make([]string, len(visible))
		for i := range visible {
			text := ""
			if line < len(drawn[i]) {
				text = drawn[i][line]
			}
			cells[i] = screen.Fit(text, widths[i])
		}
		out = append(out, strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " "))
	}
	return append(out, m.footLines(len(columns), left, len(visible), size)...)
}

// workflowLine names each workflow above the first of its visible columns.
func (m *Model) workflowLine(visible []column, widths []int) string {
	var b strings.Builder
	for i := 0; i < len(visible); {
		room := widths[i]
		next := i + 1
		for ; next < len(visible) && visible[next].digest == visible[i].digest; next++ {
			room += gap + widths[next]
		}
		b.WriteString(m.style.Faint.Render(screen.Fit(screen.Clean(visible[i].workflow), room)) +
			strings.Repeat(" ", gap))
		i = next
	}
	return b.String()
}

func (m *Model) title(c column, width int, chosen bool) string {
	number := fmt.Sprint(len(c.cards))
	name := screen.Cut(screen.Clean(string(c.state)), max(1, width-len(number)-1))
	switch {
	case len(c.cards) == 0:
		return m.style.Faint.Render(name)
	case chosen:
		return m.style.Header.Underline(true).Render(name) + " " + m.style.Faint.Render(number)
	}
	return m.style.Header.Render(name) + " " + m.style.Faint.Render(number)
}

// cards are the cards of a column from one on, and a line that counts those that have no room.
func (m *Model) cards(c column, width, from, room int) []string {
	var out []string
	to := min(len(c.cards), from+max(1, room/cardLines))
	common := m.common(c.cards[min(from, to):to])
	for i := from; i < to; i++ {
		chosen := c.cards[i] == m.tasks.Cursor
		if more := len(c.cards) - i; i == to-1 && more > 1 && room%cardLines == 0 && !chosen {
			out = append(out, m.style.Faint.Render(screen.Cut(fmt.Sprintf("   %d more", more), width)))
			return out
		}
		out = append(out, m.card(m.tasks.At(c.cards[i]), common, c, width, chosen)...)
	}
	if more := len(c.cards) - to; more > 0 && len(out) < room {
		out = append(out, m.style.Faint.Render(screen.Cut(fmt.Sprintf("   %d more", more), width)))
	}
	return out[:min(len(out), room)]
}

// common is the beginning that the names of some cards have in common, up to the end of a word.
func (m *Model) common(cards []int) string {
	if len(cards) < 2 {
		return ""
	}
	name := func(card int) string { return screen.Clean(tasks.Name(*m.tasks.At(card).Task)) }
	common := name(cards[0])
	for _, card := range cards[1:] {
		other, same := name(card), 0
		for same < min(len(common), len(other)) && common[same] == other[same] {
			same++
		}
		common = common[:same]
	}
	return common[:strings.LastIndexAny(common, "/-_. ")+1]
}

// card is one task in two lines: its mark, its name and, where it is not over, for how long it has been in its state;
// then why it needs a person, or what it is about. Where a name has no room, it is without what the others begin with
// too: the words that differ are seen.
func (m *Model) card(r *tasks.Row, common string, c column, width int, chosen bool) []string {
	sign, colour := m.tasks.Sign(m.style, r)
	since := ""
	if !c.terminal && width >= minColumn {
		since = " " + screen.Age(r.Task.EnteredAt, m.tasks.Now)
	}
	room := max(1, width-tasks.SignWidth-len(since))
	name := screen.Clean(tasks.Name(*r.Task))
	if screen.Width(name) > room && common != "" {
		name = "…" + name[len(common):]
	}
	name = screen.SqueezeTo(name, room)
	about, style := r.Note(m.style)
	if need, needs := r.Need(); needs {
		about, style = screen.Clean(need.Reason), &m.style.Info
	}
	if m.tasks.Some.Projects {
		about = screen.Squeeze(screen.Clean(r.Task.Project), maxProject) + ": " + about
	}
	second := strings.Repeat(" ", min(width, tasks.SignWidth)) +
		style.Render(screen.Cut(about, max(0, width-tasks.SignWidth)))
	first := tasks.CursorSign(false) + colour.Render(sign) + m.tasks.PickSign(r) + name + m.style.Faint.Render(since)
	switch {
	case chosen:
		first = m.style.Chosen.Render(screen.Fit(tasks.CursorSign(true)+sign+m.tasks.PickSign(r)+name+since, width))
	case c.terminal:
		first = tasks.CursorSign(false) + colour.Render(sign) + m.tasks.PickSign(r) + m.style.Faint.Render(name)
	}
	return []string{first, second}
}

// footLines are about the selected card, and about columns that have no room.
func (m *Model) footLines(all, left, visible int, size screen.Size) []string {
	r, found := m.tasks.SelectedRow()
	if !found {
		return nil
	}
	width := size.Width
	text, style := r.Note(m.style)
	name := screen.Squeeze(m.tasks.Title(&r), max(1, width/2))
	about := m.style.Bold.Render(name) + "  " + style.Render(screen.Cut(text, max(1, width-screen.Width(name)-2)))
	if foot(size) == 1 {
		return []string{about}
	}
	var hidden []string
	if left > 0 {
		hidden = append(hidden, fmt.Sprintf("‹ %d more", left))
	}
	if more := all - left - visible; more > 0 {
		hidden = append(hidden, fmt.Sprintf("%d more ›", more))
	}
	word := strings.Join(hidden, "  ")
	rule := strings.Repeat("─", max(0, width-screen.Width(word)-1))
	if word == "" {
		rule = strings.Repeat("─", max(0, width))
	}
	return []string{m.style.Faint.Render(strings.TrimSpace(rule + " " + word)), about,
		m.tasks.Progress(m.style, *r.Task, width)}
}

// TaskAt is which of the shown tasks has its card at a position, counted from the board's first line; false where there
// is none.
func (m *Model) TaskAt(x, y int, size screen.Size) (int, bool) {
	columns := m.columns()
	left, top := m.scroll(columns, size)
	if len(columns) == 0 || y < heads(columns) {
		return 0, false
	}
	line := (y - heads(columns)) / cardLines
	if line >= visibleCards(columns, size) {
		return 0, false
	}
	column, _ := m.position(columns)
	visible := columns[left:min(len(columns), left+visibleColumns(size.Width))]
	for i, width := range widths(visible, size.Width) {
		if x < width {
			if left+i == column {
				line += top
			}
			if x < 0 || line >= len(visible[i].cards) {
				return 0, false
			}
			return visible[i].cards[line], true
		}
		x -= width + gap
	}
	return 0, false
}

package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Sizes of the board, in cells and lines.
const (
	minColumn  = 19 // the least width of a column: a screen of 80 cells has four
	tightest   = 15 // the same where more columns matter: it has five
	easyColumn = 22 // the same on a screen that has room
	wideScreen = 100
	maxColumn  = 32
	gap        = 1 // between two columns
	footLines  = 3 // a rule, and two lines about the selected card
	smallBoard = 9 // up to this height the foot has only the first of those lines
	maxProject = 8 // of a project's name on a card
	leastCard  = 2 // lines of a card: the name, and what the task is about or needs
	mostCard   = 3 // the latter has two where a column has room for all of its cards
)

// leastColumn is the least width of a column on a screen of a width.
func leastColumn(width int) int {
	if width >= wideScreen {
		return easyColumn
	}
	return minColumn
}

// visibleColumns is how many columns fit; they are narrower where more of them matter.
func visibleColumns(width, important int) int {
	fit := func(least int) int { return max(1, (width+gap)/(least+gap)) }
	return max(fit(leastColumn(width)), min(important, fit(tightest)))
}

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

// cardLines is the number of lines of each card of a column.
func cardLines(c column, room int) int {
	if len(c.cards)*mostCard <= room {
		return mostCard
	}
	return leastCard
}

// visibleCards is how many cards of a column fit.
func visibleCards(columns []column, at int, size screen.Size) int {
	room := cardRoom(columns, size)
	return max(1, room/cardLines(columns[at], room))
}

// widths are the widths of the visible columns: terminal states stay narrow, the others share the rest.
func widths(visible []column, width int) []int {
	out := make([]int, len(visible))
	spare, wider := width+gap, 0
	least := min(leastColumn(width), max(1, (width+gap)/len(visible)-gap))
	for i, c := range visible {
		out[i] = least
		spare -= out[i] + gap
		if !c.terminal {
			wider++
		}
	}
	if wider == 0 {
		return out
	}
	more := max(0, min(spare/wider, maxColumn-least))
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
	top := m.scroll(columns, size)
	visible, hidden := m.visible(columns, size.Width)
	widths := widths(visible, size.Width)
	room := cardRoom(columns, size)
	chosen, _ := m.position(visible)
	drawn := make([][]string, len(visible))
	for i, c := range visible {
		from := 0
		if i == chosen {
			from = top
		}
		drawn[i] = append([]string{m.title(c, widths[i], i == chosen)}, m.cards(c, widths[i], from, room)...)
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
	return append(out, m.footLines(hidden, size)...)
}

// workflowLine names each workflow above the first of its visible columns, and the project where all its tasks are of
// one.
func (m *Model) workflowLine(visible []column, widths []int) string {
	var b strings.Builder
	for i := 0; i < len(visible); {
		room := widths[i]
		next := i + 1
		for ; next < len(visible) && visible[next].digest == visible[i].digest; next++ {
			room += gap + widths[next]
		}
		name := screen.Clean(visible[i].workflow)
		if m.tasks.SeveralProjects && visible[i].project != "" {
			name += " · " + screen.Clean(visible[i].project)
		}
		if next < len(visible) {
			name = screen.Fit(name, room) + strings.Repeat(" ", gap)
		}
		b.WriteString(m.style.Faint.Render(screen.Cut(name, room+gap)))
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
	lines := cardLines(c, room)
	to := min(len(c.cards), from+max(1, room/lines))
	common := m.common(c.cards[min(from, to):to])
	for i := from; i < to; i++ {
		chosen := c.cards[i] == m.tasks.Cursor
		if more := len(c.cards) - i; i == to-1 && more > 1 && room%lines == 0 && !chosen {
			out = append(out, m.style.Faint.Render(screen.Cut(fmt.Sprintf("   %d more", more), width)))
			return out
		}
		r := m.tasks.At(c.cards[i])
		out = append(out, m.card(r, common, c, width, chosen))
		out = append(out, m.about(r, c, width, lines-1)...)
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

// card is the first line of a task: its mark, its name and, where it is not over, how long it has been in its state.
// Where a name has no room, it is without what the others begin with too: the words that differ are seen.
func (m *Model) card(r *tasks.Row, common string, c column, width int, chosen bool) string {
	sign, colour := m.tasks.Sign(m.style, r)
	since := ""
	if !c.terminal && width >= minColumn {
		since = " " + screen.Age(r.Task.EnteredAt, m.tasks.Now)
	}
	whole := max(1, width-tasks.SignWidth)
	room := max(1, whole-len(since))
	name := screen.Clean(tasks.Name(*r.Task))
	if screen.Width(name) > room && common != "" {
		name = "…" + name[len(common):]
	}
	if screen.Width(name) > room { // the name comes first
		since, room = "", whole
	}
	name = screen.SqueezeTo(name, room)
	switch {
	case chosen:
		return m.style.Chosen.Render(screen.Fit(tasks.CursorSign(true)+sign+m.tasks.PickSign(r)+name+since, width))
	case c.terminal:
		return tasks.CursorSign(false) + colour.Render(sign) + m.tasks.PickSign(r) + m.style.Faint.Render(name)
	}
	return tasks.CursorSign(false) + colour.Render(sign) + m.tasks.PickSign(r) + name + m.style.Faint.Render(since)
}

// about are the other lines of a card: why the task needs a person, or what it is about.
func (m *Model) about(r *tasks.Row, c column, width, lines int) []string {
	about, style := r.Note(m.style)
	if need, needs := r.Need(); needs {
		about, style = screen.Clean(need.Reason), &m.style.Info
	}
	if m.tasks.SeveralProjects && c.project == "" {
		about = screen.Squeeze(screen.Clean(r.Task.Project), maxProject) + ": " + about
	}
	room := max(1, width-tasks.SignWidth)
	text := []string{about}
	if lines > 1 {
		text = screen.Wrap(about, room)
	}
	out := make([]string, lines)
	for i := range min(lines, len(text)) {
		line := text[i]
		if i == lines-1 {
			line = strings.Join(text[i:], " ")
		}
		out[i] = strings.Repeat(" ", min(width, tasks.SignWidth)) + style.Render(screen.Cut(line, room))
	}
	return out
}

// footLines are about the selected card, and about the columns that have no room.
func (m *Model) footLines(hidden []column, size screen.Size) []string {
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
	after := ""
	if len(hidden) > 0 {
		after = " hidden: " + m.hidden(hidden, width-12)
	}
	rule := strings.Repeat("─", max(0, width-screen.Width(after))) + after
	return []string{m.style.Faint.Render(screen.Cut(rule, width)), about, m.tasks.Progress(m.style, *r.Task, width)}
}

// hidden says what is in the columns that have no room: in which states how many tasks are, with a mark where one needs
// a person, and how many columns are empty. Where not all of them have room, those that matter most come first, and the
// others are counted.
func (m *Model) hidden(columns []column, room int) string {
	columns = slices.Clone(columns)
	slices.SortStableFunc(columns, func(a, b column) int { return cmp.Compare(m.matters(a), m.matters(b)) })
	all, empty := 0, ""
	for i, c := range columns {
		if all += len(c.cards); len(c.cards) == 0 {
			empty, columns = fmt.Sprintf("%d empty", len(columns)-i), columns[:i]
			break
		}
	}
	text, left := "", all
	for _, c := range columns {
		one, more := fmt.Sprintf("%s %d", screen.Clean(string(c.state)), len(c.cards)), empty
		if m.matters(c) == needsPerson {
			sign, _ := m.tasks.Sign(m.style, m.tasks.At(c.cards[0])) // the oldest of those that need one
			one += sign
		}
		if left > len(c.cards) {
			more = fmt.Sprintf("%d more · %s", left-len(c.cards), empty)
		}
		if screen.Width(text+one+" · "+more) > room {
			break
		}
		text, left = text+one+" · ", left-len(c.cards)
	}
	switch {
	case text == "" && all > 0:
		text = fmt.Sprintf("%d tasks · ", all)
	case left > 0:
		text += fmt.Sprintf("%d more · ", left)
	}
	return screen.Cut(strings.TrimSuffix(text+empty, " · "), room)
}

// TaskAt is which of the shown tasks has its card at a position, counted from the board's first line; false where there
// is none.
func (m *Model) TaskAt(x, y int, size screen.Size) (int, bool) {
	columns := m.columns()
	if len(columns) == 0 || y < heads(columns) {
		return 0, false
	}
	room := cardRoom(columns, size)
	top := m.scroll(columns, size)
	visible, _ := m.visible(columns, size.Width)
	chosen, _ := m.position(visible)
	for i, width := range widths(visible, size.Width) {
		if x < width {
			line := (y - heads(columns)) / cardLines(visible[i], room)
			if line >= visibleCards(columns, slices.IndexFunc(columns, visible[i].same), size) {
				return 0, false
			}
			if i == chosen {
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

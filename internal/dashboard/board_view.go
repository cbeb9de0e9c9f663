package dashboard

import (
	"fmt"
	"strings"

	"orange/internal/dashboard/screen"
)

// Sizes of the board, in cells and lines.
const (
	leastLane  = 16 // every column has at least so many cells
	mostLane   = 32
	laneGap    = 1
	boardBelow = 3 // a rule, and two lines about the selected card
	lowBoard   = 8 // from this height down there is only the first of those lines
)

// boardFits is how many columns are on a screen of a width.
func boardFits(width int) int { return max(1, (width+laneGap)/(leastLane+laneGap)) }

// below is how many lines are beneath the cards.
func (m *Model) below() int {
	if m.bodyHeight() < lowBoard {
		return 1
	}
	return boardBelow
}

// heads is how many lines are above the cards: the states, and the workflows where there are several.
func boardHeads(lanes []lane) int {
	for _, l := range lanes {
		if l.digest != lanes[0].digest {
			return 2
		}
	}
	return 1
}

// boardCards is how many cards of a column are on the screen.
func (m *Model) boardCards(lanes []lane) int {
	return max(1, m.bodyHeight()+1-boardHeads(lanes)-m.below())
}

// laneWidths are the widths of the columns on the screen: what is over stays narrow, the others share what is left.
func laneWidths(shown []lane, width int) []int {
	out := make([]int, len(shown))
	spare, wider := width+laneGap, 0
	for i, l := range shown {
		out[i] = min(leastLane, max(1, width))
		spare -= out[i] + laneGap
		if !l.over {
			wider++
		}
	}
	if wider == 0 {
		return out
	}
	more := max(0, min(spare/wider, mostLane-leastLane))
	for i, l := range shown {
		if !l.over {
			out[i] += more
		}
	}
	return out
}

func (m *Model) drawBoard(width, height int) []string {
	lanes := m.lanes()
	if len(lanes) == 0 {
		return append([]string{""}, m.emptyLines(width)...)
	}
	left, top := m.boardScroll(lanes)
	shown := lanes[left:min(len(lanes), left+boardFits(width))]
	widths := laneWidths(shown, width)
	cards := m.boardCards(lanes)
	column, _ := m.onBoard(lanes)
	drawn := make([][]string, len(shown))
	for i, l := range shown {
		from := 0
		if left+i == column {
			from = top
		}
		drawn[i] = append([]string{m.laneTitle(l, widths[i], left+i == column)},
			m.laneCards(l, widths[i], from, cards)...)
	}
	var out []string
	if boardHeads(lanes) > 1 {
		out = append(out, m.workflowLine(shown, widths))
	}
	for line := range cards + 1 {
		cells := make([]string, len(shown))
		for i := range shown {
			text := ""
			if line < len(drawn[i]) {
				text = drawn[i][line]
			}
			cells[i] = screen.Fit(text, widths[i])
		}
		out = append(out, strings.TrimRight(strings.Join(cells, strings.Repeat(" ", laneGap)), " "))
	}
	return append(out, m.boardFoot(len(lanes), left, len(shown), width)...)
}

// workflowLine names the workflow above the first of its columns on the screen.
func (m *Model) workflowLine(shown []lane, widths []int) string {
	var b strings.Builder
	for i := 0; i < len(shown); {
		room := widths[i]
		next := i + 1
		for ; next < len(shown) && shown[next].digest == shown[i].digest; next++ {
			room += laneGap + widths[next]
		}
		b.WriteString(m.style.Faint.Render(screen.Fit(screen.Clean(shown[i].workflow), room)) + strings.Repeat(" ",
			laneGap))
		i = next
	}
	return b.String()
}

func (m *Model) laneTitle(l lane, width int, chosen bool) string {
	number := fmt.Sprint(len(l.cards))
	name := screen.Cut(screen.Clean(string(l.state)), max(1, width-len(number)-1))
	switch {
	case len(l.cards) == 0:
		return m.style.Faint.Render(name)
	case chosen:
		return m.style.Header.Underline(true).Render(name) + " " + m.style.Faint.Render(number)
	}
	return m.style.Header.Render(name) + " " + m.style.Faint.Render(number)
}

// laneCards are the cards of a column from one on, and a line for those that have no room.
func (m *Model) laneCards(l lane, width, from, room int) []string {
	var out []string
	for i := from; i < len(l.cards) && len(out) < room; i++ {
		if more := len(l.cards) - i; len(out) == room-1 && more > 1 && l.cards[i] != m.list.cursor {
			return append(out, m.style.Faint.Render(screen.Cut(fmt.Sprintf("  %d more", more), width)))
		}
		out = append(out, m.card(&m.list.rows[m.list.shown[l.cards[i]]], l, width, l.cards[i] == m.list.cursor))
	}
	return out
}

// card is one task of the board: its mark, its name, and, where it is not over, for how long it has been in its state.
func (m *Model) card(r *row, l lane, width int, chosen bool) string {
	sign, painted := m.sign(r)
	since := ""
	if !l.over && width >= leastLane {
		since = " " + screen.Age(r.task.EnteredAt, m.now)
	}
	name := screen.SqueezeTo(screen.Clean(nameOf(*r.task)), max(1, width-signWidth-len(since)))
	switch {
	case chosen:
		return m.style.Chosen.Render(screen.Fit(sign+" "+name+since, width))
	case l.over:
		return painted + " " + m.style.Faint.Render(name)
	}
	return painted + " " + name + m.style.Faint.Render(since)
}

// boardFoot tells of the selected card, and of columns that have no room.
func (m *Model) boardFoot(all, left, shown, width int) []string {
	r, found := m.list.selectedRow()
	if !found {
		return nil
	}
	text, paint := m.toKnow(&r)
	name := screen.Squeeze(m.taskCell(&r), max(1, width/2))
	about := m.style.Bold.Render(name) + "  " + paint(screen.Cut(text, max(1, width-screen.Width(name)-2)))
	if m.below() == 1 {
		return []string{about}
	}
	var beyond []string
	if left > 0 {
		beyond = append(beyond, fmt.Sprintf("‹ %d more", left))
	}
	if more := all - left - shown; more > 0 {
		beyond = append(beyond, fmt.Sprintf("%d more ›", more))
	}
	word := strings.Join(beyond, "  ")
	rule := strings.Repeat("─", max(0, width-screen.Width(word)-1))
	if word == "" {
		rule = strings.Repeat("─", max(0, width))
	}
	return []string{m.style.Faint.Render(strings.TrimSpace(rule + " " + word)), about, m.pathWithin(*r.task, width)}
}

// cardAt is the card on a place of the screen, counted from the board's first line; false where none is.
func (m *Model) cardAt(x, y int) (cursor int, found bool) {
	lanes := m.lanes()
	left, top := m.boardScroll(lanes)
	line := y - boardHeads(lanes)
	if len(lanes) == 0 || line < 0 || line >= m.boardCards(lanes) {
		return 0, false
	}
	column, _ := m.onBoard(lanes)
	shown := lanes[left:min(len(lanes), left+boardFits(m.width))]
	for i, width := range laneWidths(shown, m.width) {
		if x < width {
			if left+i == column {
				line += top
			}
			if x < 0 || line >= len(shown[i].cards) {
				return 0, false
			}
			return shown[i].cards[line], true
		}
		x -= width + laneGap
	}
	return 0, false
}

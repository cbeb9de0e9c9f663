package review

import (
	"slices"

	"orange/internal/rules/diff"
	"orange/internal/ui/dashboard/screen"
)

// firstChange is the row of the first line that is changed below the head of a hunk or of a file: as it is now, where
// it is not only gone. It is the head where nothing below it is changed.
func (m *Model) firstChange(head int) int {
	first := head
	for i, r := range m.rows[head+1:] {
		switch at := head + 1 + i; {
		case r.kind == rowFile, r.kind == rowHunk && (m.rows[head].kind == rowHunk || first > head),
			r.kind == rowLine && r.line.Kind == diff.Same && first > head:
			return first
		case r.kind == rowLine && r.line.Kind == diff.Added:
			return at
		case r.kind == rowLine && r.line.Kind == diff.Removed && first == head:
			first = at
		}
	}
	return first
}

// nextChange goes to the next of the first changed lines below some heads, or to the one before. It reports whether
// there is one. One wants to read and comment on what is changed, and the head is to be seen above it.
func (m *Model) nextChange(direction int, size screen.Size, isHead func(row) bool) bool {
	to, top := -1, 0
	for head, r := range m.rows {
		if !isHead(r) {
			continue
		}
		at := m.firstChange(head)
		if direction < 0 && at >= m.cursor {
			break
		}
		if direction < 0 || at > m.cursor {
			to, top = at, head
		}
		if direction > 0 && to >= 0 {
			break
		}
	}
	if to < 0 {
		return false
	}
	m.cursor = to
	m.top = m.follow(max(0, top-1), m.room(size))
	return true
}

// NextFile goes to the first change of the next file, or of the one before.
func (m *Model) NextFile(direction int, size screen.Size) bool {
	return m.nextChange(direction, size, func(r row) bool { return r.kind == rowFile })
}

// NextHunk goes to the first change of the next hunk, or of the one before.
func (m *Model) NextHunk(direction int, size screen.Size) bool {
	return m.nextChange(direction, size, func(r row) bool { return r.kind == rowHunk })
}

// Enter goes to the first change of the file that the list of files has at the cursor. It reports whether there is one.
func (m *Model) Enter(size screen.Size) bool {
	if m.cursor >= len(m.rows) || m.rows[m.cursor].kind != rowListed {
		return false
	}
	file := m.rows[m.cursor].file
	return m.nextChange(1, size, func(r row) bool { return r.kind == rowFile && r.file == file })
}

// around is how many lines of context an excerpt has above what it is about, and below.
const around = 3

// Excerpt draws the lines that a comment is about, with a few lines around them, as they are now: whatever is read
// later.
func (m *Model) Excerpt(c diff.Comment) func(screen.Size) []string {
	now := *m
	return func(size screen.Size) []string { return now.excerpt(c, size) }
}

func (m *Model) excerpt(c diff.Comment, size screen.Size) []string {
	about := m.linesOf(c.Place)
	if len(about) == 0 {
		return nil // the change does not show them
	}
	m.mark, m.cursor = about[0], about[len(about)-1]
	first := len(m.contextOf(about[0], -1))
	at := slices.Concat(m.contextOf(about[0], -1), about, m.contextOf(m.cursor, 1))
	last := first + len(about) - 1
	var drawn [][]string
	used := 0
	for _, row := range at {
		drawn = append(drawn, m.draw(row, size))
		used += len(drawn[len(drawn)-1])
	}
	for used > size.Height && len(drawn) > 1 { // the last line is needed most: the comment is shown below it
		if below := len(drawn) - 1 - last; below > 0 && below >= first {
			used -= len(drawn[len(drawn)-1])
			drawn = drawn[:len(drawn)-1]
			continue
		}
		used -= len(drawn[0])
		drawn, first, last = drawn[1:], first-1, last-1
	}
	return screen.Clip(slices.Concat(drawn...), size.Width, size.Height)
}

// linesOf are the rows of the lines that a place names.
func (m *Model) linesOf(p diff.Place) (out []int) {
	for at, r := range m.rows {
		if r.kind != rowLine || !isOf(p, r.file) {
			continue
		}
		n := r.line.New
		if p.Gone {
			n = r.line.Old
		}
		if n > 0 && n >= p.From && n <= p.To {
			out = append(out, at)
		}
	}
	return out
}

// contextOf are the rows of the lines next to a line in one direction, in the order of the change, at most to the head
// of the hunk.
func (m *Model) contextOf(at, direction int) (out []int) {
	for at += direction; at >= 0 && at < len(m.rows) && len(out) < around; at += direction {
		kind := m.rows[at].kind
		if kind == rowLine || kind == rowHunk && direction < 0 {
			out = append(out, at)
		}
		if kind != rowLine && kind != rowComment && kind != rowRemark {
			break
		}
	}
	if direction < 0 {
		slices.Reverse(out)
	}
	return out
}

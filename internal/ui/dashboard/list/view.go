package list

import (
	"fmt"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// View draws the table.
func (m *Model) View(size screen.Size) []string {
	rows := m.placements(size)
	columns := columns(size.Width, m.columnsInUse())
	titles := []string{screen.Fit(taskTitle+m.unseen(rows, columns[0].width-len(taskTitle)), columns[0].width)}
	for _, c := range columns[1:] {
		titles = append(titles, c.fit(c.title, c.width))
	}
	head := strings.Repeat(" ", tasks.SignWidth) + strings.Join(titles, " ")
	out := []string{m.style.Header.Render(screen.Cut(head, size.Width))}
	if len(m.tasks.Shown) == 0 {
		return append(out, m.tasks.Empty(size.Width)...)
	}
	for _, one := range rows {
		r, chosen := m.tasks.At(one.at), one.at == m.tasks.Cursor
		own := columns
		if _, needs := r.Need(); needs && one.lines == 1 {
			own = withReason(columns, r)
		}
		out = append(out, m.rowLine(own, r, chosen, size.Width))
		if one.lines > 1 {
			out = append(out, m.secondLine(columns, r, chosen, size.Width))
		}
		if one.lines > 2 {
			out = append(out, m.whole(size, m.Answering())[:one.lines-2]...)
		}
	}
	return out
}

// unseen says how many tasks have no room above and below those that are visible; empty where all have.
func (m *Model) unseen(rows []placement, room int) string {
	if len(rows) == 0 {
		return ""
	}
	text := ""
	if above := rows[0].at; above > 0 {
		text += fmt.Sprintf("  ↑ %d", above)
	}
	if below := len(m.tasks.Shown) - rows[len(rows)-1].at - 1; below > 0 {
		text += fmt.Sprintf("  ↓ %d", below)
	}
	if more := text + " more"; text != "" && screen.Width(more) <= room {
		return more
	}
	return text
}

// noteIndent is where the lines below a row begin.
const noteIndent = tasks.SignWidth + 2

// whole are the lines that say all of why the selected task needs the person: none where its second line does, and no
// more than are free below the last task, or, for a person who is about to answer, than those of all other tasks. Where
// the task is shown too, it is there.
func (m *Model) whole(size screen.Size, answering bool) []string {
	room := size.Width - noteIndent
	if m.tasks.Cursor >= len(m.tasks.Shown) || m.NextToTask() || m.AboveTask() {
		return nil
	}
	free := size.Height - 2 - (len(m.tasks.Shown) - m.top)
	if answering {
		free = max(free, size.Height-3) // its titles, and the two lines of the task
	}
	lines := screen.Most(m.tasks.At(m.tasks.Cursor).Whole(room, room), max(0, free), room)
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", noteIndent) + m.style.Info.Render(line)
	}
	return lines
}

func (m *Model) rowLine(columns []column, r *tasks.Row, chosen bool, width int) string {
	sign, colour := m.tasks.Sign(m.style, r)
	dim := !r.Task.Live
	var cells []string
	for _, c := range columns {
		cell := c.fit(c.text(m, r), c.width)
		if number := strings.TrimRight(cell, " "); c.title == prTitle {
			cell = m.style.Link(number, r.Task.PRURL) + cell[len(number):]
		}
		if c.style != nil && !chosen && !dim && strings.TrimSpace(cell) != "" {
			cell = c.style(m, r, cell)
		}
		cells = append(cells, cell)
	}
	line := strings.Join(cells, " ")
	switch {
	case chosen:
		return m.style.Chosen.Render(screen.Fit(tasks.CursorSign(true)+sign+m.tasks.PickSign(r)+line, width))
	case dim:
		line = m.style.Faint.Render(line)
	}
	return tasks.CursorSign(false) + colour.Render(sign) + m.tasks.PickSign(r) + line
}

// secondLine is the line below a task: why it needs the person, else its note. That of the selected task has its
// progress too, where that has room.
func (m *Model) secondLine(columns []column, r *tasks.Row, chosen bool, width int) string {
	const indent, gap, leastPath = noteIndent, 2, 20
	room := width - indent
	if room < 1 {
		return ""
	}
	text, style := r.Note(m.style)
	need, needs := r.Need()
	if needs && chosen && m.AboveTask() && need.Kind == record.NeedsAttention && need.Text != "" {
		text, needs = "", false // all of it is right below the list
	} else if needs {
		text, style = screen.Clean(need.Reason), &m.style.Info
	} else if hasColumn(columns, summaryTitle) && text == screen.Clean(r.Task.Summary) {
		text = "" // its column has it
	}
	path, used := "", screen.Width(text)
	if left := room - used - gap; chosen && !m.NextToTask() && (!needs || left >= leastPath) { // a reason comes first
		most := left
		if !needs {
			most = max(left, room/2)
		}
		path = m.tasks.Progress(m.style, *r.Task, most)
		if screen.Width(path) < leastPath && screen.Width(path) > left {
			path = "" // so does a note
		}
	}
	if path == "" {
		return strings.Repeat(" ", indent) + style.Render(screen.Cut(text, room))
	}
	return strings.Repeat(" ", indent) + style.Render(screen.Fit(text, room-screen.Width(path)-gap)) +
		strings.Repeat(" ", gap) + path
}

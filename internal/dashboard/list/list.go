// Package list is the view of the tasks as a table.
package list

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
	"orange/internal/record"
	"orange/internal/task"
)

// Model is the view of the tasks as a table. The selected task has two lines, and below them all of why it needs the
// person, where that is more than its row says and lines are free.
type Model struct {
	// Searching reports whether the person types the text that tasks must contain.
	Searching bool
	// NextToTask reports whether the selected task is shown next to the list.
	NextToTask func() bool
	// Answering reports whether the person answers the selected task: what it asks then has up to half of the screen.
	Answering func() bool

	tasks *tasks.Set
	style *screen.Style
	top   int // index of the first visible task
}

// New makes the view of some tasks.
func New(set *tasks.Set, style *screen.Style) *Model {
	return &Model{tasks: set, style: style, NextToTask: func() bool { return false },
		Answering: func() bool { return false }}
}

// visible is how many tasks are visible, where one has two lines and the first line has the titles.
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

// Visible are the tasks that are visible.
func (m *Model) Visible(size screen.Size) []*task.Task {
	height := size.Height - 1
	out := make([]*task.Task, 0, max(0, height))
	for i := m.top; i < len(m.tasks.Shown) && i < m.top+height; i++ {
		out = append(out, m.tasks.At(i).Task)
	}
	return out
}

// CursorLine is the last line of the selected task, counted from the titles.
func (m *Model) CursorLine(size screen.Size) int {
	return m.tasks.Cursor - m.top + 2 + len(m.whole(size, m.Answering()))
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
	if line < 1 || line >= size.Height {
		return 0, false
	}
	at := m.top + line - 1
	if at > m.tasks.Cursor && m.tasks.Cursor >= m.top { // the selected task has two lines
		at = max(at-1-len(m.whole(size, m.Answering())), m.tasks.Cursor)
	}
	return at, at < len(m.tasks.Shown)
}

// Search takes a key or a paste while the person types what tasks must contain.
func (m *Model) Search(msg tea.Msg, size screen.Size) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		m.tasks.Text += screen.Clean(strings.Join(strings.Fields(msg.Content), " "))
	case tea.KeyPressMsg:
		switch msg.String() {
		case "enter":
			m.Searching = false
		case "esc":
			m.Searching, m.tasks.Text = false, ""
			m.tasks.ChooseAgain()
			m.KeepVisible(size)
			return
		case "backspace":
			letters := []rune(m.tasks.Text)
			m.tasks.Text = string(letters[:max(0, len(letters)-1)])
		case "ctrl+u":
			m.tasks.Text = ""
		case "up":
			m.Move(-1, size)
			return
		case "down":
			m.Move(1, size)
			return
		default:
			m.tasks.Text += screen.Clean(msg.Text)
		}
	}
	m.tasks.Choose()
	m.KeepVisible(size)
}

// column is a column of the table. Its width depends on the screen alone, so that nothing moves when a status changes
// or work is measured.
type column struct {
	title string
	width int
	text  func(m *Model, r *tasks.Row) string
	fit   func(text string, width int) string
	style func(m *Model, r *tasks.Row, cell string) string // colours the cell; nil for no colour
}

const (
	minTaskWidth = 21  // of the column Task; other columns are left out for it
	maxTaskWidth = 44  // where there is a column of summaries
	reasonWidth  = 27  // for the reason why a task needs a person
	leastReason  = 18  // in less room it has that of the status too
	wideScreen   = 100 // from this width on, statuses have more room
)

// Titles of columns.
const (
	taskTitle     = "Task"
	projectTitle  = "Project"
	statusTitle   = "Status"
	summaryTitle  = "Summary"
	prTitle       = "PR"
	commitsTitle  = "Commits"
	changesTitle  = "Changes"
	activityTitle = "Activity"
	spareTitle    = ""       // room for the reason why a task needs a person
	reasonTitle   = "Reason" // only such tasks have it
)

// columns are those that fit and that some of the tasks have something in. Task and Summary take the room that the
// others leave.
func columns(width int, some tasks.Traits) []column {
	status := 14
	if width >= wideScreen {
		status = 18
	}
	all := []column{{taskTitle, 0, taskCell, screen.SqueezeTo, nil}}
	add := func(has bool, c column) {
		if has {
			all = append(all, c)
		}
	}
	add(some.Projects, column{projectTitle, 8, projectCell, screen.SqueezeTo, nil})
	add(true, column{statusTitle, status, statusCell, screen.Fit, styleStatus})
	add(some.PR, column{prTitle, 7, prCell, screen.Fit, stylePR})
	add(some.Work, column{commitsTitle, 7, commitsCell, screen.PadLeft, nil})
	add(some.Work, column{changesTitle, 11, changesCell, screen.PadLeft, styleChanges})
	add(true, column{activityTitle, 8, activityCell, screen.PadLeft, nil})
	rest := func() int {
		left := width - tasks.SignWidth
		for _, c := range all[1:] {
			left -= c.width + 1
		}
		return left
	}
	for _, drop := range []string{projectTitle, prTitle, changesTitle, commitsTitle, activityTitle} {
		if rest() >= minTaskWidth {
			break
		}
		all = slices.DeleteFunc(all, func(c column) bool { return c.title == drop })
	}
	// people read what a task is about before they count its commits
	for _, drop := range []string{commitsTitle, projectTitle} {
		if width >= wideScreen && rest() < minTaskWidth+1+reasonWidth {
			all = slices.DeleteFunc(all, func(c column) bool { return c.title == drop })
		}
	}
	room := rest()
	afterStatus := 1 + slices.IndexFunc(all, func(c column) bool { return c.title == statusTitle })
	if hasColumn(all, prTitle) {
		afterStatus++ // the reason is next to the number, not over it
	}
	if spare := room - minTaskWidth - 1; spare >= reasonWidth {
		taskWidth := min(max(room*2/5, minTaskWidth), maxTaskWidth)
		all = slices.Insert(all, afterStatus,
			column{summaryTitle, room - taskWidth - 1, summaryCell, screen.Fit, styleSummary})
	} else if need := spareFor(all, spare); some.Need && need > 0 {
		all = slices.Insert(all, afterStatus, column{spareTitle, need, noCell, screen.Fit, nil})
	}
	all[0].width = max(1, rest())
	if hasColumn(all, projectTitle) {
		all[0].text = nameCell
	}
	return all
}

// spareFor is the room for the reason besides that of the figures, of what is left; 0 for none. Next to a pull request
// it may have less than usual: in its place would be the number.
func spareFor(all []column, left int) int {
	need := reasonWidth - figuresWidth(all) - 1
	switch {
	case need <= left:
		return max(0, need)
	case hasColumn(all, prTitle) && figuresWidth(all)+left >= leastReason:
		return max(0, left)
	}
	return 0
}

func hasColumn(all []column, title string) bool {
	return slices.ContainsFunc(all, func(c column) bool { return c.title == title })
}

// isFigure reports whether a task that needs a person has the reason in the place of a column.
func isFigure(c column) bool {
	return slices.Contains([]string{summaryTitle, spareTitle, commitsTitle, changesTitle}, c.title)
}

// figuresWidth is the width of the figures of a task, with a blank behind each.
func figuresWidth(all []column) (width int) {
	for _, c := range all {
		if isFigure(c) {
			width += c.width + 1
		}
	}
	return width
}

// View draws the table.
func (m *Model) View(size screen.Size) []string {
	columns := columns(size.Width, m.tasks.Some)
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.fit(c.title, c.width))
	}
	head := strings.Repeat(" ", tasks.SignWidth) + strings.Join(titles, " ")
	out := []string{m.style.Header.Render(screen.Cut(head, size.Width))}
	if len(m.tasks.Shown) == 0 {
		return append(out, m.tasks.Empty(size.Width)...)
	}
	for i := m.top; i < len(m.tasks.Shown) && len(out) < size.Height; i++ {
		r := m.tasks.At(i)
		out = append(out, m.rowLine(columns, r, i == m.tasks.Cursor, size.Width))
		if i == m.tasks.Cursor && len(out) < size.Height {
			whole := m.whole(size, m.Answering())
			out = append(append(out, m.secondLine(columns, r, size.Width, len(whole) > 0)), whole...)
		}
	}
	return out[:min(len(out), max(1, size.Height))]
}

// noteIndent is where the lines below the row of the selected task begin.
const noteIndent = tasks.SignWidth + 2

// whole are the lines that say all of why the selected task needs the person: none where its row does, and no more than
// are free below the last task, or, for a person who is about to answer, than half of the screen.
func (m *Model) whole(size screen.Size, answering bool) []string {
	room := size.Width - noteIndent
	if m.tasks.Cursor >= len(m.tasks.Shown) || room < 1 || m.NextToTask() {
		return nil
	}
	need, needs := m.tasks.At(m.tasks.Cursor).Need()
	if !needs || need.Text == "" && screen.Width(screen.Clean(need.Reason)) <= m.reasonRoom(size.Width) {
		return nil
	}
	free := size.Height - 2 - (len(m.tasks.Shown) - m.top)
	if answering {
		free = max(free, size.Height/2)
	}
	var lines []string
	for line := range strings.Lines(cmp.Or(need.Text, need.Reason)) {
		lines = append(lines, screen.Wrap(screen.Clean(strings.TrimRight(line, "\r\n")), room)...)
	}
	if free = max(0, free); len(lines) > free && free > 0 {
		lines[free-1] = screen.Cut(lines[free-1]+" …", room)
	}
	lines = lines[:min(len(lines), free)]
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", noteIndent) + m.style.Info.Render(screen.Cut(line, room))
	}
	return lines
}

// reasonRoom is the room for the reason in the row of the selected task.
func (m *Model) reasonRoom(width int) int {
	own, _ := reasonColumns(columns(width, m.tasks.Some), m.tasks.At(m.tasks.Cursor))
	for _, c := range own {
		if c.title == reasonTitle {
			return c.width
		}
	}
	return 0
}

// reasonColumns are the columns of a task: one that needs a person has the reason in the place of its figures, and
// where these have little room in that of all but its name. The number of its pull request stays.
func reasonColumns(all []column, r *tasks.Row) (own []column, reason string) {
	need, needs := r.Need()
	if !needs {
		return all, ""
	}
	reason = screen.Clean(need.Reason)
	replaced := isFigure
	if figuresWidth(all) < leastReason {
		replaced = func(c column) bool { return c.title != taskTitle && c.title != projectTitle }
	}
	if figures := replaced; hasColumn(all, prTitle) {
		replaced = func(c column) bool {
			return figures(c) && c.title != prTitle || c.title == prTitle && r.Task.PRURL == ""
		}
	}
	place := column{title: reasonTitle, width: -1, fit: screen.Fit,
		text: func(*Model, *tasks.Row) string { return reason }}
	at := -1
	for _, c := range all {
		if !replaced(c) {
			own = append(own, c)
			continue
		}
		if at < 0 {
			at = len(own)
			own = append(own, place)
		}
		own[at].width += c.width + 1
	}
	return own, reason
}

func (m *Model) rowLine(columns []column, r *tasks.Row, chosen bool, width int) string {
	sign, colour := m.tasks.Sign(m.style, r)
	dim := !r.Task.Live
	columns, reason := reasonColumns(columns, r)
	var cells []string
	for _, c := range columns {
		if c.title == reasonTitle && !chosen {
			cells = append(cells, m.style.Info.Render(screen.Fit(reason, c.width)))
			continue
		}
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

// secondLine is the line below the selected task: its note, or what it is about where all of the note is below, and its
// progress.
func (m *Model) secondLine(columns []column, r *tasks.Row, width int, noted bool) string {
	const indent, gap, leastPath = noteIndent, 2, 20
	room := width - indent
	if room < 1 {
		return ""
	}
	text, style := r.Note(m.style)
	if noted {
		text, style = screen.Clean(r.Task.Summary), &m.style.Faint
	}
	if _, needs := r.Need(); !needs && hasColumn(columns, summaryTitle) && text == screen.Clean(r.Task.Summary) {
		text = "" // its column has it
	}
	need := screen.Width(text)
	path := m.tasks.Progress(m.style, *r.Task, max(room-need-gap, room/2))
	if m.NextToTask() {
		path = "" // it is next to the list
	}
	if screen.Width(path) < leastPath && screen.Width(path) > room-need-gap || r.Task.Attention != "" && !noted &&
		need+gap+screen.Width(path) > room {
		path = "" // the note comes first
	}
	if path == "" {
		return strings.Repeat(" ", indent) + style.Render(screen.Cut(text, room))
	}
	return strings.Repeat(" ", indent) + style.Render(screen.Fit(text, room-screen.Width(path)-gap)) +
		strings.Repeat(" ", gap) + path
}

func taskCell(m *Model, r *tasks.Row) string { return m.tasks.Title(r) }

func nameCell(_ *Model, r *tasks.Row) string { return screen.Clean(tasks.Name(*r.Task)) }

func projectCell(_ *Model, r *tasks.Row) string { return screen.Clean(r.Task.Project) }

func summaryCell(_ *Model, r *tasks.Row) string { return screen.Clean(r.Task.Summary) }

func noCell(*Model, *tasks.Row) string { return "" }

func statusCell(_ *Model, r *tasks.Row) string { return screen.Clean(string(r.Task.Status)) }

func activityCell(m *Model, r *tasks.Row) string { return screen.Age(r.Active(), m.tasks.Now) }

func prCell(_ *Model, r *tasks.Row) string {
	if r.Task.PRURL == "" {
		return ""
	}
	number := r.Task.PRURL[strings.LastIndexByte(r.Task.PRURL, '/')+1:]
	state := map[string]string{record.PRMerged: "✓", record.PRClosed: "✗"}[r.Task.PRState]
	return "#" + screen.Clean(number) + state
}

func commitsCell(m *Model, r *tasks.Row) string {
	work, known, asked := m.tasks.Work(r.Task.ID)
	switch {
	case !asked:
		return ""
	case !known:
		return "·"
	}
	return screen.Count(work.Commits)
}

func changesCell(m *Model, r *tasks.Row) string {
	work, known, _ := m.tasks.Work(r.Task.ID)
	if !known || work.Added == 0 && work.Removed == 0 {
		return ""
	}
	return "+" + screen.Count(work.Added) + " -" + screen.Count(work.Removed)
}

// styleStatus gives a status the colour of the task's mark, which is the sign before it.
func styleStatus(m *Model, r *tasks.Row, cell string) string {
	if def := m.tasks.Workflow(*r.Task); def != nil {
		if state, _ := def.State(r.Task.Status); state.Escalation {
			return m.style.Warn.Render(cell)
		}
	}
	_, colour := m.tasks.Sign(m.style, r)
	return colour.Render(cell)
}

func styleSummary(m *Model, _ *tasks.Row, cell string) string { return m.style.Faint.Render(cell) }

func stylePR(m *Model, r *tasks.Row, cell string) string {
	if r.Task.PRState == record.PRClosed {
		return m.style.Warn.Render(cell)
	}
	return m.style.Info.Render(cell)
}

func styleChanges(m *Model, _ *tasks.Row, cell string) string {
	added, removed, both := strings.Cut(cell, "-")
	if !both {
		return cell
	}
	return m.style.Added.Render(added) + m.style.Bad.Bold(false).Render("-"+removed)
}

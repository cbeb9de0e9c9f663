package dashboard

import (
	"fmt"
	"strings"

	"orange/internal/dashboard/screen"
	"orange/internal/record"
)

// column is one of the list's. Its width depends on the screen alone, so that nothing moves when a status changes
// or work is measured.
type column struct {
	title string
	width int
	text  func(m *Model, r *row) string
	draw  func(text string, width int) string                     // how it is brought to its width
	paint func(s screen.Style, r *row, m *Model, c string) string // its colours; nil for none
}

const (
	enoughForName = 22  // cells
	wide          = 100 // from this width on, statuses have more room
)

// columns are those that fit: Task takes what the others leave.
func (m *Model) columns(width int) []column {
	status := 14
	if width >= wide {
		status = 18
	}
	all := []column{
		{"Task", 0, (*Model).taskCell, screen.SqueezeTo, nil},
		{"Status", status, func(_ *Model, r *row) string { return screen.Clean(string(r.task.Status)) }, screen.Fit,
			paintStatus},
		{"PR", 7, (*Model).prCell, screen.Fit, paintPR},
		{"Commits", 7, (*Model).commitsCell, screen.PadLeft, nil},
		{"Changes", 11, (*Model).changesCell, screen.PadLeft, paintChanges},
		{"Activity", 8, func(m *Model, r *row) string { return screen.Age(r.active(), m.now) }, screen.PadLeft, nil},
	}
	rest := func() int {
		left := width - signWidth
		for _, c := range all[1:] {
			left -= c.width + 1
		}
		return left
	}
	for _, drop := range []string{"PR", "Changes", "Commits", "Activity"} {
		if rest() >= enoughForName {
			break
		}
		for i, c := range all {
			if c.title == drop {
				all = append(all[:i:i], all[i+1:]...)
				break
			}
		}
	}
	all[0].width = max(1, rest())
	return all
}

// signWidth is the cells before a row: its mark and a blank.
const signWidth = 2

func (m *Model) drawList(width, height int) []string {
	columns := m.columns(width)
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.draw(c.title, c.width))
	}
	out := []string{m.style.Header.Render(screen.Cut("  "+strings.Join(titles, " "), width))}
	if len(m.list.shown) == 0 {
		return append(out, m.emptyLines(width)...)
	}
	for i := m.list.top; i < len(m.list.shown) && len(out) < height; i++ {
		r := &m.list.rows[m.list.shown[i]]
		out = append(out, m.rowLine(columns, r, i == m.list.cursor, width))
		if i == m.list.cursor && len(out) < height {
			out = append(out, m.secondLine(r, width))
		}
	}
	return out
}

// rowAt is which of the shown tasks stands on a line of the list, counted from its titles; false where none does.
func (l *list) rowAt(line, height int) (int, bool) {
	if line < 1 || line >= height {
		return 0, false
	}
	at := l.top + line - 1
	if at > l.cursor && l.cursor >= l.top { // the selected row has two lines
		at--
	}
	return at, at < len(l.shown)
}

func (m *Model) emptyLines(width int) []string {
	text := "no tasks yet; press c to create one"
	switch {
	case !m.loaded:
		return nil
	case m.list.text != "":
		text = fmt.Sprintf("no task holds %q; Esc shows all", m.list.text)
	case m.list.filter != showAll:
		text = "no tasks that are " + m.list.filter.String() + "; f shows others"
	case m.list.project != "" && len(m.list.rows) > 0:
		text = "no tasks of " + screen.Clean(m.list.project) +
			" yet; press c to create one, or a for those of all projects"
	}
	out := []string{""}
	for _, line := range screen.Wrap(text, max(1, width-4)) {
		out = append(out, "  "+line)
	}
	return out
}

func (m *Model) rowLine(columns []column, r *row, chosen bool, width int) string {
	sign, painted := m.sign(r)
	dim := !r.task.Live
	var cells []string
	for _, c := range columns {
		cell := c.draw(c.text(m, r), c.width)
		if c.paint != nil && !chosen && !dim && strings.TrimSpace(cell) != "" {
			cell = c.paint(m.style, r, m, cell)
		}
		cells = append(cells, cell)
	}
	line := strings.Join(cells, " ")
	switch {
	case chosen:
		return m.style.Chosen.Render(screen.Fit(sign+" "+line, width))
	case dim:
		line = m.style.Faint.Render(line)
	}
	return painted + " " + line
}

// sign is the mark of a task, plain and as it is painted.
func (m *Model) sign(r *row) (plain, painted string) {
	def := m.definition(*r.task)
	for _, one := range m.marks {
		if one.holds(r, def) {
			return one.sign, one.style(m.style).Render(one.sign)
		}
	}
	return " ", " "
}

// secondLine is what the selected task has beneath its line: what a person should know, or its summary, and how
// far it is.
func (m *Model) secondLine(r *row, width int) string {
	const indent, gap, leastPath = 4, 2, 20
	room := width - indent
	if room < 1 {
		return ""
	}
	text, paint := m.toKnow(r)
	need := screen.Width(text)
	path := m.pathWithin(*r.task, max(room-need-gap, room/2))
	if screen.Width(path) < leastPath && screen.Width(path) > room-need-gap || r.task.Attention != "" &&
		need+gap+screen.Width(path) > room {
		path = "" // the words come first
	}
	if path == "" {
		return strings.Repeat(" ", indent) + paint(screen.Cut(text, room))
	}
	return strings.Repeat(" ", indent) + paint(screen.Fit(text, room-screen.Width(path)-gap)) + strings.Repeat(" ",
		gap) + path
}

// toKnow is why a person should look, or what the task waits for, or what it is about.
func (m *Model) toKnow(r *row) (text string, paint func(...string) string) {
	switch t := r.task; {
	case t.Attention != "":
		return screen.Clean(t.Attention), m.style.Bad.Render
	case t.Queued():
		text := "waits for a workspace, then " + screen.Clean(string(t.QueuedFor))
		if summary := screen.Clean(t.Summary); summary != "" {
			text += "; " + summary
		}
		return text, m.style.Faint.Render
	case r.limited() != "":
		return screen.Clean(r.limited()), m.style.Warn.Render
	case t.Summary == "":
		return "no summary yet", m.style.Faint.Render
	default:
		return screen.Clean(t.Summary), m.style.Faint.Render
	}
}

func (m *Model) taskCell(r *row) string {
	name := screen.Clean(nameOf(*r.task))
	if m.list.project == "" {
		name = screen.Clean(r.task.Project) + "/" + name
	}
	return name
}

func (m *Model) prCell(r *row) string {
	if r.task.PRURL == "" {
		return ""
	}
	number := r.task.PRURL[strings.LastIndexByte(r.task.PRURL, '/')+1:]
	state := map[string]string{record.PRMerged: "✓", record.PRClosed: "✗"}[r.task.PRState]
	return "#" + screen.Clean(number) + state
}

func (m *Model) commitsCell(r *row) string {
	one, asked := m.works[r.task.ID]
	switch {
	case !asked:
		return ""
	case !one.known:
		return "·"
	}
	return screen.Count(one.work.Commits)
}

func (m *Model) changesCell(r *row) string {
	one := m.works[r.task.ID]
	if !one.known || one.work.Added == 0 && one.work.Removed == 0 {
		return ""
	}
	return "+" + screen.Count(one.work.Added) + " -" + screen.Count(one.work.Removed)
}

func paintStatus(s screen.Style, r *row, m *Model, cell string) string {
	if def := m.definition(*r.task); def != nil {
		if state, _ := def.State(r.task.Status); state.Escalation {
			return s.Warn.Render(cell)
		}
	}
	return cell
}

func paintPR(s screen.Style, r *row, _ *Model, cell string) string {
	if r.task.PRState == record.PRClosed {
		return s.Warn.Render(cell)
	}
	return s.Info.Render(cell)
}

func paintChanges(s screen.Style, _ *row, _ *Model, cell string) string {
	added, removed, both := strings.Cut(cell, "-")
	if !both {
		return cell
	}
	return s.Added.Render(added) + s.Bad.Bold(false).Render("-"+removed)
}

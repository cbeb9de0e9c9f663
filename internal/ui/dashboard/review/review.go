// Package review is the view of what a task's branch changes: its files, hunks and lines, with the comments of people
// and the findings of reviewers at the lines that they are about.
package review

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/diff"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Reader reads the work of a task.
type Reader interface {
	// Patch is all of it, or what changed since another commit was judged.
	Patch(ctx context.Context, t task.Task, since bool) (diff.Patch, error)
}

// Comments keeps what people wrote and have not sent.
type Comments interface {
	Comments(project, id string) ([]diff.Comment, error)
	// ChangeComments changes them while no other process does, and answers those that are left.
	ChangeComments(ctx context.Context, project, id string,
		change func([]diff.Comment) []diff.Comment) ([]diff.Comment, error)
}

// Model is the view of the selected task's changes.
type Model struct {
	ctx      context.Context
	reader   Reader
	comments Comments
	tasks    *tasks.Set
	style    *screen.Style
	escapes  allEscapes
	now      func() time.Time

	task    string // the id of the task that is shown
	version int64  // of the task when its changes were read
	since   bool   // only what changed since another commit was judged
	running bool   // a read runs
	stale   bool   // another read is wanted
	wording bool   // the comments alone are to be read again

	content *content // nil until it is read
	err     error
	written []diff.Comment
	unread  error // why the comments could not be read
	rows    []row
	wide    bool // the rows have no list of files: it is next to them

	cursor, top int
	mark        int // the other end of a range of lines, and -1 where there is none
	wrap        bool
	search      screen.LineInput // what is searched for
}

// New makes the view.
func New(ctx context.Context, reader Reader, comments Comments, set *tasks.Set, style *screen.Style,
	now func() time.Time) *Model {
	return &Model{ctx: ctx, reader: reader, comments: comments, tasks: set, style: style, now: now,
		escapes: allEscapes{}, mark: -1}
}

// Messages of the view.
type (
	// Read has what was read.
	Read struct {
		task    string
		version int64
		since   bool
		only    bool // the comments alone
		content *content
		written []diff.Comment
		err     error
		unread  error
	}
	// Reread asks for another look: the person changed a file.
	Reread struct{}
)

// Refresh makes the next Follow read everything again.
func (m *Model) Refresh() { m.stale = true }

// RefreshComments makes the next Follow read the comments again.
func (m *Model) RefreshComments() { m.wording = true }

// Follow reads what the view lacks for the selected task. Call it after every message while the view is visible.
func (m *Model) Follow(size screen.Size) tea.Cmd {
	t, found := m.tasks.Selected()
	if !found {
		return nil
	}
	if m.task != t.ID {
		*m = Model{ctx: m.ctx, reader: m.reader, comments: m.comments, tasks: m.tasks, style: m.style, now: m.now,
			escapes: m.escapes, task: t.ID, mark: -1, wrap: m.wrap, stale: true}
	}
	if wide := isWide(size); wide != m.wide {
		m.wide = wide
		m.build()
	}
	if m.running || !m.stale && !m.wording && m.version == t.Version {
		return nil
	}
	only := m.wording && !m.stale && m.version == t.Version
	m.running, m.stale, m.wording = true, false, false
	ctx, reader, comments, since, now := m.ctx, m.reader, m.comments, m.since, m.now
	return func() tea.Msg {
		out := Read{task: t.ID, version: t.Version, since: since, only: only}
		out.written, out.unread = comments.Comments(t.Project, t.ID)
		if only {
			return out
		}
		var p diff.Patch
		if p, out.err = reader.Patch(ctx, t, since); out.err == nil {
			out.content = prepare(p, now)
		}
		return out
	}
}

// Update takes what was read.
func (m *Model) Update(msg tea.Msg) {
	switch msg := msg.(type) {
	case Reread:
		m.stale = true
	case Read:
		if msg.task != m.task {
			return // the person went to another task meanwhile
		}
		m.running = false
		m.written, m.unread = diff.Sorted(msg.written), msg.unread
		if !msg.only {
			m.version, m.err = msg.version, msg.err
			if msg.since != m.since {
				m.stale = true
			}
			if msg.err == nil {
				m.content = msg.content
			}
		}
		m.build()
	}
}

// ToggleSince shows what changed since another commit was judged, or all again.
func (m *Model) ToggleSince() {
	m.since, m.stale, m.mark = !m.since, true, -1
}

// Since reports whether only the part since the last judgement is shown.
func (m *Model) Since() bool { return m.since }

// NoSince is why there is nothing to compare with but the whole.
func (m *Model) NoSince() string {
	switch {
	case m.content == nil:
		return "the changes are being read"
	case m.content.patch.Last == "" && !m.since:
		return "no other commit of this branch was judged yet"
	}
	return ""
}

// ToggleWrap wraps long lines, or cuts them.
func (m *Model) ToggleWrap() (wrapped bool) {
	m.wrap = !m.wrap
	return m.wrap
}

// ToggleMark begins a range of lines at the cursor, or gives it up.
func (m *Model) ToggleMark() {
	if m.mark >= 0 {
		m.mark = -1
		return
	}
	m.mark = m.cursor
}

// Marking reports whether a range of lines was begun.
func (m *Model) Marking() bool { return m.mark >= 0 }

// Unmark gives up the range.
func (m *Model) Unmark() { m.mark = -1 }

// NoLine is why no comment can be written where the cursor is.
func (m *Model) NoLine() string {
	if _, found := m.Here(); !found && len(m.selected()) == 0 {
		return fmt.Sprintf("no line of a file is selected; %s and %s go to one", m.style.Keys.Of("down"),
			m.style.Keys.Of("up"))
	}
	return ""
}

// selected are the lines that the cursor is on, or that are in the range, of the file at the cursor. The head of a hunk
// has the first line that changed in it: the cursor goes there, and that is what one wants to comment on.
func (m *Model) selected() []*diff.Line {
	from, to := m.selection()
	if to >= len(m.rows) {
		return nil
	}
	if from == to && m.rows[from].kind == rowHunk {
		if at := m.firstChange(from); at > from {
			return []*diff.Line{m.rows[at].line}
		}
		return nil
	}
	file := m.rows[m.cursor].file
	var out []*diff.Line
	for _, r := range m.rows[from : to+1] {
		if r.line != nil && r.kind == rowLine && r.file == file && r.line.Kind != diff.Note {
			out = append(out, r.line)
		}
	}
	return out
}

// selection are the first and the last selected row.
func (m *Model) selection() (from, to int) {
	if m.mark < 0 {
		return m.cursor, m.cursor
	}
	return min(m.mark, m.cursor), max(m.mark, m.cursor)
}

// Selected is the place of the selected lines as a comment without a text, or with that of the comment that is there.
func (m *Model) Selected() (c diff.Comment, there bool) {
	if one, found := m.Here(); found && m.mark < 0 {
		return one, true
	}
	lines := m.selected()
	if len(lines) == 0 {
		return diff.Comment{}, false
	}
	c = diff.Comment{Place: diff.Place{File: m.rows[m.cursor].file.Name, Gone: true}, Commit: m.content.patch.To}
	for _, l := range lines {
		c.Gone = c.Gone && l.New == 0
	}
	for _, l := range lines {
		n := l.New
		if c.Gone {
			n = l.Old
		}
		if n > 0 && c.From == 0 {
			c.From = n
		}
		c.To = max(c.To, n)
		c.Quoted = append(c.Quoted, strings.ToValidUTF8(strings.TrimSuffix(l.Text, "\r"), "\uFFFD"))
	}
	if c.Gone && m.rows[m.cursor].file.Old != "" {
		c.File = m.rows[m.cursor].file.Old
	}
	for _, one := range m.written {
		if one.Place == c.Place {
			return one, true
		}
	}
	return c, false
}

// Here is the comment at the cursor.
func (m *Model) Here() (c diff.Comment, found bool) {
	if m.cursor < len(m.rows) && m.rows[m.cursor].kind == rowComment {
		return m.written[m.rows[m.cursor].remark], true
	}
	return diff.Comment{}, false
}

// NoComment is why no comment can be taken away.
func (m *Model) NoComment() string {
	if _, found := m.Here(); !found {
		return "the cursor is on no comment; > goes to the next one"
	}
	return ""
}

// File is the file at the cursor as a path and a line in it, and why there is none.
func (m *Model) File() (name string, line int, why string) {
	switch {
	case m.content == nil:
		return "", 0, "the changes are being read"
	case m.cursor >= len(m.rows) || m.rows[m.cursor].file == nil:
		return "", 0, "the cursor is on no file"
	case m.content.patch.Dir == "":
		return "", 0, "the task has no workspace here, so that no folder has the file"
	}
	line = 1
	for at := m.cursor; at < len(m.rows) && m.rows[at].file == m.rows[m.cursor].file; at++ {
		if l := m.rows[at].line; l != nil && l.New > 0 {
			line = l.New
			break
		}
	}
	return m.content.patch.Dir + "/" + m.rows[m.cursor].file.Name, line, ""
}

// Text is what git printed, and which line of it the cursor is on.
func (m *Model) Text() (text string, line int) {
	if m.content == nil {
		return "", 0
	}
	if m.cursor < len(m.rows) {
		line = m.rows[m.cursor].at
	}
	return printable.Text(m.content.patch.Text), max(1, line)
}

// NoText is why there is nothing for a pager.
func (m *Model) NoText() string {
	if text, _ := m.Text(); text == "" {
		return "nothing is changed"
	}
	return ""
}

// problem is why the changes could not be read, and the comments.
func (m *Model) problem() error {
	if m.err != nil {
		return m.err
	}
	return m.unread
}

// step moves the cursor by n rows that it can be on.
func (m *Model) step(n int) {
	direction := 1
	if n < 0 {
		direction = -1
	}
	at := m.cursor
	for n != 0 {
		next := at + direction
		for next >= 0 && next < len(m.rows) && m.rows[next].kind == rowBlank {
			next += direction
		}
		if next < 0 || next >= len(m.rows) {
			break
		}
		at, n = next, n-direction
	}
	m.cursor = at
}

// Move moves the cursor by n rows.
func (m *Model) Move(n int, size screen.Size) {
	n = max(-len(m.rows), min(n, len(m.rows)))
	m.step(n)
	m.top = m.follow(m.top, m.room(size))
}

// next moves the cursor to the next row of some kind, and shows what is below it. It reports whether there is one.
func (m *Model) next(direction int, size screen.Size, is func(row) bool) bool {
	for at := m.cursor + direction; at >= 0 && at < len(m.rows); at += direction {
		if is(m.rows[at]) {
			m.cursor = at
			m.top = m.follow(max(0, at-2), m.room(size))
			return true
		}
	}
	return false
}

// NextRemark goes to the next comment or finding, or to the one before.
func (m *Model) NextRemark(direction int, size screen.Size) bool {
	return m.next(direction, size, func(r row) bool { return r.kind == rowComment || r.kind == rowRemark })
}

// NextMatch goes to the next row that has what is searched for, and from the last to the first.
func (m *Model) NextMatch(direction int, size screen.Size) bool {
	is := func(r row) bool { return matches(m.textOf(r), m.search.Text) }
	if m.search.Text == "" {
		return false
	}
	if m.next(direction, size, is) {
		return true
	}
	before := m.cursor
	if m.cursor = -1; direction < 0 {
		m.cursor = len(m.rows)
	}
	if m.next(direction, size, is) {
		return true
	}
	m.cursor = before
	return false
}

// Searched is what is searched for, and whether the person still types it.
func (m *Model) Searched() (text string, typing bool) { return m.search.Text, m.search.Typing }

// SearchKeys are the keys of the search.
func (m *Model) SearchKeys() []string { return []string{"Enter", "finds it", "Esc", "leaves it"} }

// StartSearch lets the person type what to search for.
func (m *Model) StartSearch() { m.search = screen.LineInput{Typing: true} }

// Search takes a key or a paste while the person types. It reports whether what is searched for is there.
func (m *Model) Search(msg tea.Msg, size screen.Size) (found bool) {
	m.search.Type(msg)
	return m.search.Typing || m.search.Text == "" || m.NextMatch(1, size)
}

// matches reports whether a text has another one. Capitals count only where there is one in what is searched for.
func matches(text, part string) bool { return len(matchesIn(text, part)) > 0 }

// matchesIn are the places in a text that have what is searched for.
func matchesIn(text, part string) []diff.Range {
	if part == "" {
		return nil
	}
	if low := strings.ToLower(part); low == part {
		if lower := strings.ToLower(text); len(lower) == len(text) { // else the places would not be those of the text
			text = lower
		}
	}
	var out []diff.Range
	for at := 0; ; {
		next := strings.Index(text[at:], part)
		if next < 0 {
			return out
		}
		out = append(out, diff.Range{From: at + next, To: at + next + len(part)})
		at += next + len(part)
	}
}

package detail

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/markdown"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// textSize is the room of a tab's text, below the head.
func (m *Model) textSize(t task.Task, size screen.Size) screen.Size {
	return screen.Size{Width: max(1, size.Width), Height: max(1, size.Height-len(m.head(t, size)))}
}

// Room is how many lines of its text a view of a size has.
func (m *Model) Room(size screen.Size) int {
	t, found := m.tasks.Selected()
	if !found {
		return size.Height
	}
	return m.textSize(t, size).Height
}

// View draws the selected task.
func (m *Model) View(size screen.Size) []string {
	t, found := m.tasks.Selected()
	if !found {
		return []string{"", m.style.Faint.Render("no task is selected")}
	}
	out := m.head(t, size)
	room := max(1, size.Height-len(out))
	if m.BelowList() && len(out) >= size.Height {
		return out[:max(1, size.Height)]
	}
	key := key(t.ID, m.Shown())
	one := m.contents[key]
	if !one.known {
		return append(out, m.style.Faint.Render("looking…"))
	}
	lines := m.textOf(t, one, size.Width)
	return append(out, m.position(key, len(lines), room).Draw(lines, size.Width, room)...)
}

// Sizes from which the head has more than the title and the names of the tabs.
const (
	mediumHead = 9
	fullHead   = 14
	keyedTabs  = 56 // the width from which the tabs have their keys
)

// head has the task's name and state, its problems, its path through the workflow, and the tabs.
func (m *Model) head(t task.Task, size screen.Size) []string {
	width, height := size.Width, size.Height
	if m.BelowList() {
		return m.lowHead(t, size)
	}
	out := []string{m.titleLine(t, width)}
	if height >= mediumHead {
		out = append(out, m.problemLines(t, size)...)
	}
	if height >= fullHead {
		if t.Summary != "" {
			out = append(out, screen.Cut(screen.CleanRaw(t.Summary), width))
		}
		if work, _, _ := m.tasks.Work(t.ID); work.Judged != "" {
			out = append(out, m.style.Faint.Render(screen.Cut(screen.CleanRaw(work.Judged), width)))
		}
		if path := m.tasks.Progress(m.style, t, width); path != "" {
			out = append(out, path)
		}
	}
	out = append(out, m.tabLine(t, width))
	if height >= fullHead {
		out = append(out, "")
	}
	return out
}

// lowHead is the head of the view below a list, which has the task's summary and path: its name and state, all of why
// it needs the person, else its problems, and the tabs where a text has room below them.
func (m *Model) lowHead(t task.Task, size screen.Size) []string {
	rule := func(n int) string { return m.style.Faint.Render(strings.Repeat("─", max(0, n))) }
	title := rule(2) + "  " + m.titleLine(t, size.Width-8) + "  "
	out := append([]string{title + rule(size.Width-screen.Width(title))}, m.needLines(size)...)
	if len(out) == 1 && size.Height >= mediumHead {
		out = append(out, m.problemLines(t, size)...)
	}
	if size.Height-len(out) > 1 {
		out = append(out, m.tabLine(t, size.Width))
	}
	return out
}

// needLines say all of why the task needs the person, where the second line of its row in the list does not.
func (m *Model) needLines(size screen.Size) []string {
	const rowIndent = tasks.SignWidth + 2
	r, found := m.tasks.SelectedRow()
	if !found {
		return nil
	}
	lines := screen.Most(r.Whole(size.Width-rowIndent, size.Width-2), size.Height-1, size.Width-2)
	for i, line := range lines {
		lines[i] = "  " + m.style.Info.Render(line)
	}
	return lines
}

// NeedLines is how many lines of the view below a list the name of the task has, and why it needs the person.
func (m *Model) NeedLines(size screen.Size) int { return 1 + len(m.needLines(size)) }

// titleLine is the task's name, its status, for how long it is in it, and its pull request.
func (m *Model) titleLine(t task.Task, width int) string {
	parts := []string{m.style.Bold.Render(screen.CleanRaw(tasks.Name(t))),
		m.style.Info.Render(screen.CleanRaw(string(t.Status))) + m.sinceText(t)}
	if pr := m.prText(t); pr != "" {
		parts = append(parts, pr)
	}
	return screen.Cut(strings.Join(parts, "  "), width)
}

// sinceText is for how long the task is in its status, and how long it should be.
func (m *Model) sinceText(t task.Task) string {
	if t.EnteredAt.IsZero() {
		return ""
	}
	text := " for " + screen.Age(t.EnteredAt, m.tasks.Now)
	if m.tasks.Now.Sub(t.EnteredAt) < 5*time.Second {
		text = " since now"
	}
	if limit := m.tasks.Timeout(t); limit > 0 {
		text += " of " + workflow.Duration(limit)
	}
	if t.Live && t.Overdue >= task.LateAlert {
		return m.style.Bad.Render(text)
	}
	return m.style.Faint.Render(text)
}

// prText is the pull request with the result of its checks.
func (m *Model) prText(t task.Task) string {
	if t.PRURL == "" {
		return ""
	}
	text := m.style.Link("PR #"+screen.CleanRaw(t.PRURL[strings.LastIndexByte(t.PRURL, '/')+1:]), t.PRURL)
	if t.PRState != "" {
		text += " " + strings.ToLower(screen.CleanRaw(t.PRState))
	}
	switch history.ChecksOf(m.Events(t.ID), t.PRURL) {
	case record.ChecksPass:
		text += ", " + m.style.Good.Render("checks pass")
	case record.ChecksFail:
		text += ", " + m.style.Bad.Render("checks fail")
	case record.ChecksPending:
		text += ", " + m.style.Warn.Render("checks run")
	}
	return text
}

// problemLines are what is wrong with the task, and why it needs a person, where the list above does not say that: in a
// third of the lines at most. All that an agent asks or said last is there where the person chose to see another part.
func (m *Model) problemLines(t task.Task, size screen.Size) []string {
	const least = 3
	width, most := size.Width, max(least, size.Height/3)
	var problems []screen.Fragment
	if r, found := m.tasks.SelectedRow(); found {
		problems = m.tasks.Problems(m.style, &r)
		if need, needs := r.Need(); needs && t.Attention == "" && !m.BelowList() {
			problems = append(problems, screen.Text(&m.style.Info, "◆ needs you: "+need.Reason))
			if need.Text != "" && m.Chosen && m.Shown() != Document && m.Shown() != Terminal {
				for _, line := range r.Whole(0, max(1, width-2)) {
					problems = append(problems, screen.Raw(&m.style.Info, "  "+line))
				}
			}
		}
	}
	if t.Attention != "" && !m.BelowList() {
		problems = append(problems, screen.Text(&m.style.Bad, "! "+tasks.InKeys(m.style.Keys, t.ID, t.Attention)))
	}
	var lines []string
	for _, one := range problems {
		lines = append(lines, screen.Flow([]screen.Fragment{one}, width, screen.Indent{Rest: "  "})...)
	}
	return screen.Scroll{}.Draw(lines, width, most)
}

// tabLine names the tabs, and shows how far a text was scrolled.
func (m *Model) tabLine(t task.Task, width int) string {
	var names []string
	shown := m.Shown()
	for tab := range Tabs {
		name := tab.String()
		if width >= keyedTabs {
			name = m.style.Keys.Of(fmt.Sprintf("part-%d", tab+1)) + " " + name
		}
		if tab == shown {
			name = m.style.Chosen.Render("[" + name + "]") // a sign too: not every terminal shows what is chosen
		} else {
			name = m.style.Faint.Render(" " + name + " ")
		}
		names = append(names, name)
	}
	line := strings.Join(names, "")
	key := key(t.ID, shown)
	lines := len(m.contents[key].lines)
	if at, moved := m.positions[key]; moved && lines > 0 && at.Top > 0 {
		line += m.style.Faint.Render(fmt.Sprintf("  line %d of %d", at.Top+1, lines))
	}
	return screen.Cut(line, width)
}

// renderer draws what was read as lines of a width.
type renderer struct {
	style         *screen.Style
	width, height int
	zone          *time.Location
}

func (r renderer) lines(t task.Task, tab Tab, s source) []string {
	if s.err != nil {
		var out []string
		for _, line := range screen.CleanRawLines(s.err.Error()) {
			out = append(out, r.flow("", "", screen.Raw(&r.style.Bad, line))...)
		}
		return append(out, "", r.faint(r.style.Keys.Of("look-again")+" looks again"))
	}
	switch tab {
	case Document:
		return markdown.Document(r.style, s.document, s.omitted, r.width)
	case History:
		return r.historyLines(s.events)
	case Why:
		return r.whyLines(s.why)
	case Diff:
		return r.diffLines(s.diff, t.Live)
	case Terminal:
		return r.paneLines(s.panes)
	case Log:
		return r.logLines(s.log, t.ID)
	}
	return nil
}

// flow wraps words; first and rest are the indents of the first line and of the others.
func (r renderer) flow(first, rest string, words ...screen.Fragment) []string {
	return screen.Flow(words, r.width, screen.Indent{First: first, Rest: rest})
}

func (r renderer) faint(text string) string { return r.style.Faint.Render(text) }

func (r renderer) day(at time.Time) string {
	return screen.Cut(r.faint("── "+at.Format("Monday, 2 January 2006")+" ──"), r.width)
}

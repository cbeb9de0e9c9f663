package dashboard

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/dashboard/screen"
	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// splitSides are the widths of the list and of the task beside it.
func splitSides(width int) (left, right int) {
	left = width * 2 / 5
	return left, width - left - 3
}

// listBeside is the width of the list where a task is shown at its right.
func listBeside(width int) int {
	left, _ := splitSides(width)
	return left
}

// detailSize is the room that a tab's text has.
func (m *Model) detailSize(t task.Task) (width, height int) {
	width = m.width
	if m.split() {
		_, width = splitSides(m.width)
	}
	height = m.bodyHeight() + 1
	return max(1, width), max(1, height-len(m.detailHead(t, width, height)))
}

func (m *Model) drawDetail(width, height int) []string {
	t, found := m.selected()
	if !found {
		return []string{"", m.style.Faint.Render("no task is selected")}
	}
	out := m.detailHead(t, width, height)
	room := max(1, height-len(out))
	key := tabKey(t.ID, m.detail.tab)
	one := m.detail.seen[key]
	if !one.known {
		return append(out, m.style.Faint.Render("looking…"))
	}
	return append(out, m.detail.reading(key, len(one.lines), room).Draw(one.lines, width, room)...)
}

// Heights from which the head has room for more than a line and the tabs.
const (
	someHead  = 9
	wholeHead = 14
)

// detailHead says which task it is and how it is with it, how far it is, and which tab is shown.
func (m *Model) detailHead(t task.Task, width, height int) []string {
	out := []string{m.titleLine(t, width)}
	if height >= someHead {
		out = append(out, m.alarmLines(t, width)...)
	}
	if height >= wholeHead {
		if t.Summary != "" {
			out = append(out, screen.Cut(screen.CleanRaw(t.Summary), width))
		}
		if judged := m.works[t.ID].work.Judged; judged != "" {
			out = append(out, m.style.Faint.Render(screen.Cut(screen.CleanRaw(judged), width)))
		}
		if path := m.pathWithin(t, width); path != "" {
			out = append(out, path)
		}
	}
	out = append(out, m.tabLine(t, width))
	if height >= wholeHead {
		out = append(out, "")
	}
	return out
}

// titleLine is the task's name, its status, for how long it is in it, and its pull request.
func (m *Model) titleLine(t task.Task, width int) string {
	parts := []string{m.style.Bold.Render(screen.CleanRaw(nameOf(t))),
		m.style.Info.Render(screen.CleanRaw(string(t.Status))) +
			m.sinceText(t)}
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
	text := " for " + screen.Age(t.EnteredAt, m.now)
	if m.now.Sub(t.EnteredAt) < 5*time.Second {
		text = " since now"
	}
	look := &m.style.Faint
	if def := m.definition(t); def != nil {
		if limit := decide.Limit(def, m.limits[t.Project], t); limit > 0 {
			text += " of " + shortly(limit)
		}
	}
	if t.Live && t.Overdue >= task.LateAlert {
		look = &m.style.Bad
	}
	return look.Render(text)
}

// shortly is a length of time without the parts that are nothing: 1h30m.
func shortly(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// prText is the pull request with what its checks came to.
func (m *Model) prText(t task.Task) string {
	if t.PRURL == "" {
		return ""
	}
	text := "PR #" + screen.CleanRaw(t.PRURL[strings.LastIndexByte(t.PRURL, '/')+1:])
	if t.PRState != "" {
		text += " " + strings.ToLower(screen.CleanRaw(t.PRState))
	}
	switch checks := history.ChecksOf(m.detail.seen[tabKey(t.ID, tabHistory)].content.events, t.PRURL); checks {
	case record.ChecksPass:
		text += ", " + m.style.Good.Render("checks pass")
	case record.ChecksFail:
		text += ", " + m.style.Bad.Render("checks fail")
	case record.ChecksPending:
		text += ", " + m.style.Warn.Render("checks run")
	}
	return text
}

// alarmLines is what a person should know: the marks of the task and what it says for itself.
func (m *Model) alarmLines(t task.Task, width int) []string {
	const most = 3
	var lines []string
	add := func(one screen.Fragment) {
		lines = append(lines, screen.Flow([]screen.Fragment{one}, width, screen.IndentBy("", "  "))...)
	}
	if r, found := m.list.selectedRow(); found {
		def := m.definition(t)
		for _, one := range m.marks {
			if strings.Contains("◌✗$z◷?", one.sign) && one.holds(&r, def) {
				look, words := one.style(m.style), one.means
				if one.sign == "$" {
					words += ": " + r.limited()
				}
				add(screen.Text(&look, one.sign+" "+words))
			}
		}
	}
	if t.Attention != "" {
		add(screen.Text(&m.style.Bad, "! "+t.Attention))
	}
	return screen.Scroll{}.Draw(lines, width, most)
}

// tabLine names the tabs, and says how far one has read where there is more than fits.
func (m *Model) tabLine(t task.Task, width int) string {
	var names []string
	for k := range tabs {
		name := " " + k.String() + " "
		if k == m.detail.tab {
			name = m.style.Chosen.Render(name)
		} else {
			name = m.style.Faint.Render(name)
		}
		names = append(names, name)
	}
	line := strings.Join(names, "")
	key := tabKey(t.ID, m.detail.tab)
	lines := len(m.detail.seen[key].lines)
	if at, moved := m.detail.places[key]; moved && lines > 0 && at.Top > 0 {
		line += m.style.Faint.Render(fmt.Sprintf("  line %d of %d", at.Top+1, lines))
	}
	return screen.Cut(line, width)
}

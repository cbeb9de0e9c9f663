package dashboard

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// View draws the screen: a header of one line, the body, and a foot of the messages and the keys.
func (m *Model) View() tea.View {
	body, cursor := m.drawBody()
	foot := append(m.messageLines(), m.footerKeyLine())
	lines := make([]string, 0, m.height+len(foot))
	lines = append(lines, headerLine(m.style, m.width, m.tasks.Project, m.facts()))
	lines = append(lines, body...)
	for len(lines) < m.height-len(foot) {
		lines = append(lines, "")
	}
	lines = append(lines[:max(1, min(len(lines), m.height-len(foot)))], foot...)
	lines = lines[:min(len(lines), max(1, m.height))]
	for i, line := range lines {
		lines[i] = screen.Cut(line, m.width) // a line that is too long would push the others off the screen
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.WindowTitle = m.elsewhere.Title(m.tasks.Attention)
	if cursor != nil && cursor.X >= 0 && cursor.X < m.width && cursor.Y+headLines < m.height-len(foot) {
		v.Cursor = tea.NewCursor(cursor.X, cursor.Y+headLines)
	}
	return v
}

// headLines are the lines of the screen above the body: the numbers.
const headLines = 1

// body is the size of the body: it gives lines to messages that need them, while they are shown.
func (m *Model) body() screen.Size {
	return screen.Size{Width: m.width, Height: max(2, m.height-headLines-len(m.messageLines())-1-m.lent)}
}

// The least size of a screen where the detail fits at the side of the list, the least height where it fits below it,
// and the width from which a list has summaries.
const (
	splitWidth  = 120
	splitHeight = 20
	stackHeight = 16
	wideList    = 100
)

// leastPreview is how many lines the detail has below a list, where the list has half of the lines.
const leastPreview = 6

// split reports whether the detail is next to the list, at its side or below it.
func (m *Model) split() bool { return m.page == pageList && nextToList(m) }

// nextToList reports whether the detail is next to the list, also behind a form.
func nextToList(m *Model) bool {
	at := m.page
	if at == pageForm {
		at = m.back.top()
	}
	return at == pageList && m.wantSplit && m.height >= stackHeight && len(m.tasks.Shown) > 0
}

// stacked reports whether the detail is below the list: the screen is too small for it at the side.
func stacked(m *Model) bool { return nextToList(m) && (m.width < splitWidth || m.height < splitHeight) }

// detailVisible reports whether the screen shows the detail, also behind a form.
func (m *Model) detailVisible() bool {
	at := m.page
	if at == pageForm {
		at = m.back.top()
	}
	return at == pageDetail || nextToList(m)
}

// splitSizes are the sizes of the list and of the detail at its side or below it. Where the screen is not split, each
// has the whole body.
func (m *Model) splitSizes() (list, detail screen.Size) {
	list, detail = m.body(), m.body()
	switch {
	case !m.split():
	case stacked(m):
		list.Height = stackedHeight(m, detail)
		detail.Height -= list.Height
	default:
		list.Width = max(m.width*2/5, min(wideList, m.width-wideList))
		detail.Width = m.width - list.Width - screen.Width(splitGap)
	}
	return list, detail
}

// mostList is the greatest height of the list on this screen, whatever task is selected and whatever the foot says.
func mostList(m *Model) int {
	height := max(2, m.height-headLines-2)
	if stacked(m) {
		return max((height+1)/2, height-leastDetail(height))
	}
	return height
}

// leastDetail is how many lines the detail has below a list at least, in a body of so many.
func leastDetail(height int) int { return max(leastPreview, height/4) }

// stackedHeight is how many lines the list has above the detail: those that it needs, as long as the detail has a
// quarter of them and all of why its task needs the person, and of many tasks at least half. For a person who answers,
// the detail has all that its task asks.
func stackedHeight(m *Model, body screen.Size) int {
	least, preview, need := (body.Height+1)/2, leastDetail(body.Height), m.detail.NeedLines(body)
	if m.lent > 0 {
		least = 3 // its titles, and the selected task
		if need > 1 {
			preview = need // the list stays as it was, where it can
		}
	}
	height := m.list.Lines(max(least, body.Height-max(preview, need)))
	return min(height, max(1, body.Height-1))
}

// listSize is the size of the list, also behind a form and while another page is shown.
func listSize(m *Model) screen.Size {
	on := *m
	if on.page != pageForm || on.back.top() == pageList {
		on.page = pageList
	}
	list, _ := on.splitSizes()
	return list
}

const splitGap = " │ "

// drawBody draws the page, and has the position of the terminal's cursor in it; nil where there is none.
func (m *Model) drawBody() ([]string, *tea.Position) {
	switch {
	case m.page == pageForm && m.form != nil:
		under := *m
		under.page, under.form = m.back.top(), nil
		under.messages, under.jobs, under.failures = messages{}, jobs{}, &failures{style: m.style} // it has m's foot
		if answering(m) {
			under.lent = form.InPlace
		}
		behind, _ := under.drawBody()
		return m.form.View(behind, m.body())
	case stacked(m) && m.page == pageList:
		above, below := m.splitSizes()
		lines := m.list.View(above)
		for len(lines) < above.Height {
			lines = append(lines, "")
		}
		return append(lines[:above.Height], m.detail.View(below)...), nil
	case m.split():
		left, right := m.splitSizes()
		return splitLines(m.style, m.list.View(left), m.detail.View(right), left), nil
	}
	return m.view().View(m.body()), nil
}

// answering reports whether the person writes an answer below a line of what they look at.
func answering(m *Model) bool {
	p, is := m.form.(*form.TextPrompt)
	return is && m.page == pageForm && p.Under != nil
}

// splitLines has the lines of the list with those of the detail at its right.
func splitLines(style *screen.Style, left, right []string, leftSize screen.Size) []string {
	gap := strings.Replace(splitGap, "│", style.Faint.Render("│"), 1)
	var out []string
	for i := range max(len(left), leftSize.Height) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out = append(out, screen.Fit(l, leftSize.Width)+gap+r)
	}
	return out
}

// messageLines have what the person searches for, or the jobs, messages and failures. A form has its room for itself:
// there they have one line.
func (m *Model) messageLines() []string {
	if m.list.Searching || m.page == pageReview && m.review.Searching || m.page == pageHelp && m.help.searching {
		text := screen.Clean(m.tasks.Text)
		switch m.page {
		case pageReview:
			text = m.review.Searched()
		case pageHelp:
			text = m.help.text
		}
		if over := screen.Width(text) - max(1, m.width-8); over > 0 {
			text = ansi.TruncateLeft(text, over, "")
		}
		return []string{screen.Cut("find: "+text+m.style.Chosen.Render(" "), m.width)}
	}
	most := (m.height - headLines - 1) / 2
	if m.page == pageForm {
		most = 1
	}
	lines := messageLines(m.style, m.width, most, &m.jobs, m.messages, screen.Clean(m.failures.line()))
	if len(lines) == 1 && lines[0] == "" && m.tasks.Text != "" && !m.page.ofTask() {
		lines[0] = m.style.Faint.Render("holding " + fmt.Sprintf("%q", m.tasks.Text) + "; Esc shows all")
	}
	return lines
}

// fact is one thing that the header says.
type fact struct {
	text   string
	render func(...string) string
	weight int // where there is no room, the fact with the least weight is left out
}

// headerLine has the project and as many facts as fit.
func headerLine(style *screen.Style, width int, project string, facts []fact) string {
	scope := "all projects"
	if project != "" {
		scope = screen.Clean(project)
	}
	left := style.Title.Render("orange") + "  " + screen.Squeeze(scope, max(1, width/2-8))
	for {
		var parts []string
		for _, f := range facts {
			parts = append(parts, f.render(f.text))
		}
		right := strings.Join(parts, style.Faint.Render(" · "))
		if gap := width - screen.Width(left) - screen.Width(right); gap >= 2 || len(facts) == 0 {
			return left + strings.Repeat(" ", max(0, gap)) + right
		}
		facts = withoutLightest(facts)
	}
}

// withoutLightest leaves out the fact with the least weight.
func withoutLightest(facts []fact) []fact {
	least := 0
	for i, f := range facts {
		if f.weight < facts[least].weight {
			least = i
		}
	}
	return append(facts[:least:least], facts[least+1:]...)
}

// facts are what the header says about all tasks.
func (m *Model) facts() []fact {
	faint := m.style.Faint.Render
	if !m.tasks.Loaded {
		text := "reading…"
		if len(m.failures.all) > 0 {
			text = "nothing was read"
		}
		return []fact{{text, faint, 9}}
	}
	out := []fact{{fmt.Sprintf("%d of %d active", m.tasks.Live, m.tasks.All), faint, 7}}
	if m.tasks.All == 0 {
		out[0].text = "no tasks yet"
	}
	switch {
	case m.tasks.Attention == 1:
		out = append(out, fact{"1 needs you", m.style.Bad.Render, 9})
	case m.tasks.Attention > 1:
		out = append(out, fact{fmt.Sprintf("%d need you", m.tasks.Attention), m.style.Bad.Render, 9})
	}
	if m.workspaces.SharedChanged() > 0 {
		out = append(out, fact{"shared settings changed", m.style.Bad.Render, 8})
	}
	if n := len(m.tasks.Picked()); n > 0 {
		out = append(out, fact{fmt.Sprintf("%d marked", n), m.style.Warn.Render, 8})
	}
	if m.tasks.Filter != tasks.ShowAll {
		out = append(out, fact{"shown: " + m.tasks.Filter.String(), m.style.Warn.Render, 8})
	}
	if m.tasks.Order != tasks.ByAge {
		out = append(out, fact{"by " + m.tasks.Order.String(), faint, 3})
	}
	if used, size := m.workspaces.Use(m.tasks.Project); size > 0 && m.tasks.All > 0 {
		out = append(out, fact{fmt.Sprintf("%d of %d workspaces", used, size), faint, 5})
	}
	if m.unwatched {
		out = append(out, fact{"changes are seen late", m.style.Bad.Render, 8})
	}
	if m.watcher != "" {
		out = append(out, fact{screen.Clean(m.watcher), faint, 2})
	}
	return out
}

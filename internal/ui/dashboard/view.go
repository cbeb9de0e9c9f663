package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
)

// View draws the screen: a header of one line, the body, and a foot of the messages and the keys.
func (m *Model) View() tea.View {
	width, height := m.layout.width, m.layout.height
	body, cursor := m.drawBody()
	foot := append(m.foot.lines(width, height), m.footLine())
	lines := append([]string{m.header.line(width, len(m.foot.failures.all) > 0)}, body...)
	for len(lines) < height-len(foot) {
		lines = append(lines, "")
	}
	lines = append(lines[:max(1, min(len(lines), height-len(foot)))], foot...)
	lines = screen.Clip(lines, width, max(1, height)) // a line that is too long would push the others off the screen
	v := tea.NewView(strings.Join(lines, "\n"))
	v.WindowTitle = m.away.Title(m.tasks.Attention)
	if cursor != nil && cursor.X >= 0 && cursor.X < width && cursor.Y+headLines < height-len(foot) {
		v.Cursor = tea.NewCursor(cursor.X, cursor.Y+headLines)
	}
	return v
}

// footLine has the keys that work now.
func (m *Model) footLine() string {
	var typing []string
	if s := m.searcher(); s != nil && m.pages.form == nil {
		if _, is := s.Searched(); is {
			typing = s.SearchKeys()
		}
	}
	return m.keyboard.line(m.layout.width, typing)
}

// drawBody draws the page, and the form that is open on it, and has the position of the terminal's cursor in it; nil
// where there is none.
func (m *Model) drawBody() ([]string, *tea.Position) {
	if m.pages.page != pageForm || m.pages.form == nil {
		return m.drawPage(m.pages.page, 0), nil
	}
	lent := 0
	if m.pages.answering() {
		lent = form.InPlace
	}
	return m.pages.form.View(m.drawPage(m.pages.top(), lent), m.layout.body())
}

// drawPage draws a page, of which a form that is open on it has taken some lines.
func (m *Model) drawPage(on page, lent int) []string {
	if on != pageList || !m.layout.canSplit() {
		return m.view(on).View(m.layout.bodyWithout(lent))
	}
	list, detail := m.layout.sizes(on, lent)
	left, right := m.list.View(list), m.detail.View(detail)
	if !m.layout.small() {
		gap := strings.Replace(splitGap, "│", m.style.Faint.Render("│"), 1)
		return screen.SideBySide(left, right, list, gap)
	}
	for len(left) < list.Height {
		left = append(left, "")
	}
	return append(left[:list.Height], right...)
}

package dashboard

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
)

// View draws the screen: a header of one line, the body, and a footer of two lines.
func (m *Model) View() tea.View {
	v := tea.NewView(m.draw())
	if m.place == inForm && m.form != nil {
		v.Cursor = m.formCursor()
	}
	return v
}

// Lines of the screen that are not the body's.
const (
	headLines = 1 // the numbers
	footLines = 2 // what was said, the keys
)

// body is the size of the body.
func (m *Model) body() screen.Size {
	return screen.Size{Width: m.width, Height: max(2, m.height-headLines-footLines)}
}

// splitWidth is the width from which the detail fits next to the list.
const splitWidth = 120

// split reports whether the detail is next to the list.
func (m *Model) split() bool { return m.wantSplit && m.width >= splitWidth && m.place == inList }

// detailVisible reports whether the screen shows the detail.
func (m *Model) detailVisible() bool { return m.place == inDetail || m.split() }

// splitSizes are the sizes of the list and of the detail next to it.
func (m *Model) splitSizes() (left, right screen.Size) {
	left, right = m.body(), m.body()
	left.Width = m.width * 2 / 5
	right.Width = m.width - left.Width - 3
	return left, right
}

// listWidth is the width of the list.
func (m *Model) listWidth() int {
	if m.split() {
		left, _ := m.splitSizes()
		return left.Width
	}
	return m.width
}

// detailSize is the size of the detail.
func (m *Model) detailSize() screen.Size {
	if m.split() {
		_, right := m.splitSizes()
		return right
	}
	return m.body()
}

func (m *Model) draw() string {
	lines := make([]string, 0, m.height+footLines)
	lines = append(lines, m.header())
	lines = append(lines, m.drawBody()...)
	for len(lines) < m.height-footLines {
		lines = append(lines, "")
	}
	lines = append(lines[:max(1, min(len(lines), m.height-footLines))], m.footer()...)
	lines = lines[:min(len(lines), max(1, m.height))]
	for i, line := range lines {
		lines[i] = screen.Cut(line, m.width) // a line that is too long would push the others off the screen
	}
	return strings.Join(lines, "\n")
}

func (m *Model) drawBody() []string {
	size := m.body()
	switch m.place {
	case inBoard:
		return m.board.View(size)
	case inDetail:
		return m.detail.View(size)
	case inWorkspaces:
		return m.workspaces.View(size)
	case inHelp:
		return m.help.Draw(m.helpLines(), size.Width, size.Height)
	case inTrouble:
		return m.help.Draw(m.troubleLines(), size.Width, size.Height)
	case inForm:
		if m.form != nil {
			return m.form.draw(m, size.Width, size.Height)
		}
	}
	if !m.split() {
		return m.list.View(size)
	}
	return m.drawSplit()
}

// drawSplit draws the list with the detail at its right.
func (m *Model) drawSplit() []string {
	leftSize, rightSize := m.splitSizes()
	left, right := m.list.View(leftSize), m.detail.View(rightSize)
	var out []string
	for i := range max(len(left), leftSize.Height) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out = append(out, screen.Fit(l, leftSize.Width)+" "+m.style.Faint.Render("│")+" "+r)
	}
	return out
}

// fact is one thing that the header says.
type fact struct {
	text   string
	paint  func(...string) string
	weight int // the least weighty goes first where there is no room
}

// header says where the person is, how many tasks there are, and who watches.
func (m *Model) header() string {
	scope := "all projects"
	if m.tasks.Project != "" {
		scope = screen.Clean(m.tasks.Project)
	}
	left := m.style.Title.Render("orange") + "  " + screen.Squeeze(scope, max(1, m.width/2-8))
	facts := m.facts()
	for {
		var parts []string
		for _, f := range facts {
			parts = append(parts, f.paint(f.text))
		}
		right := strings.Join(parts, m.style.Faint.Render(" · "))
		if gap := m.width - screen.Width(left) - screen.Width(right); gap >= 2 || len(facts) == 0 {
			return left + strings.Repeat(" ", max(0, gap)) + right
		}
		facts = lighter(facts)
	}
}

// lighter leaves out the least weighty fact.
func lighter(facts []fact) []fact {
	least := 0
	for i, f := range facts {
		if f.weight < facts[least].weight {
			least = i
		}
	}
	return append(facts[:least:least], facts[least+1:]...)
}

func (m *Model) facts() []fact {
	faint := m.style.Faint.Render
	if !m.tasks.Loaded {
		text := "reading…"
		if len(m.trouble.told) > 0 {
			text = "nothing was read"
		}
		return []fact{{text, faint, 9}}
	}
	out := []fact{{fmt.Sprintf("%d live of %d", m.tasks.Live, m.tasks.All), faint, 7}}
	switch {
	case m.tasks.Attention == 1:
		out = append(out, fact{"1 needs you", m.style.Bad.Render, 9})
	case m.tasks.Attention > 1:
		out = append(out, fact{fmt.Sprintf("%d need you", m.tasks.Attention), m.style.Bad.Render, 9})
	}
	if m.tasks.Filter != tasks.ShowAll {
		out = append(out, fact{"shown: " + m.tasks.Filter.String(), m.style.Warn.Render, 8})
	}
	if m.tasks.Order != tasks.ByAge {
		out = append(out, fact{"by " + m.tasks.Order.String(), faint, 3})
	}
	if used, size := m.workspaces.Use(m.tasks.Project); size > 0 {
		out = append(out, fact{fmt.Sprintf("pool %d/%d", used, size), faint, 5})
	}
	if m.missesChanges {
		out = append(out, fact{"changes come late", m.style.Bad.Render, 8})
	}
	if m.watches != "" {
		out = append(out, fact{screen.Clean(m.watches), faint, 2})
	}
	return out
}

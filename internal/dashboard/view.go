package dashboard

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// View draws the screen: a head of two lines, the place that the person is in, and a foot of two.
func (m *Model) View() tea.View {
	v := tea.NewView(m.draw())
	if m.place == inForm && m.form != nil {
		v.Cursor = m.formCursor()
	}
	return v
}

// Lines of the screen that are not the body's.
const (
	headLines = 2 // a line of numbers, the names of columns
	footLines = 2 // what was said, the keys
)

func (m *Model) bodyHeight() int { return max(1, m.height-headLines-footLines) }

// listHeight is how many lines the list has.
func (m *Model) listHeight() int { return m.bodyHeight() }

// splitWidth is the width from which a task fits beside the list.
const splitWidth = 120

// split says whether the task is shown beside the list.
func (m *Model) split() bool { return m.detail.beside && m.width >= splitWidth && m.place == inList }

func (m *Model) draw() string {
	lines := make([]string, 0, m.height+footLines)
	lines = append(lines, m.header())
	lines = append(lines, m.body()...)
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

// body is the line of titles and what is below it.
func (m *Model) body() []string {
	height := m.bodyHeight() + 1
	switch m.place {
	case inBoard:
		return m.drawBoard(m.width, height)
	case inDetail:
		return m.drawDetail(m.width, height)
	case inWorkspaces:
		return m.drawWorkspaces(m.width, height)
	case inHelp:
		return m.help.Draw(m.helpLines(), m.width, height)
	case inTrouble:
		return m.help.Draw(m.troubleLines(), m.width, height)
	case inForm:
		if m.form != nil {
			return m.form.draw(m, m.width, height)
		}
	}
	if !m.split() {
		return m.drawList(m.width, height)
	}
	return m.beside(height)
}

// beside is the list with the selected task at its right.
func (m *Model) beside(height int) []string {
	left, rest := splitSides(m.width)
	right := m.drawDetail(rest, height)
	out := m.drawList(left, height)
	for i := range height {
		l, r := "", ""
		if i < len(out) {
			l = out[i]
		}
		if i < len(right) {
			r = right[i]
		}
		line := screen.Fit(l, left) + " " + m.style.Faint.Render("│") + " " + r
		if i < len(out) {
			out[i] = line
			continue
		}
		out = append(out, line)
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
	if m.list.project != "" {
		scope = screen.Clean(m.list.project)
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
	if !m.loaded {
		text := "reading…"
		if len(m.trouble.told) > 0 {
			text = "nothing was read"
		}
		return []fact{{text, faint, 9}}
	}
	out := []fact{{fmt.Sprintf("%d live of %d", m.list.live, m.list.all), faint, 7}}
	switch {
	case m.list.alarm == 1:
		out = append(out, fact{"1 needs you", m.style.Bad.Render, 9})
	case m.list.alarm > 1:
		out = append(out, fact{fmt.Sprintf("%d need you", m.list.alarm), m.style.Bad.Render, 9})
	}
	if m.list.filter != showAll {
		out = append(out, fact{"shown: " + m.list.filter.String(), m.style.Warn.Render, 8})
	}
	if m.list.order != byAge {
		out = append(out, fact{"by " + m.list.order.String(), faint, 3})
	}
	if used, size := m.workspaces.use(m.list.project); size > 0 {
		out = append(out, fact{fmt.Sprintf("pool %d/%d", used, size), faint, 5})
	}
	if m.deaf {
		out = append(out, fact{"changes come late", m.style.Bad.Render, 8})
	}
	if m.watches != "" {
		out = append(out, fact{screen.Clean(m.watches), faint, 2})
	}
	return out
}

// mark is a sign before a task.
type mark struct {
	sign  string
	means string
	style func(screen.Style) lipgloss.Style
	holds func(r *row, def *workflow.Definition) bool
}

// worked says whether an agent belongs to a status, as far as that is known.
func worked(def *workflow.Definition, status task.Status) bool {
	if def == nil {
		return true
	}
	state, _ := def.State(status)
	return state.Role != ""
}

// personsTurn says whether a task that was begun rests in a status until a person does something.
func personsTurn(def *workflow.Definition, status task.Status) bool {
	return status != def.Initial && def.WaitsForPerson(status)
}

// marks are all signs; the first that holds is shown.
func marks() []mark {
	return []mark{
		{"!", "a person should look: the task says why", func(s screen.Style) lipgloss.Style { return s.Bad },
			func(r *row, _ *workflow.Definition) bool { return r.task.Attention != "" }},
		{"◌", "it waits for a workspace", func(s screen.Style) lipgloss.Style { return s.Faint },
			func(r *row, _ *workflow.Definition) bool { return r.task.Queued() }},
		{"✗", "its agent is dead", func(s screen.Style) lipgloss.Style { return s.Bad },
			func(r *row, def *workflow.Definition) bool {
				return r.task.Live && r.agent.State == record.AgentDead && worked(def, r.task.Status)
			}},
		{"◆", "it is a person's turn: look at it, answer it, or move it on", func(s screen.Style) lipgloss.Style {
			return s.Info
		},
			func(r *row, def *workflow.Definition) bool {
				return def != nil && r.task.Live && personsTurn(def, r.task.Status)
			}},
		{"$", "its agent has used up what its provider lets it have for now", func(s screen.Style) lipgloss.Style {
			return s.Warn
		},
			func(r *row, _ *workflow.Definition) bool { return r.limited() != "" }},
		{"z", "its agent lives and has done nothing for long", func(s screen.Style) lipgloss.Style { return s.Warn },
			func(r *row, _ *workflow.Definition) bool {
				return !r.task.StalledAt.IsZero() && r.agent.State == record.AgentAlive
			}},
		{"◷", "it has been in its status for longer than it should",
			func(s screen.Style) lipgloss.Style { return s.Warn },
			func(r *row, _ *workflow.Definition) bool { return r.task.Live && r.task.Overdue >= task.LateAlert }},
		{"●", "its agent is at work", func(s screen.Style) lipgloss.Style { return s.Good },
			func(r *row, _ *workflow.Definition) bool { return r.agent.State == record.AgentAlive }},
		{"?", "its agent could not be looked at", func(s screen.Style) lipgloss.Style { return s.Warn },
			func(r *row, _ *workflow.Definition) bool { return r.agent.State == record.AgentUnknown }},
		{"✓", "it is over", func(s screen.Style) lipgloss.Style { return s.Faint },
			func(r *row, _ *workflow.Definition) bool { return !r.task.Live }},
	}
}

package detail

import (
	"orange/internal/dashboard/screen"
	"orange/internal/history"
	"orange/internal/task"
)

// changesAlone reports whether the tab shows what changes without a change of the task.
func (t Tab) changesAlone() bool { return t == Terminal || t == Document }

// fits reports whether the tab is the one that fits the task's state, and not one that the person chose.
func (m *Model) fits() bool { return !m.Chosen && m.NextToList() }

// Shown is the tab that the view shows: the one that the person chose, or, next to a list, what fits the state of the
// task. That is the terminal of an agent that works, the last words of one that died, else the plan in TASK.md.
func (m *Model) Shown() Tab {
	if !m.fits() {
		return m.Tab
	}
	r, found := m.tasks.SelectedRow()
	switch {
	case !found || !r.Task.Live:
		return Document
	case m.tasks.AgentWorks(&r), m.lastWords(*r.Task) != "":
		return Terminal
	}
	return Document
}

// lastWords are the last lines of the agent that died last, where no other one was started.
func (m *Model) lastWords(t task.Task) string { return history.LastWords(m.Events(t.ID)) }

// textOf has the lines of the shown tab. In the place of a terminal that is gone they are the last words of its agent.
func (m *Model) textOf(t task.Task, one content) []string {
	words := ""
	if m.Shown() == Terminal && len(one.source.panes) == 0 && one.source.err == nil {
		words = m.lastWords(t)
	}
	if words == "" {
		return one.lines
	}
	out := []string{m.style.Header.Render("last words") + "  " + m.style.Bad.Render("✗ dead")}
	return append(out, screen.CleanRawLines(words)...)
}

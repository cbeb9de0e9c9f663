package dashboard

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/elsewhere"
	"orange/internal/ui/dashboard/tasks"
)

// attend tells a person who looks elsewhere of tasks that came to need them, and keeps how they left the screen.
func attend(m *Model, msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case elsewhere.Read:
		m.elsewhere.Signals = msg.Signals
		restore(m, msg.View)
		m.elsewhere.Kept(viewWords(m))
		if msg.Err != nil {
			m.failures.add("read how you left the dashboard", msg.Err)
		}
		return m.lookUp()
	case ticked, tasks.AgentsChecked:
		if text := m.elsewhere.News(m.tasks.Rows, m.tasks.Project, m.tasks.Now); text != "" {
			cmds = append(cmds, m.elsewhere.Tell(text))
		}
	case tea.KeyPressMsg, tea.MouseClickMsg:
		if m.page == pageList || m.page == pageBoard {
			cmds = append(cmds, keepView(m))
		}
	}
	return tea.Batch(cmds...)
}

// keepView keeps how the person left the screen, where that changed.
func keepView(m *Model) tea.Cmd {
	return m.elsewhere.Keep(m.backend.Inspector, m.tasks.Project, viewWords(m),
		func(err error) tea.Msg { return failed{"keep how you left the dashboard", err} })
}

// viewWords are the view, the filter and the order of the screen.
func viewWords(m *Model) string {
	view := "list"
	if m.page == pageBoard {
		view = "board"
	}
	return strings.Join([]string{view, m.tasks.Filter.String(), m.tasks.Order.String()}, " ")
}

// restore shows the tasks as some words say, unless the person did something already. Words that are unknown change
// nothing.
func restore(m *Model, words string) {
	parts := strings.Fields(words)
	if len(parts) != 3 || m.tasks.Touched || m.page != pageList {
		return
	}
	for f := range tasks.Filters {
		if f.String() == parts[1] {
			m.tasks.Filter = f
		}
	}
	for o := range tasks.Orders {
		if o.String() == parts[2] {
			m.tasks.Order = o
		}
	}
	m.tasks.ChooseAgain()
	m.list.KeepVisible(m.body())
	if slices.Contains(parts[:1], "board") {
		m.page = pageBoard
		m.board.Open(m.body())
	}
}

package dashboard

import tea "charm.land/bubbletea/v2"

// wheelLines is how far one notch of the wheel scrolls.
const wheelLines = 3

// wheel scrolls what is under the mouse. In the list the selected task stays selected while it is visible.
func (m *Model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	n := wheelLines
	m.tasks.Touched = true
	switch msg.Button {
	case tea.MouseWheelUp:
		n = -n
	case tea.MouseWheelDown:
	case tea.MouseWheelLeft, tea.MouseWheelRight:
		switch {
		case m.page != pageBoard:
			return nil
		case msg.Button == tea.MouseWheelLeft:
			return m.moveColumn(-1)
		}
		return m.moveColumn(1)
	default:
		return nil
	}
	left, right := m.splitSizes()
	switch {
	case m.page == pageForm:
		return nil
	case m.page != pageList:
		return m.move(n)
	case m.split() && (stacked(m) && msg.Y >= headLines+left.Height || msg.X >= left.Width):
		m.detail.Move(n, right)
		return nil
	}
	before := m.tasks.Cursor
	m.list.Scroll(n, left)
	if m.tasks.Cursor == before {
		return m.lookUp()
	}
	return m.selectionChanged()
}

// click selects what is under the mouse, or opens it where it is selected already. It presses a key of the footer.
// No click on a task changes the task: Enter may start an agent, which a slip of the hand should not.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.page == pageForm {
		return nil
	}
	m.tasks.Touched = true
	left, _ := m.splitSizes()
	switch line := msg.Y - headLines; {
	case msg.Y == m.height-1:
		if name, found := m.keys.footerAt(m, msg.X); found && !m.list.Searching {
			return m.do(name)
		}
	case msg.Y >= m.height-1-len(m.messageLines()):
		if m.failures.line() != "" {
			return m.do("!")
		}
	case m.page == pageList && msg.X < left.Width:
		if at, found := m.list.TaskAt(line, left); found {
			return m.clickTask(at)
		}
	case m.page == pageBoard:
		if at, found := m.board.TaskAt(msg.X, line, m.body()); found {
			return m.clickTask(at)
		}
	case m.page == pageWorkspaces:
		if m.workspaces.Click(line, m.body()) {
			return m.do("enter")
		}
	}
	return nil
}

// clickTask selects one of the shown tasks, or shows it where it is selected already.
func (m *Model) clickTask(at int) tea.Cmd {
	m.messages.clear()
	m.failures.passed = true
	m.pending, m.list.Searching = pendingKey{}, false
	switch {
	case at == m.tasks.Cursor:
		return lookClosely(m)
	case m.page == pageBoard:
		m.board.Select(at, m.body())
	default:
		m.list.Select(at, listSize(m))
	}
	return m.selectionChanged()
}

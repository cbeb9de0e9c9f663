package dashboard

import tea "charm.land/bubbletea/v2"

// wheelLines is how far one notch of the wheel scrolls.
const wheelLines = 3

// wheel scrolls what is under the mouse. In the list the selected task stays selected while it is visible.
func (m *Model) wheel(msg tea.MouseWheelMsg) {
	m.tasks.Touched = true
	n, across := 0, 0
	switch msg.Button {
	case tea.MouseWheelUp:
		n = -wheelLines
	case tea.MouseWheelDown:
		n = wheelLines
	case tea.MouseWheelLeft:
		across = -1
	case tea.MouseWheelRight:
		across = 1
	}
	list, detail := m.layout.sizes(m.pages.page, 0)
	switch {
	case m.pages.page == pageForm:
	case across != 0 && m.pages.page == pageBoard:
		m.board.MoveColumn(across, m.layout.body())
	case n == 0:
	case m.pages.page != pageList:
		m.move(n)
	case m.layout.split() && (m.layout.small() && msg.Y >= headLines+list.Height || msg.X >= list.Width):
		m.detail.Move(n, detail)
	default:
		m.list.Scroll(n, list)
	}
}

// click selects what is under the mouse, or opens it where it is selected already. It presses a key of the footer.
// No click on a task changes the task: Enter may start an agent, which a slip of the hand should not.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.pages.page == pageForm {
		return nil
	}
	m.tasks.Touched = true
	list, _ := m.layout.sizes(m.pages.page, 0)
	switch line, foot := msg.Y-headLines, m.layout.height-1; {
	case msg.Y == foot:
		if name, found := m.keyboard.footerAt(msg.X, m.layout.width); found && !m.list.Searching {
			return m.keyboard.do(name)
		}
	case msg.Y >= foot-m.layout.foot():
		if m.foot.failures.line() != "" {
			return m.keyboard.do("!")
		}
	case m.pages.page == pageList && msg.X < list.Width:
		if at, found := m.list.TaskAt(line, list); found {
			m.clickTask(at)
		}
	case m.pages.page == pageBoard:
		if at, found := m.board.TaskAt(msg.X, line, m.layout.body()); found {
			m.clickTask(at)
		}
	case m.pages.page == pageWorkspaces:
		if m.workspaces.Click(line, m.layout.body()) {
			return m.keyboard.do("enter")
		}
	}
	return nil
}

// clickTask selects one of the shown tasks, or shows it where it is selected already.
func (m *Model) clickTask(at int) {
	m.foot.clear()
	m.foot.failures.passed = true
	m.keyboard.pending, m.list.Searching = pendingKey{}, false
	switch {
	case at == m.tasks.Cursor:
		m.lookClosely()
	case m.pages.page == pageBoard:
		m.board.Select(at, m.layout.body())
	default:
		m.list.Select(at, m.layout.listSize())
	}
}

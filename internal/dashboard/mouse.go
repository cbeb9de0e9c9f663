package dashboard

import tea "charm.land/bubbletea/v2"

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// wheel scrolls what is under the mouse. In the list the selected task stays, for as long as it is in sight.
func (m *Model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	n := wheelLines
	switch msg.Button {
	case tea.MouseWheelUp:
		n = -n
	case tea.MouseWheelDown:
	case tea.MouseWheelLeft, tea.MouseWheelRight:
		return m.wheelAside(msg.Button)
	default:
		return nil
	}
	switch {
	case m.place == inForm:
		return nil
	case m.place != inList:
		return m.step(n)
	case m.split() && msg.X >= m.listWidth():
		m.detail.Move(n, m.detailSize())
		return nil
	}
	was := m.tasks.Cursor
	m.list.Scroll(n, m.body())
	if m.tasks.Cursor == was {
		return m.lookUp()
	}
	return m.afterMove()
}

// wheelAside goes from column to column of the board.
func (m *Model) wheelAside(button tea.MouseButton) tea.Cmd {
	if m.place != inBoard {
		return nil
	}
	if button == tea.MouseWheelLeft {
		m.board.MoveColumn(-1, m.body())
		return m.afterMove()
	}
	m.board.MoveColumn(1, m.body())
	return m.afterMove()
}

// click selects what is under the mouse; what is selected already is opened. A key at the foot is pressed.
// Nothing that changes a task follows from a click on it: Enter may start an agent, and a slip of the hand should not.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.place == inForm {
		return nil
	}
	switch line := msg.Y - 1; { // below the header
	case msg.Y == m.height-1:
		return m.clickKey(msg.X)
	case msg.Y == m.height-footLines:
		if len(m.trouble.told) > 0 {
			return m.do("!")
		}
	case m.place == inList && msg.X < m.listWidth():
		if at, found := m.list.TaskAt(line, m.body()); found {
			return m.clickTask(at)
		}
	case m.place == inBoard:
		if at, found := m.board.TaskAt(msg.X, line, m.body()); found {
			return m.clickTask(at)
		}
	case m.place == inWorkspaces:
		if m.workspaces.Click(line, m.body()) {
			return m.do("enter")
		}
	}
	return nil
}

// clickTask selects one of the shown tasks, or looks at it closely.
func (m *Model) clickTask(at int) tea.Cmd {
	m.said, m.told, m.waits, m.list.Searching = "", "", waiting{}, false
	if at == m.tasks.Cursor {
		return m.showTab(m.detail.Tab)
	}
	if m.place == inBoard {
		m.board.Select(at, m.body())
	} else {
		m.list.Select(at, m.body())
	}
	return m.afterMove()
}

// clickKey presses the key at the foot that is under the mouse.
func (m *Model) clickKey(x int) tea.Cmd {
	if m.list.Searching {
		return nil
	}
	for _, k := range m.footKeys() {
		if x >= k.from && x < k.to {
			return m.do(k.key)
		}
	}
	return nil
}

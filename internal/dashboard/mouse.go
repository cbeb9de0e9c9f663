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
	case m.split() && msg.X >= listBeside(m.width):
		m.scrollDetail(n)
		return nil
	}
	was := m.list.cursor
	m.list.scroll(n, m.listHeight())
	if m.list.cursor == was {
		return m.wantSeen()
	}
	return m.afterMove()
}

// wheelAside goes from column to column of the board.
func (m *Model) wheelAside(button tea.MouseButton) tea.Cmd {
	if m.place != inBoard {
		return nil
	}
	if button == tea.MouseWheelLeft {
		m.boardColumn(-1)
		return m.afterMove()
	}
	m.boardColumn(1)
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
	case m.place == inList && (!m.split() || msg.X < listBeside(m.width)):
		if at, found := m.list.rowAt(line, m.listHeight()+1); found {
			return m.clickTask(at)
		}
	case m.place == inBoard:
		if at, found := m.cardAt(msg.X, line); found {
			return m.clickTask(at)
		}
	case m.place == inWorkspaces:
		return m.clickWorkspace(line)
	}
	return nil
}

// clickTask selects one of the shown tasks, or looks at it closely.
func (m *Model) clickTask(at int) tea.Cmd {
	m.said, m.told, m.waits, m.list.typing = "", "", waiting{}, false
	if at == m.list.cursor {
		return m.showTab(m.detail.tab)
	}
	if m.place == inBoard {
		m.list.cursor = at
		m.keepCardInSight()
		return m.afterMove()
	}
	m.list.move(at, m.listHeight())
	return m.afterMove()
}

func (m *Model) clickWorkspace(line int) tea.Cmd {
	w := m.workspaces
	at := w.top + line - 1
	if _, _, _, _, path := workspaceColumns(m.width); path == 0 && at > w.cursor {
		at-- // the selected one has two lines
	}
	switch {
	case line < 1 || at >= len(w.all):
		return nil
	case at == w.cursor:
		return m.do("enter")
	}
	m.workspaceStep(at - w.cursor)
	return nil
}

// clickKey presses the key at the foot that is under the mouse.
func (m *Model) clickKey(x int) tea.Cmd {
	if m.list.typing {
		return nil
	}
	for _, k := range m.footKeys() {
		if x >= k.from && x < k.to {
			return m.do(k.key)
		}
	}
	return nil
}

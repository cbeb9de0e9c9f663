package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/command"
)

// tellPullRequest says that a pull request is there where the foot says that it is being opened.
func tellPullRequest(m *Model) {
	for i := range m.tasks.Rows {
		if t := *m.tasks.Rows[i].Task; t.PRURL != "" && m.messages.answer == command.PRUnderWay(t) {
			m.messages.answer = command.PRThere(t)
		}
	}
}

// browsed tells what became of an address that was to be opened.
type browsed struct {
	address string
	opened  bool
	err     error
}

// openPullRequest opens the pull request of the selected task where the person has a browser.
func openPullRequest(m *Model) tea.Cmd {
	address, browser := m.target().Task.PRURL, m.backend.Terminal
	return func() tea.Msg {
		opened, err := browser.Browse(m.ctx, address)
		return browsed{address, opened, err}
	}
}

// toldOf says where the pull request is: one who has no browser here can open it elsewhere.
func (b browsed) toldOf(m *Model) {
	switch {
	case b.err != nil:
		m.failures.answer("open "+b.address, b.err)
	case b.opened:
		m.messages.answer = "opened " + b.address
	default:
		m.messages.answer = "there is no browser here: " + b.address + " (" + m.style.Keys.Of("copy-address") +
			" copies it)"
	}
}

func copyAddress(m *Model) tea.Cmd {
	address := m.target().Task.PRURL
	m.messages.answer = "copied " + address
	return tea.SetClipboard(address)
}

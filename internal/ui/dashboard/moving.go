package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/screen"
)

// view is a part that can fill the body of the screen.
type view interface {
	// Move moves the cursor of the view, or scrolls it, by n lines.
	Move(n int, size screen.Size)
	// View draws the view.
	View(size screen.Size) []string
}

// view is the view of a page.
func (m *Model) view(of page) view {
	switch of {
	case pageBoard:
		return m.board
	case pageDetail:
		return m.detail
	case pageWorkspaces:
		return m.workspaces
	case pageHelp:
		return m.help
	case pageFailures:
		return m.foot.failures
	case pageReview:
		return m.review
	}
	return m.list
}

// searcher is a part in which the person searches for a text.
type searcher interface {
	// Search takes a key or a paste while the person types, and reports whether what they search for is there.
	Search(msg tea.Msg, size screen.Size) (found bool)
	Searched() (text string, typing bool)
	// SearchKeys are the keys of the search, each followed by what it does.
	SearchKeys() []string
}

// searcher is the part in which the person can search on this page; nil where there is none.
func (m *Model) searcher() searcher {
	switch {
	case m.pages.page.ofAll():
		return m.list
	case m.pages.page == pageHelp:
		return m.help
	case m.pages.page == pageReview:
		return m.review
	}
	return nil
}

// searched is what the person searches for on this page, and whether they still type it.
func (m *Model) searched() (text string, typing bool) {
	if s := m.searcher(); s != nil {
		return s.Searched()
	}
	return "", false
}

// search gives a key or a paste to the search of the page, and reports whether the person types one.
func (m *Model) search(msg tea.Msg) (typing bool) {
	if _, typing = m.searched(); typing {
		m.foot.clear()
		m.keyboard.warned = false
		size := m.layout.body()
		if m.pages.page.ofAll() {
			size = m.layout.listSize()
		}
		if !m.searcher().Search(msg, size) {
			m.foot.answer = "nothing in the changes has that text"
		}
	}
	return typing
}

// press does what a key says. Where the person types a text, keys are letters.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	m.keyboard.pending = pendingKey{} // any key replaces it
	switch {
	case name == "ctrl+c":
		return m.quit()
	case name == "alt+esc": // two quick Escapes, which the terminal reports as one key
		once := tea.KeyPressMsg{Code: tea.KeyEscape}
		first := m.press(once)
		return tea.Batch(first, m.press(once))
	case m.pages.page == pageForm && m.pages.form != nil:
		m.foot.clear()
		m.keyboard.warned = false
		return m.asks.update(msg)
	case m.search(msg):
		return nil
	}
	return m.keyboard.do(name)
}

// quit ends the dashboard, where that loses nothing.
func (m *Model) quit() tea.Cmd {
	if !m.keyboard.mayQuit() {
		return nil
	}
	if m.pages.page.ofAll() {
		if cmd := m.away.keep(); cmd != nil { // the last key may not have been kept yet
			return tea.Sequence(cmd, tea.Quit)
		}
	}
	return tea.Quit
}

// move moves the cursor of the view, or scrolls it, by n lines.
func (m *Model) move(n int) {
	size := m.layout.body()
	if m.pages.page == pageList {
		size = m.layout.listSize()
	}
	m.view(m.pages.page).Move(n, size)
}

// screenful is how many lines a key for a page goes on: fewer than are visible, so that none is passed unseen.
func (m *Model) screenful() int {
	size := m.layout.body()
	visible := size.Height - 2 // below the head of a list
	switch m.pages.page {
	case pageList:
		visible = m.layout.listSize().Height - 2
	case pageDetail:
		visible = m.detail.Room(size)
	case pageReview:
		visible = m.review.Room(size)
	}
	return max(1, visible-1)
}

func (m *Model) noDetail() string {
	if !m.layout.detailVisible() {
		return "no task is shown next to the list; " + m.style.Keys.Of("split") + " shows it"
	}
	return m.asks.target().NoTask()
}

// showTab shows a tab of the selected task: at the side of the list where it is there, else alone, as there is little
// room below a list.
func (m *Model) showTab(tab detail.Tab) {
	m.detail.Tab = tab
	if m.layout.atSide() {
		m.detail.Chosen = true
	} else {
		m.pages.visit(pageDetail)
	}
}

// lookClosely shows the selected task alone, with what is shown of it next to the list.
func (m *Model) lookClosely() {
	m.detail.Tab = m.detail.Shown()
	m.pages.visit(pageDetail)
}

// goRight shows the selected task; on the board it goes to the next column.
func (m *Model) goRight() {
	switch why := m.asks.target().NoTask(); {
	case m.pages.page == pageBoard:
		m.board.MoveColumn(1, m.layout.body())
	case why != "":
		m.foot.answer = why
	default:
		m.lookClosely()
	}
}

// goLeft goes back to the list; on the board it goes to the previous column.
func (m *Model) goLeft() {
	switch m.pages.page {
	case pageBoard:
		m.board.MoveColumn(-1, m.layout.body())
	case pageDetail:
		m.pages.leave()
	}
}

// goBack leaves a page, the text that tasks must contain, or the board.
func (m *Model) goBack() {
	switch m.pages.page {
	case pageList, pageBoard:
		if !m.choice.less() {
			m.pages.page = pageList
		}
		return
	case pageHelp:
		if m.help.search.Text != "" {
			m.help.search.Text = ""
			return
		}
	case pageReview:
		m.reviewKeys.back()
		return
	case pageFailures:
		m.foot.failures.all = nil // they were read
	}
	m.pages.leave()
}

// refresh looks up everything again.
func (m *Model) refresh() tea.Cmd {
	m.tasks.Forget()
	m.foot.answer = "looked again"
	if m.layout.detailVisible() {
		m.detail.Refresh()
	}
	m.review.Refresh()
	return tea.Batch(m.tasks.Reload(), m.workspaces.Load())
}

// toggleSplit shows the detail next to the list, or no longer.
func (m *Model) toggleSplit() {
	if m.pages.page == pageDetail {
		m.pages.showList()
		m.layout.wantSplit, m.detail.Chosen = true, true // what was shown goes on next to the list
	} else {
		m.layout.wantSplit = !m.layout.split()
	}
	if m.layout.wantSplit && !m.layout.split() {
		m.foot.answer = "too small for both; " + m.style.Keys.Of("right") + " shows the task"
	}
}

// toggleBoard shows the board, or the list again.
func (m *Model) toggleBoard() {
	if m.pages.page == pageBoard {
		m.pages.page = pageList
		return
	}
	m.pages.page = pageBoard
	m.board.Open(m.layout.body())
}

package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/screen"
)

// page is what the body of the screen shows.
type page int

const (
	pageList page = iota
	pageBoard
	pageDetail
	pageWorkspaces
	pageHelp
	pageForm
	pageFailures
	pageReview
)

func (p page) String() string {
	return [...]string{"the list", "the board", "a task", "the workspaces", "the help", "a form", "what went wrong",
		"the review"}[p]
}

// ofTask reports whether the page is about one task.
func (p page) ofTask() bool { return p == pageDetail || p == pageReview }

// view is a part that can fill the body of the screen.
type view interface {
	// Move moves the cursor of the view, or scrolls it, by n lines.
	Move(n int, size screen.Size)
	// View draws the view.
	View(size screen.Size) []string
}

// view is the view of the present page. Behind a form it is the one that the form is about.
func (m *Model) view() view {
	switch m.page {
	case pageBoard:
		return m.board
	case pageDetail:
		return m.detail
	case pageWorkspaces:
		return m.workspaces
	case pageHelp:
		return m.help
	case pageFailures:
		return m.failures
	case pageReview:
		return m.review
	}
	return m.list
}

// pageStack has the pages that Escape leads to, the next one last.
type pageStack []page

// top is the page that Escape leads to.
func (s pageStack) top() page {
	if len(s) == 0 {
		return pageList
	}
	return s[len(s)-1]
}

// visit goes to a page from which Escape leads back to this one.
func (m *Model) visit(to page) {
	if m.page != to {
		m.back = append(m.back, m.page)
	}
	m.page = to
	if t, found := m.tasks.Selected(); found && to.ofTask() {
		m.tasks.Pinned = t.ID
	}
}

// leavePage goes back to the previous page.
func (m *Model) leavePage() {
	m.page = m.back.top()
	m.back = m.back[:max(0, len(m.back)-1)]
	m.form = nil
	m.unpin()
}

// showList shows the list, from which Escape leads nowhere.
func (m *Model) showList() {
	m.page, m.back = pageList, nil
	m.unpin()
}

// unpin lets the filters hide the task that the detail showed, unless the person still looks at it or comes back to it.
func (m *Model) unpin() {
	if m.tasks.Pinned != "" && !m.page.ofTask() && !slices.ContainsFunc(m.back, page.ofTask) {
		m.tasks.Pinned = ""
		m.tasks.ChooseAgain()
	}
	m.list.KeepVisible(listSize(m))
}

// leaveDeleted leaves the detail of a task that is gone: it would show the next task of the list. A form that is open
// stays, because of what the person wrote in it.
func (m *Model) leaveDeleted() {
	if m.tasks.Pinned == "" || m.tasks.Has(m.tasks.Pinned) {
		return
	}
	if m.messages.answer == "" {
		m.messages.answer = "the task that you looked at is gone: it was deleted"
	}
	m.tasks.Pinned = ""
	if m.page.ofTask() {
		m.page, m.back = pageList, nil
	}
	if at := slices.IndexFunc(m.back, page.ofTask); at >= 0 {
		m.back = append(m.back[:at], pageList)
	}
}

// move moves the cursor of the view, or scrolls it, by n lines.
func (m *Model) move(n int) tea.Cmd {
	size := m.body()
	if m.page == pageList {
		size = listSize(m)
	}
	m.view().Move(n, size)
	if m.page == pageList || m.page == pageBoard {
		return m.selectionChanged()
	}
	return nil
}

// screenful is how many lines a key for a page goes on: fewer than are visible, so that none is passed unseen.
func (m *Model) screenful() int {
	size := m.body()
	visible := size.Height - 2 // below the head of a list
	switch m.page {
	case pageList:
		visible = listSize(m).Height - 2
	case pageDetail:
		visible = m.detail.Room(size)
	case pageReview:
		visible = m.review.Room(size)
	}
	return max(1, visible-1)
}

// moveColumn moves the cursor of the board by a column.
func (m *Model) moveColumn(n int) tea.Cmd {
	m.board.MoveColumn(n, m.body())
	return m.selectionChanged()
}

// selectionChanged looks up what the screen shows of the task that is selected now.
func (m *Model) selectionChanged() tea.Cmd {
	m.pending = pendingKey{}
	if m.split() {
		m.detail.Refresh()
	}
	return m.lookUp()
}

// filterChanged shows the tasks that a changed filter, order or project leaves, and says so.
func (m *Model) filterChanged(answer string) tea.Cmd {
	m.tasks.ChooseAgain()
	m.list.KeepVisible(listSize(m))
	m.messages.answer = answer
	return m.lookUp()
}

// showTab shows a tab of the selected task: at the side of the list where it is there, else alone, as there is little
// room below a list.
func (m *Model) showTab(tab detail.Tab) tea.Cmd {
	m.detail.Tab = tab
	if atSide(m) {
		m.detail.Chosen = true
	} else {
		m.visit(pageDetail)
	}
	m.detail.Refresh()
	return nil
}

// showFitting shows next to the list what fits the state of the selected task.
func showFitting(m *Model) tea.Cmd {
	m.detail.Chosen = false
	m.detail.Refresh()
	return nil
}

// lookClosely shows the selected task alone, with what is shown of it next to the list.
func lookClosely(m *Model) tea.Cmd {
	m.detail.Tab = m.detail.Shown()
	m.visit(pageDetail)
	m.detail.Refresh()
	return nil
}

// goRight shows the selected task; on the board it goes to the next column.
func (m *Model) goRight() tea.Cmd {
	if m.page == pageBoard {
		return m.moveColumn(1)
	}
	if why := m.target().NoTask(); why != "" {
		m.messages.answer = why
		return nil
	}
	return lookClosely(m)
}

// goLeft goes back to the list; on the board it goes to the previous column.
func (m *Model) goLeft() tea.Cmd {
	switch m.page {
	case pageBoard:
		return m.moveColumn(-1)
	case pageDetail:
		m.leavePage()
	}
	return nil
}

// goBack leaves a page, the text that tasks must contain, or the board.
func (m *Model) goBack() tea.Cmd {
	switch m.page {
	case pageList, pageBoard:
		if m.tasks.Text != "" {
			m.tasks.Text = ""
			return m.filterChanged("")
		}
		if len(m.tasks.Picked()) > 0 {
			m.tasks.PickNone()
			m.messages.answer = "no task is marked any more"
			return nil
		}
		m.page = pageList
	case pageHelp:
		if m.help.text != "" {
			m.help.text = ""
			return nil
		}
		m.leavePage()
	case pageReview:
		leaveReview(m)
	case pageFailures:
		m.failures.all = nil // they were read
		m.leavePage()
	default:
		m.leavePage()
	}
	return nil
}

// refresh looks up everything again.
func (m *Model) refresh() tea.Cmd {
	m.tasks.Forget()
	m.messages.answer = "looked again"
	if m.detailVisible() {
		m.detail.Refresh()
	}
	m.review.Refresh()
	return tea.Batch(m.tasks.Reload(), m.workspaces.Load())
}

// toggleSplit shows the detail next to the list, or no longer.
func (m *Model) toggleSplit() tea.Cmd {
	if m.page == pageDetail {
		m.showList()
		m.wantSplit, m.detail.Chosen = true, true // what was shown goes on next to the list
	} else {
		m.wantSplit = !m.split()
	}
	if m.wantSplit && !m.split() {
		m.messages.answer = "too small for both; " + m.style.Keys.Of("right") + " shows the task"
		return nil
	}
	if m.detailVisible() {
		m.detail.Refresh()
	}
	return nil
}

// toggleBoard shows the board, or the list again.
func (m *Model) toggleBoard() tea.Cmd {
	if m.page == pageBoard {
		m.page = pageList
		m.list.KeepVisible(listSize(m))
	} else {
		m.page = pageBoard
		m.board.Open(m.body())
	}
	return m.lookUp()
}

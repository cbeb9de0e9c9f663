package dashboard

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/detail"
)

// table is the table of all keys. A move that the task's workflow does not have is closed, with the reason.
func (m *Model) table() keymap {
	return keymap{}.add(groupMove, m.movingKeys()).add(groupTask, m.asks.keys()).add(groupView, m.viewKeys()).
		add(groupReview, m.reviewKeys.keys()).add(groupElse, m.otherKeys())
}

func (m *Model) movingKeys() []key {
	up := func(n int) func() tea.Cmd { return only(func() { m.move(n) }) }
	screenful := func(n int) func() tea.Cmd { return only(func() { m.move(n * m.screenful()) }) }
	half := func(n int) func() tea.Cmd {
		return only(func() {
			size := m.layout.detailSize()
			m.detail.Move(n*max(1, min((size.Height-1)/2, m.detail.Room(size))), size)
		})
	}
	everywhere := append([]page{pageList, pageBoard, pageWorkspaces}, scrollingPages()...)
	reads := m.pages.on(pageHelp, pageFailures)
	return []key{
		{action: "down", names: []string{"j", "down"}, does: "one down", footer: "down",
			label: either(reads, "down", ""), pages: everywhere, press: up(1)},
		{action: "up", names: []string{"k", "up"}, does: "one up", footer: "up", label: either(reads, "up", ""),
			pages: everywhere, press: up(-1)},
		{action: "page-down", names: []string{"pgdown", "ctrl+f", "ctrl+d"}, does: "one page down", pages: everywhere,
			press: screenful(1)},
		{action: "page-up", names: []string{"pgup", "ctrl+b", "ctrl+u"}, does: "one page up", pages: everywhere,
			press: screenful(-1)},
		{action: "task-down", names: []string{"J"}, does: "half a page down in the task, also in the list",
			footer: "down in the task", label: either(m.layout.atSide, "down in the task", ""),
			pages: []page{pageList, pageDetail}, closed: m.noDetail, press: half(1)},
		{action: "task-up", names: []string{"K"}, does: "half a page up in the task",
			pages: []page{pageList, pageDetail}, closed: m.noDetail, press: half(-1)},
		{action: "first", names: []string{"g", "home"}, does: "to the first", pages: everywhere, press: up(-1 << 30)},
		{action: "last", names: []string{"G", "end"}, does: "to the last", pages: everywhere, press: up(1 << 30)},
		{action: "right", names: []string{"l", "right"},
			does: "look at the task closely; on the board: one column on", pages: overview(), press: only(m.goRight)},
		{action: "left", names: []string{"h", "left"}, does: "back to the list; on the board: one column back",
			pages: taskPages(), press: only(m.goLeft)},
		{action: "back", names: []string{"esc"}, does: "back: leave help, filter, form or task", pages: everywhere,
			press: only(m.goBack)},
	}
}

func (m *Model) viewKeys() []key {
	noTask := m.asks.on(command.Target.NoTask)
	tab := func(to detail.Tab) func() tea.Cmd { return only(func() { m.showTab(to) }) }
	nextTab := func(n int) func() tea.Cmd { return only(func() { m.showTab(m.detail.NextTab(n)) }) }
	someTasks := func(label string) func() string {
		return either(func() bool { return len(m.tasks.Rows) > 0 }, label, "")
	}
	view := []key{
		taskKey("document", "v", "TASK.md", "TASK.md", noTask, tab(detail.Document), nil),
		{action: "next-part", names: []string{"tab"}, does: "the next part of the task",
			pages: []page{pageList, pageDetail}, closed: noTask, press: nextTab(1)},
		{action: "previous-part", names: []string{"shift+tab"}, does: "the part before",
			pages: []page{pageList, pageDetail}, closed: noTask, press: nextTab(-1)},
	}
	for i := range detail.Tabs {
		number := fmt.Sprint(int(i) + 1)
		view = append(view, taskKey("part-"+number, number, i.Shows(), "", noTask, tab(i), nil))
	}
	return slices.Concat(view, []key{
		{action: "part-that-fits", names: []string{"0"},
			does:  "next to the list what fits the task: its terminal, last words or plan",
			pages: []page{pageList}, closed: m.noDetail, press: only(func() { m.detail.Chosen = false })},
		{action: "split", names: []string{"space"},
			does:  "show the selected task next to the list or below it, or hide it",
			pages: []page{pageList, pageDetail}, closed: noTask, press: only(m.toggleSplit)},
		{action: "board", names: []string{"b"}, does: "board: tasks grouped by state, or the list again",
			footer: "board", label: func() string {
				if m.pages.page == pageBoard {
					return "list"
				}
				return someTasks("board")()
			}, pages: overview(), press: only(m.toggleBoard)},
	}, m.choiceKeys(someTasks), []key{
		taskKey("workspaces", "w", "workspaces and who has them", "workspaces", nil, func() tea.Cmd {
			m.pages.visit(pageWorkspaces)
			return m.workspaces.Open(m.layout.body())
		}, nil),
		{action: "holder", names: []string{"enter"}, does: "among the workspaces: to the task that has it",
			footer: "to its task", pages: []page{pageWorkspaces}, closed: m.workspaces.NoTask, press: only(func() {
				m.workspaces.SelectTask()
				m.pages.showList()
			})},
	})
}

// choiceKeys are those that choose among the tasks. Where there is none, the foot has no label of theirs.
func (m *Model) choiceKeys(someTasks func(label string) func() string) []key {
	noTask := m.asks.on(command.Target.NoTask)
	c := m.choice
	return []key{
		{action: "filter", names: []string{"f"}, does: "show all tasks, those that are active, or those that are done",
			footer: "filter", label: someTasks("filter"), pages: overview(), press: only(c.nextFilter)},
		{action: "find", names: []string{"/"}, does: "show the tasks that hold a text", footer: "find",
			label: someTasks("find"), pages: overview(), press: only(func() { m.list.Searching = true })},
		{action: "next-match", names: []string{"n"}, does: "the next task with the text that was searched for",
			pages: taskPages(), closed: c.noText, press: only(c.match(1))},
		{action: "previous-match", names: []string{"N"}, does: "the task before, with that text", pages: taskPages(),
			closed: c.noText, press: only(c.match(-1))},
		{action: "inbox", names: []string{"i"}, does: "to the next task that needs you, the oldest need first",
			footer: "inbox", label: either(func() bool { return c.noInbox() == "" }, "inbox", ""),
			pages:  []page{pageList, pageBoard, pageDetail, pageWorkspaces, pageHelp, pageFailures},
			closed: c.noInbox, press: only(c.nextInbox)},
		{action: "mark", names: []string{"*", "insert"},
			does:   "mark the task, or no longer, and go one down; keys then act on all that are marked",
			footer: "mark", label: either(m.pages.marking, "mark", ""),
			pages: overview(), closed: noTask, press: only(func() {
				m.tasks.Pick()
				m.move(1)
				c.sayMarked()
			})},
		{action: "mark-all", names: []string{"A"}, does: "mark all tasks that are shown, or none", pages: overview(),
			closed: noTask, press: only(func() {
				m.tasks.PickShown()
				c.sayMarked()
			})},
		{action: "sort", names: []string{"s"}, does: "sort by the next of: newest, status, name, activity",
			pages: overview(), press: only(c.nextOrder)},
		{action: "all-projects", names: []string{"a"}, does: "show the tasks of this project, or of all projects",
			footer: "all projects", label: either(func() bool { return m.tasks.Project == "" }, "this project",
				"all projects"), pages: overview(), closed: c.noProject, press: only(c.toggleProject)},
	}
}

func (m *Model) otherKeys() []key {
	most := []page{pageList, pageBoard, pageDetail, pageWorkspaces, pageReview}
	failures := m.foot.failures
	return []key{
		{action: "create", names: []string{"c"}, does: "create a task", footer: "create", pages: overview(),
			closed: m.tasks.NoCreation, press: m.asks.openCreation},
		{action: "look-again", names: []string{"R"}, does: "look at everything again", footer: "look again",
			pages: most, press: m.refresh},
		{action: "failures", names: []string{"!"}, does: "what went wrong", footer: "what went wrong",
			label: either(func() bool { return failures.none() == "" }, "what went wrong", ""),
			pages: most, closed: failures.none, press: only(func() {
				m.pages.visit(pageFailures)
				failures.open()
			})},
		{action: "find-in-help", names: []string{"/"}, does: "search in the help", footer: "find",
			pages: []page{pageHelp}, press: only(func() { m.help.search.Typing = true })},
		{action: "actions", names: []string{":"}, does: "find an action by its words or its key, and do it",
			footer: "all actions", pages: append(most, pageHelp, pageFailures), press: only(m.keyboard.openPalette)},
		{action: "help", names: []string{"?"}, does: "this help", footer: "help", pages: most, press: only(func() {
			m.pages.visit(pageHelp)
			m.help.open()
		})},
		{action: "quit", names: []string{"q"}, does: "quit; where you look at something, back to the list",
			footer: "quit", label: either(m.pages.on(overview()...), "quit", "back"),
			pages: append(most, pageHelp, pageFailures), press: func() tea.Cmd {
				if m.pages.page.ofAll() {
					return m.quit()
				}
				m.goBack()
				return nil
			}},
		{action: "quit-at-once", names: []string{"ctrl+c"}, does: "quit, wherever you are",
			pages: append(most, pageHelp, pageFailures, pageForm), press: m.quit},
	}
}

package dashboard

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
)

// keys is the table of all keys. A move that the task's workflow does not have is closed, with the reason.
func keys() keymap {
	return slices.Concat(inGroup(groupMove, movingKeys()), inGroup(groupTask, taskKeys()),
		inGroup(groupView, viewKeys()), inGroup(groupReview, reviewKeys()), inGroup(groupElse, otherKeys()))
}

func inGroup(group string, keys []key) []key {
	for i := range keys {
		keys[i].group, keys[i].usual = group, keys[i].names[0]
		keys[i].action = actions()[group][keys[i].usual]
	}
	return keys
}

// Pages on which keys work.
func taskPages() []page { return []page{pageList, pageBoard, pageDetail} }
func overview() []page  { return []page{pageList, pageBoard} }
func scrolled() []page  { return []page{pageDetail, pageReview, pageHelp, pageFailures} }

func movingKeys() []key {
	up := func(n int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.move(n) }
	}
	screenful := func(n int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.move(n * m.screenful()) }
	}
	half := func(n int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			_, size := m.splitSizes()
			m.detail.Move(n*max(1, min((size.Height-1)/2, m.detail.Room(size))), size)
			return nil
		}
	}
	everywhere := append([]page{pageList, pageBoard, pageWorkspaces}, scrolled()...)
	return []key{
		{names: []string{"j", "down"}, does: "one down", footer: "down",
			label: either(on(pageHelp, pageFailures), "down", ""), pages: everywhere, press: up(1)},
		{names: []string{"k", "up"}, does: "one up", footer: "up",
			label: either(on(pageHelp, pageFailures), "up", ""), pages: everywhere, press: up(-1)},
		{names: []string{"pgdown", "ctrl+f", "ctrl+d"}, does: "one page down", pages: everywhere, press: screenful(1)},
		{names: []string{"pgup", "ctrl+b", "ctrl+u"}, does: "one page up", pages: everywhere, press: screenful(-1)},
		{names: []string{"J"}, does: "half a page down in the task, also in the list",
			footer: "down in the task", label: either(atSide, "down in the task", ""),
			pages: []page{pageList, pageDetail}, closed: noDetail, press: half(1)},
		{names: []string{"K"}, does: "half a page up in the task", pages: []page{pageList, pageDetail},
			closed: noDetail, press: half(-1)},
		{names: []string{"g", "home"}, does: "to the first", pages: everywhere, press: up(-1 << 30)},
		{names: []string{"G", "end"}, does: "to the last", pages: everywhere, press: up(1 << 30)},
		{names: []string{"l", "right"}, does: "look at the task closely; on the board: one column on",
			pages: overview(), press: (*Model).goRight},
		{names: []string{"h", "left"}, does: "back to the list; on the board: one column back",
			pages: taskPages(), press: (*Model).goLeft},
		{names: []string{"esc"}, does: "back: leave help, filter, form or task",
			pages: everywhere, press: (*Model).goBack},
	}
}

// taskKey is a key for the selected task.
func taskKey(name, does, footer string, closed func(*Model) string, press func(*Model) tea.Cmd) key {
	return key{names: []string{name}, does: does, footer: footer, pages: taskPages(), closed: closed, press: press}
}

func taskKeys() []key {
	enter := taskKey("enter", "start the task's agent, attach to it, or start it again, whichever makes sense",
		"start", onTarget(command.Target.NoEnter), act(command.Commands.Enter))
	enter.label = enterLabel
	noTask := onTarget(command.Target.NoTask)
	back := taskKey("r", "request changes: send it back with a text and your comments",
		"send back", onTarget(command.Target.NoChanges), requestChanges)
	return forMany([]key{
		enter,
		inReview(back),
		inReview(taskKey("m", "merge the task's branch and finish the task", "merge", onCommand(workflow.MoveMerge),
			act(command.Commands.Merge))),
		taskKey("p", "push the branch and open a pull request", "PR", onTarget(command.Target.NoPR),
			act(command.Commands.OpenPR)),
		taskKey("M", "choose a move: those that are open, and what the others lack", "move",
			onTarget(command.Target.NoMoves), act(command.Commands.Moves)),
		taskKey("S", "say something to the task's agent, in a line below what you look at", "say",
			onTarget(command.Target.NoSay), say),
		taskKey("o", "make a move in spite of its conditions, with a reason", "override",
			onTarget(command.Target.NoOverride), act(command.Commands.Override)),
		taskKey("x", "cancel: give the task up; its work is kept", "cancel", onCommand(workflow.MoveCancel),
			giveUp(command.Commands.Cancel)),
		taskKey("d", "delete: forget the task; its branch and rescued work stay", "delete", noTask,
			giveUp(command.Commands.Delete)),
		taskKey("t", "try again what failed of the task", "", onTarget(command.Target.NoRetry),
			act(command.Commands.Retry)),
		taskKey("y", "copy the task's id", "", noTask, copyID),
		taskKey("P", "open its pull request in your browser", "", onTarget(command.Target.NoAddress), openPullRequest),
		taskKey("Y", "copy the address of its pull request", "", onTarget(command.Target.NoAddress), copyAddress),
	})
}

func viewKeys() []key {
	tab := func(k detail.Tab) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.showTab(k) }
	}
	nextTab := func(n int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			m.detail.NextTab(n)
			return m.showTab(m.detail.Tab)
		}
	}
	noTask := onTarget(command.Target.NoTask)
	view := []key{
		taskKey("v", "TASK.md", "TASK.md", noTask, tab(detail.Document)),
		{names: []string{"tab"}, does: "the next part of the task", pages: []page{pageList, pageDetail},
			closed: noTask, press: nextTab(1)},
		{names: []string{"shift+tab"}, does: "the part before", pages: []page{pageList, pageDetail},
			closed: noTask, press: nextTab(-1)},
	}
	for i := range detail.Tabs {
		view = append(view, taskKey(fmt.Sprint(int(i)+1), i.Shows(), "", noTask, tab(i)))
	}
	return append(view, []key{
		{names: []string{"0"}, does: "next to the list what fits the task: its terminal, last words or plan",
			pages: []page{pageList}, closed: noDetail, press: showFitting},
		{names: []string{"space"}, does: "show the selected task next to the list or below it, or hide it",
			pages: []page{pageList, pageDetail}, closed: noTask, press: (*Model).toggleSplit},
		{names: []string{"b"}, does: "board: tasks grouped by state, or the list again", footer: "board",
			label: func(m *Model) string {
				if m.page == pageBoard {
					return "list"
				}
				return someTasks("board")(m)
			}, pages: overview(), press: (*Model).toggleBoard},
		{names: []string{"f"}, does: "show all tasks, those that are active, or those that are done",
			footer: "filter", label: someTasks("filter"), pages: overview(), press: nextFilter},
		{names: []string{"/"}, does: "show the tasks that hold a text", footer: "find", label: someTasks("find"),
			pages: overview(), press: find},
		{names: []string{"n"}, does: "the next task with the text that was searched for", pages: taskPages(),
			closed: noText, press: match(1)},
		{names: []string{"N"}, does: "the task before, with that text", pages: taskPages(), closed: noText,
			press: match(-1)},
		{names: []string{"i"}, does: "to the next task that needs you, the oldest need first", footer: "inbox",
			label:  either(func(m *Model) bool { return noInbox(m) == "" }, "inbox", ""),
			pages:  []page{pageList, pageBoard, pageDetail, pageWorkspaces, pageHelp, pageFailures},
			closed: noInbox, press: nextInbox},
		{names: []string{"*", "insert"}, does: "mark the task, or no longer, and go one down; keys then act " +
			"on all that are marked", footer: "mark", label: either(marking, "mark", ""), pages: overview(),
			closed: noTask, press: mark},
		{names: []string{"A"}, does: "mark all tasks that are shown, or none", pages: overview(), closed: noTask,
			press: markAll},
		{names: []string{"s"}, does: "sort by the next of: newest, status, name, activity", pages: overview(),
			press: nextOrder},
		{names: []string{"a"}, does: "show the tasks of this project, or of all projects", footer: "all projects",
			label: either(func(m *Model) bool { return m.tasks.Project == "" }, "this project", "all projects"),
			pages: overview(), closed: noProject, press: toggleProject},
		taskKey("w", "workspaces and who has them", "workspaces", nil, showWorkspaces),
		{names: []string{"enter"}, does: "among the workspaces: to the task that has it", footer: "to its task",
			pages: []page{pageWorkspaces}, press: showHolder,
			closed: func(m *Model) string { return m.workspaces.NoTask() }},
	}...)
}

func otherKeys() []key {
	most := []page{pageList, pageBoard, pageDetail, pageWorkspaces, pageReview}
	return []key{
		{names: []string{"c"}, does: "create a task", footer: "create", pages: overview(),
			closed: func(m *Model) string { return m.tasks.NoCreation() }, press: (*Model).openCreation},
		{names: []string{"R"}, does: "look at everything again", footer: "look again", pages: most,
			press: (*Model).refresh},
		{names: []string{"!"}, does: "what went wrong", footer: "what went wrong",
			label: either(func(m *Model) bool { return noFailures(m) == "" }, "what went wrong", ""),
			pages: most, closed: noFailures, press: showFailures},
		{names: []string{"/"}, does: "search in the help", footer: "find", pages: []page{pageHelp}, press: findHelp},
		{names: []string{":"}, does: "find an action by its words or its key, and do it", footer: "all actions",
			pages: append(most, pageHelp, pageFailures), press: openPalette},
		{names: []string{"?"}, does: "this help", footer: "help", pages: most, press: showHelp},
		{names: []string{"q"}, does: "quit; where you look at something, back to the list", footer: "quit",
			label: either(on(overview()...), "quit", "back"), pages: append(most, pageHelp, pageFailures),
			press: quitOrBack},
		{names: []string{"ctrl+c"}, does: "quit, wherever you are",
			pages: append(most, pageHelp, pageFailures, pageForm), press: (*Model).quit},
	}
}

// onTarget closes a key for a reason that depends on the selected task.
func onTarget(why func(command.Target) string) func(*Model) string {
	return func(m *Model) string { return why(m.target()) }
}

// onCommand closes a key where a command of the workflow leads nowhere.
func onCommand(command string) func(*Model) string {
	return func(m *Model) string { return m.target().NoCommand(command) }
}

func act(do func(command.Commands, command.Target) command.FirstStep) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.begin(do(m.commands, m.target())) }
}

// giveUp is act for a command that gives up the task: in the list the cursor stays at its place when the task goes to
// those that are over.
func giveUp(do func(command.Commands, command.Target) command.FirstStep) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.page == pageList {
			m.tasks.GivenUp = m.target().Task.ID
		}
		return act(do)(m)
	}
}

func copyID(m *Model) tea.Cmd {
	id := m.target().Task.ID
	m.messages.answer = "copied " + id
	return tea.SetClipboard(id)
}

func nextFilter(m *Model) tea.Cmd {
	m.tasks.Filter = m.tasks.Filter.Next()
	return m.filterChanged("shown: " + m.tasks.Filter.String())
}

func nextOrder(m *Model) tea.Cmd {
	m.tasks.Order = m.tasks.Order.Next()
	return m.filterChanged("sorted by " + m.tasks.Order.String())
}

func find(m *Model) tea.Cmd {
	m.list.Searching = true
	return nil
}

func noText(m *Model) string {
	if m.tasks.Text == "" {
		return fmt.Sprintf("nothing is searched for; %s does, and %s has the moves of a task",
			m.style.Keys.Of("find"), m.style.Keys.Of("move"))
	}
	return ""
}

// match goes to another one of the tasks that hold the text, and from the last one to the first.
func match(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if all := len(m.tasks.Shown); all > 0 {
			m.tasks.Select((m.tasks.Cursor + n + all) % all)
		}
		t, _ := m.tasks.Selected()
		return showTask(m, t.ID)
	}
}

func noInbox(m *Model) string {
	if _, found := m.tasks.NextInbox(); !found {
		return "no task needs you"
	}
	return ""
}

// nextInbox goes to the next task that needs the person: closely, where they look at one closely.
func nextInbox(m *Model) tea.Cmd {
	id, _ := m.tasks.NextInbox()
	if !slices.Contains(taskPages(), m.page) {
		m.showList()
	}
	return showTask(m, id) // each page says why it needs the person
}

// showTask selects a task on the page that the person is on.
func showTask(m *Model, id string) tea.Cmd {
	if m.page == pageDetail {
		m.tasks.Pinned = id
	}
	m.tasks.Reveal(id)
	m.list.KeepVisible(listSize(m))
	if m.page == pageDetail {
		m.detail.Refresh()
	}
	return m.selectionChanged()
}

// say asks what to say to the agent: below the task in the list, else at the end of what is shown.
func say(m *Model) tea.Cmd {
	end := func(size screen.Size) int { return size.Height }
	switch {
	case m.page == pageList && stacked(m):
		end = func(size screen.Size) int { // below what the task needs, or at the end
			behind := *m
			behind.page, behind.lent = pageList, form.InPlace
			list, detail := behind.splitSizes()
			if asked := m.detail.NeedLines(detail); asked > 1 {
				return list.Height + asked - 1
			}
			return size.Height
		}
	case m.page == pageList && !m.split():
		end = func(size screen.Size) int { // the prompt takes lines of the list
			size.Height -= form.InPlace
			return m.list.CursorLine(size)
		}
		m.list.KeepVisible(m.list.RoomToAnswer(m.body(), form.InPlace))
	}
	return m.begin(m.commands.Say(m.target(), end))
}

func noProject(m *Model) string {
	if m.target().NoTask() != "" && m.tasks.Project == "" {
		return "no task is selected that would say which project"
	}
	return ""
}

func toggleProject(m *Model) tea.Cmd {
	if m.tasks.Project != "" {
		m.tasks.Project = ""
		return m.filterChanged("the tasks of all projects")
	}
	m.tasks.Project = m.target().Task.Project
	return m.filterChanged("the tasks of " + m.tasks.Project)
}

func showWorkspaces(m *Model) tea.Cmd {
	m.visit(pageWorkspaces)
	return m.workspaces.Open(m.body())
}

func showHolder(m *Model) tea.Cmd {
	m.workspaces.SelectTask()
	m.showList()
	return m.selectionChanged()
}

func noFailures(m *Model) string {
	if len(m.failures.all) == 0 {
		return "nothing went wrong that you have not read"
	}
	return ""
}

func showFailures(m *Model) tea.Cmd {
	m.visit(pageFailures)
	m.failures.scroll = screen.Scroll{} // at the newest
	return nil
}

func showHelp(m *Model) tea.Cmd {
	m.visit(pageHelp)
	m.help.scroll, m.help.searching, m.help.text = screen.Scroll{}, false, ""
	return nil
}

func quitOrBack(m *Model) tea.Cmd {
	if m.page == pageList || m.page == pageBoard {
		return m.quit()
	}
	return m.goBack()
}

func enterLabel(m *Model) string {
	switch m.target().EnterMeans() {
	case command.EnterAttach:
		return "attach"
	case command.EnterRestart:
		return "start again"
	}
	return "start"
}

// someTasks is the label of a key that chooses among tasks: where there is none it is not in the footer.
func someTasks(label string) func(*Model) string {
	return either(func(m *Model) bool { return len(m.tasks.Rows) > 0 }, label, "")
}

// on reports whether the page is one of some.
func on(pages ...page) func(*Model) bool {
	return func(m *Model) bool { return slices.Contains(pages, m.page) }
}

// either is the label of a key that depends on something.
func either(is func(*Model) bool, yes, no string) func(*Model) string {
	return func(m *Model) string {
		if is(m) {
			return yes
		}
		return no
	}
}

// atSide reports whether the detail is at the side of the list.
func atSide(m *Model) bool { return m.split() && !stacked(m) }

func noDetail(m *Model) string {
	if !m.detailVisible() {
		return "no task is shown next to the list; " + m.style.Keys.Of("split") + " shows it"
	}
	return m.target().NoTask()
}

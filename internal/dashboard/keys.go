package dashboard

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/detail"
	"orange/internal/dashboard/tasks"
	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// keys is the table of all keys. What a task's workflow does not have is closed, with the reason.
func keys() []key {
	return slices.Concat(movingKeys(), taskKeys(), viewKeys(), otherKeys())
}

// Places in which keys work.
func tasksShown() []place { return []place{inList, inBoard, inDetail} }
func overview() []place   { return []place{inList, inBoard} }
func scrolled() []place   { return []place{inDetail, inHelp, inTrouble} }

func movingKeys() []key {
	up := func(n int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.step(n) }
	}
	page := func(n int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.step(n * max(1, m.body().Height-3)) }
	}
	half := func(n int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			m.detail.Move(n*max(1, (m.body().Height-1)/2), m.detailSize())
			return nil
		}
	}
	everywhere := append([]place{inList, inBoard, inWorkspaces}, scrolled()...)
	return []key{
		{names: []string{"j", "down"}, does: "one down", footer: "down", label: scrollLabel("down"),
			places: everywhere, group: groupMove, press: up(1)},
		{names: []string{"k", "up"}, does: "one up", footer: "up", label: scrollLabel("up"), places: everywhere,
			group: groupMove, press: up(-1)},
		{names: []string{"pgdown", "ctrl+f", "ctrl+d"}, does: "one page down", places: everywhere,
			group: groupMove, press: page(1)},
		{names: []string{"pgup", "ctrl+b", "ctrl+u"}, does: "one page up", places: everywhere, group: groupMove,
			press: page(-1)},
		{names: []string{"J"}, does: "half a page down in the task, also where it stands beside the list",
			footer: "down in the task", label: (*Model).besideLabel,
			places: []place{inList, inDetail}, group: groupMove, closed: (*Model).whyNotBeside, press: half(1)},
		{names: []string{"K"}, does: "half a page up in the task", places: []place{inList, inDetail},
			group: groupMove, closed: (*Model).whyNotBeside, press: half(-1)},
		{names: []string{"g", "home"}, does: "to the first", places: everywhere, group: groupMove, press: up(-1 << 30)},
		{names: []string{"G", "end"}, does: "to the last", places: everywhere, group: groupMove, press: up(1 << 30)},
		{names: []string{"l", "right"}, does: "look at the task closely; on the board: one column on",
			places: overview(), group: groupMove, press: (*Model).goRight},
		{names: []string{"h", "left"}, does: "back to the list; on the board: one column back",
			places: tasksShown(), group: groupMove, press: (*Model).goLeft},
		{names: []string{"esc"}, does: "back: leave help, filter, form or task",
			places: append([]place{inList, inBoard, inWorkspaces}, scrolled()...), group: groupMove,
			press: (*Model).goBack},
	}
}

func taskKeys() []key {
	return []key{
		{names: []string{"enter"}, does: "start the task's agent, attach to it, or start it again, whichever " +
			"makes sense", footer: "start", label: (*Model).enterLabel,
			places: tasksShown(), group: groupTask, closed: (*Model).whyNotEnter, press: (*Model).enter},
		{names: []string{"r"}, does: "request changes: send the task back with what to change",
			footer: "request changes",
			places: tasksShown(), group: groupTask, closed: whyNotMove(workflow.MoveRequestChanges),
			press: (*Model).askChanges},
		{names: []string{"m"}, does: "merge the task's branch and finish the task", footer: "merge",
			places: tasksShown(), group: groupTask, closed: whyNotMove(workflow.MoveMerge), press: (*Model).askMerge},
		{names: []string{"p"}, does: "push the branch and open a pull request", footer: "PR",
			places: tasksShown(), group: groupTask, closed: (*Model).whyNotPR, press: (*Model).openPR},
		{names: []string{"n"}, does: "make the one move that the evidence supports", footer: "next",
			places: tasksShown(), group: groupTask, closed: (*Model).whyNotNext, press: (*Model).next},
		{names: []string{"o"}, does: "make a move in spite of its conditions, with a reason", footer: "override",
			places: tasksShown(), group: groupTask, closed: (*Model).whyNotOverride, press: (*Model).askOverride},
		{names: []string{"x"}, does: "cancel: give the task up; its work is kept", footer: "cancel",
			places: tasksShown(), group: groupTask, closed: whyNotMove(workflow.MoveCancel), press: (*Model).askCancel},
		{names: []string{"d"}, does: "delete: forget the task; its branch and rescued work stay", footer: "delete",
			places: tasksShown(), group: groupTask, closed: (*Model).whyNoTask, press: (*Model).askDelete},
		{names: []string{"t"}, does: "try again what the task owes: hooks that failed",
			places: tasksShown(), group: groupTask, closed: (*Model).whyNoTask, press: (*Model).retry},
		{names: []string{"y"}, does: "copy the task's id", places: tasksShown(), group: groupTask,
			closed: (*Model).whyNoTask, press: (*Model).copyID},
	}
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
	view := []key{
		{names: []string{"v"}, does: "TASK.md", footer: "TASK.md", places: tasksShown(), group: groupView,
			closed: (*Model).whyNoTask, press: tab(detail.Document)},
		{names: []string{"tab"}, does: "the next part of the task", places: []place{inList, inDetail},
			group: groupView, closed: (*Model).whyNoTask, press: nextTab(1)},
		{names: []string{"shift+tab"}, does: "the part before", places: []place{inList, inDetail},
			group: groupView, closed: (*Model).whyNoTask, press: nextTab(-1)},
	}
	for i := range detail.Tabs {
		view = append(view, key{names: []string{fmt.Sprint(int(i) + 1)}, does: i.Shows(), places: tasksShown(),
			group: groupView, closed: (*Model).whyNoTask, press: tab(i)})
	}
	return append(view, []key{
		{names: []string{"space"}, does: "task beside the list, or not", places: []place{inList, inDetail},
			group: groupView, press: (*Model).toggleSplit},
		{names: []string{"b"}, does: "board: tasks grouped by state, or the list again", footer: "board",
			label: (*Model).boardLabel, places: overview(), group: groupView, press: (*Model).toggleBoard},
		{names: []string{"f"}, does: "show all tasks, those that are active, or those that are done",
			footer: "filter", places: overview(), group: groupView, press: (*Model).nextFilter},
		{names: []string{"/"}, does: "show the tasks that hold a text", footer: "find", places: overview(),
			group: groupView, press: (*Model).find},
		{names: []string{"s"}, does: "sort by the next of: newest, status, name, activity", places: overview(),
			group: groupView, press: (*Model).nextOrder},
		{names: []string{"a"}, does: "tasks of this project, or of all", footer: "all projects",
			label: (*Model).scopeLabel, places: overview(), group: groupView, closed: (*Model).whyNoScope,
			press: (*Model).nextScope},
		{names: []string{"w"}, does: "workspaces and who has them", footer: "workspaces", places: tasksShown(),
			group: groupView, press: (*Model).showWorkspaces},
		{names: []string{"enter"}, does: "among the workspaces: to the task that has it", footer: "to its task",
			places: []place{inWorkspaces}, group: groupView,
			closed: func(m *Model) string { return m.workspaces.NoTask() }, press: (*Model).showHolder},
	}...)
}

func otherKeys() []key {
	most := []place{inList, inBoard, inDetail, inWorkspaces}
	return []key{
		{names: []string{"c"}, does: "create a task", footer: "create", places: overview(), group: groupElse,
			press: (*Model).askCreate},
		{names: []string{"R"}, does: "look at everything again", footer: "look again", places: most,
			group: groupElse, press: (*Model).refresh},
		{names: []string{"!"}, does: "what went wrong", footer: "what went wrong", label: (*Model).troubleLabel,
			places: most, group: groupElse, closed: (*Model).whyNoTrouble, press: (*Model).showTrouble},
		{names: []string{"?"}, does: "this help", footer: "help", places: most, group: groupElse,
			press: (*Model).showHelp},
		{names: []string{"q"}, does: "quit; where you look at something, back to the list", footer: "quit",
			label: (*Model).quitLabel, places: append(most, inHelp, inTrouble), group: groupElse, press: (*Model).quit},
		{names: []string{"ctrl+c"}, does: "quit, wherever you are",
			places: append(most, inHelp, inTrouble, inForm), group: groupElse, press: (*Model).leave},
	}
}

// enterLabel is what Enter would do.
func (m *Model) enterLabel() string {
	t, found := m.selected()
	def := m.tasks.Workflow(t)
	if !found || def == nil {
		return "start"
	}
	switch means, _ := m.entering(def, t); means {
	case enterAttach:
		return "attach"
	case enterRespawn:
		return "start again"
	}
	return "start"
}

func (m *Model) boardLabel() string {
	if m.place == inBoard {
		return "list"
	}
	return "board"
}

func (m *Model) scopeLabel() string {
	if m.tasks.Project == "" {
		return "this project"
	}
	return "all projects"
}

// scrollLabel is there while the person reads something long that has no other keys.
func scrollLabel(word string) func(*Model) string {
	return func(m *Model) string {
		if m.place == inHelp || m.place == inTrouble {
			return word
		}
		return ""
	}
}

// besideLabel is there while a task stands beside the list, where the usual keys move the list.
func (m *Model) besideLabel() string {
	if m.split() {
		return "down in the task"
	}
	return ""
}

func (m *Model) whyNotBeside() string {
	if !m.detailVisible() {
		return "no task stands beside the list; Space shows it"
	}
	return m.whyNoTask()
}

// troubleLabel is there while there is something to read.
func (m *Model) troubleLabel() string {
	if m.whyNoTrouble() != "" {
		return ""
	}
	return "what went wrong"
}

func (m *Model) quitLabel() string {
	if m.place == inList || m.place == inBoard {
		return "quit"
	}
	return "back"
}

func (m *Model) whyNoTask() string {
	if _, found := m.selected(); !found {
		return "no task is selected"
	}
	return ""
}

// human is whoever sits here, as far as keys are concerned. Who really asks is found out when a wish is made.
func human() task.Actor { return task.Actor{Role: task.RoleHuman} }

// onTask answers why a key is closed for the selected task and its workflow.
func (m *Model) onTask(why func(def *workflow.Definition, t task.Task) string) string {
	t, found := m.selected()
	if !found {
		return "no task is selected"
	}
	def := m.tasks.Workflow(t)
	switch unread := m.tasks.Unreadable(t); {
	case def == nil && unread != "":
		return "the task's workflow cannot be read, R tries again: " + unread
	case def == nil:
		return stillReading
	}
	return why(def, t)
}

// whyNotMove answers why a command of the workflow leads nowhere from here.
func whyNotMove(command string) func(m *Model) string {
	return func(m *Model) string {
		return m.onTask(func(def *workflow.Definition, t task.Task) string {
			to, err := decide.MoveTarget(def, t, command)
			if err != nil {
				return firstLine(err)
			}
			switch {
			case to == t.Status:
				return fmt.Sprintf("the task is %q already", to)
			case !slices.Contains(decide.Open(def, t, human()), to):
				return fmt.Sprintf("the workflow %q leads nowhere from %q to %q", def.Name, t.Status, to)
			}
			return ""
		})
	}
}

func (m *Model) whyNotNext() string {
	return m.onTask(func(def *workflow.Definition, t task.Task) string {
		if len(decide.Open(def, t, human())) == 0 {
			return fmt.Sprintf("no move leads out of %q", t.Status)
		}
		return ""
	})
}

func (m *Model) whyNotOverride() string {
	return m.onTask(func(def *workflow.Definition, t task.Task) string {
		_, err := decide.Overridable(def, t, human())
		return firstLine(err)
	})
}

func (m *Model) whyNotPR() string {
	return m.onTask(func(_ *workflow.Definition, t task.Task) string {
		switch {
		case !t.Live:
			return "the task is over"
		case t.Workspace == "":
			return "the task has no workspace: nobody has worked on the branch yet"
		}
		return ""
	})
}

// enterMeans is what Enter does for a task.
type enterMeans int

const (
	enterNothing enterMeans = iota
	enterSpawn
	enterAttach
	enterRespawn
)

func (m *Model) entering(def *workflow.Definition, t task.Task) (enterMeans, string) {
	r, _ := m.tasks.SelectedRow()
	state, _ := def.State(t.Status)
	to, err := decide.SpawnTarget(def, t)
	switch {
	case r.Agent.State == record.AgentAlive:
		return enterAttach, ""
	case r.Agent.State == "" && t.Session != "":
		return enterNothing, stillLooking
	case r.Agent.State == record.AgentUnknown:
		return enterNothing, "the terminals could not be looked at; R looks again"
	case t.Queued():
		return enterNothing, "the task waits for a workspace and starts when one is free; w shows who has them"
	case t.Status == def.Initial && err == nil && slices.Contains(decide.Open(def, t, human()), to):
		return enterSpawn, ""
	case !t.Live:
		return enterNothing, "the task is over; v shows it"
	case state.Role == "":
		return enterNothing, fmt.Sprintf("no agent works in %q; v shows the task, n makes the next move", t.Status)
	}
	return enterRespawn, ""
}

func (m *Model) whyNotEnter() string {
	return m.onTask(func(def *workflow.Definition, t task.Task) string {
		_, why := m.entering(def, t)
		return why
	})
}

func (m *Model) enter() tea.Cmd {
	t, _ := m.selected()
	care, moves := m.house.Care, m.house.Moves
	means, _ := m.entering(m.tasks.Workflow(t), t)
	switch means {
	case enterAttach:
		return m.attach(t)
	case enterSpawn:
		return m.start("start "+tasks.Name(t), func(ctx context.Context) (string, error) {
			return outcome(moves.Command(ctx, t.ID, workflow.MoveSpawn, ""))
		})
	case enterRespawn:
		return m.start("start the agent of "+tasks.Name(t)+" again", func(ctx context.Context) (string, error) {
			return outcome(care.Respawn(ctx, t.ID))
		})
	}
	return nil
}

package dashboard

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
)

// on closes a key for a reason that depends on the selected task.
func (a *asks) on(why func(command.Target) string) func() string {
	return func() string { return why(a.target()) }
}

// onMove closes a key where a move of the workflow leads nowhere.
func (a *asks) onMove(move string) func() string {
	return func() string { return a.target().NoCommand(move) }
}

func (a *asks) act(do func(command.Commands, command.Target) command.FirstStep) func() tea.Cmd {
	return func() tea.Cmd { return a.begin(do(a.commands, a.target())) }
}

// giveUp is act for a command that gives up the task: in the list the cursor stays at its place when the task goes to
// those that are over.
func (a *asks) giveUp(do func(command.Commands, command.Target) command.FirstStep) func() tea.Cmd {
	return func() tea.Cmd {
		if a.pages.page == pageList {
			a.tasks.GivenUp = a.target().Task.ID
		}
		return a.act(do)()
	}
}

// keys are those about the selected task, or about all that are marked.
func (a *asks) keys() []key {
	enter := taskKey("start", "enter", "start the task's agent, attach to it, or start it again, whichever makes sense",
		"start", a.on(command.Target.NoEnter), a.act(command.Commands.Enter), command.Commands.StartAll)
	enter.label = func() string { return a.target().EnterMeans().String() }
	back := taskKey("request-changes", "r", "request changes: send it back with a text and your comments",
		"send back", a.on(command.Target.NoChanges), a.act(command.Commands.RequestChanges),
		command.Commands.RequestChangesOfAll)
	merge := taskKey("merge", "m", "merge the task's branch and finish the task", "merge",
		a.onMove(workflow.MoveMerge), a.act(command.Commands.Merge), command.Commands.MergeAll)
	back.pages, merge.pages = append(back.pages, pageReview), append(merge.pages, pageReview)
	return []key{
		enter, back, merge,
		taskKey("pull-request", "p", "push the branch and open a pull request", "PR", a.on(command.Target.NoPR),
			a.act(command.Commands.OpenPR), command.Commands.OpenPRs),
		taskKey("move", "M", "choose a move: those that are open, and what the others lack", "move",
			a.on(command.Target.NoMoves), a.act(command.Commands.Moves), command.Commands.MovesOfAll),
		taskKey("say", "S", "say something to the task's agent, in a line below what you look at", "say",
			a.on(command.Target.NoSay), a.say, command.Commands.SayToAll),
		taskKey("override", "o", "make a move in spite of its conditions, with a reason", "override",
			a.on(command.Target.NoOverride), a.act(command.Commands.Override), nil),
		taskKey("cancel", "x", "cancel: give the task up; its work is kept", "cancel", a.onMove(workflow.MoveCancel),
			a.giveUp(command.Commands.Cancel), command.Commands.CancelAll),
		taskKey("delete", "d", "delete: forget the task; its branch and rescued work stay", "delete",
			a.on(command.Target.NoTask), a.giveUp(command.Commands.Delete), command.Commands.DeleteAll),
		taskKey("retry", "t", "try again what failed of the task", "", a.on(command.Target.NoRetry),
			a.act(command.Commands.Retry), command.Commands.RetryAll),
		taskKey("copy-id", "y", "copy the task's id", "", a.on(command.Target.NoTask),
			func() tea.Cmd { return a.copy(a.target().Task.ID) }, nil),
		taskKey("open-pull-request", "P", "open its pull request in your browser", "", a.on(command.Target.NoAddress),
			a.browse, nil),
		taskKey("copy-address", "Y", "copy the address of its pull request", "", a.on(command.Target.NoAddress),
			func() tea.Cmd { return a.copy(a.target().Task.PRURL) }, nil),
	}
}

// say asks what to say to the agent: below the task in the list, else at the end of what is shown.
func (a *asks) say() tea.Cmd {
	end := func(size screen.Size) int { return size.Height }
	list := a.layout.list
	switch {
	case a.layout.belowList():
		end = func(size screen.Size) int { // below what the task needs, or at the end
			above, detail := a.layout.sizes(pageList, form.InPlace)
			if asked := a.layout.detail.NeedLines(detail); asked > 1 {
				return above.Height + asked - 1
			}
			return size.Height
		}
	case a.pages.page == pageList && !a.layout.split():
		end = func(size screen.Size) int { // the prompt takes lines of the list
			size.Height -= form.InPlace
			return list.CursorLine(size)
		}
		list.KeepVisible(list.RoomToAnswer(a.layout.body(), form.InPlace))
	}
	return a.begin(a.commands.Say(a.target(), end))
}

// copy puts a text into the person's clipboard, by the terminal's own means: that works over ssh too.
func (a *asks) copy(text string) tea.Cmd {
	a.foot.answer = "copied " + text
	return tea.SetClipboard(text)
}

// sayOpened says that a pull request is there where the foot says that it is being opened.
func (a *asks) sayOpened() {
	for i := range a.tasks.Rows {
		if t := *a.tasks.Rows[i].Task; t.PRURL != "" && a.foot.answer == command.PRUnderWay(t) {
			a.foot.answer = command.PRThere(t)
		}
	}
}

// browseResult tells what became of an address that was to be opened.
type browseResult struct {
	address string
	opened  bool
	err     error
}

// browse opens the pull request of the selected task where the person has a browser.
func (a *asks) browse() tea.Cmd {
	address, browser := a.target().Task.PRURL, a.backend.Terminal
	return func() tea.Msg {
		opened, err := browser.Browse(a.ctx, address)
		return browseResult{address, opened, err}
	}
}

// sayBrowsed says where the pull request is: one who has no browser here can open it elsewhere.
func (a *asks) sayBrowsed(b browseResult) {
	switch {
	case b.err != nil:
		a.foot.failures.answer("open "+b.address, b.err)
	case b.opened:
		a.foot.answer = "opened " + b.address
	default:
		a.foot.answer = fmt.Sprintf("there is no browser here: %s (%s copies it)", b.address,
			a.style.Keys.Of("copy-address"))
	}
}

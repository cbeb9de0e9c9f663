package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/detail"
	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

func firstLine(err error) string {
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// step moves the cursor, or what is read, by some lines.
func (m *Model) step(n int) tea.Cmd {
	switch m.place {
	case inDetail, inHelp, inTrouble:
		m.scrollBy(n)
		return nil
	case inBoard:
		m.board.Move(n, m.body())
	case inWorkspaces:
		m.workspaces.Move(n, m.body())
		return nil
	default:
		m.list.Move(n, m.body())
	}
	return m.afterMove()
}

// afterMove looks up what the newly selected task shows.
func (m *Model) afterMove() tea.Cmd {
	m.waits = waiting{}
	if m.split() {
		m.detail.Refresh()
	}
	return m.lookUp()
}

func (m *Model) goRight() tea.Cmd {
	if m.place == inBoard {
		m.board.MoveColumn(1, m.body())
		return m.afterMove()
	}
	if why := m.whyNoTask(); why != "" {
		m.said = why
		return nil
	}
	return m.showTab(m.detail.Tab)
}

func (m *Model) goLeft() tea.Cmd {
	switch m.place {
	case inBoard:
		m.board.MoveColumn(-1, m.body())
		return m.afterMove()
	case inDetail:
		m.leavePlace()
	}
	return nil
}

func (m *Model) goBack() tea.Cmd {
	switch m.place {
	case inList, inBoard:
		if m.tasks.Text != "" {
			m.tasks.Text = ""
			return m.chooseAgain("")
		}
		m.place = inList
	case inTrouble:
		m.trouble = trouble{} // it was read
		m.leavePlace()
	default:
		m.leavePlace()
	}
	return nil
}

func (m *Model) quit() tea.Cmd {
	switch m.place {
	case inList, inBoard:
		return m.leave()
	}
	return m.goBack()
}

// visit goes to a place from which Escape leads back here.
func (m *Model) visit(to place) {
	if m.place != to {
		m.trail = append(slices.Clip(m.trail), m.place)
	}
	m.place = to
	if t, found := m.selected(); found && to == inDetail {
		m.tasks.Pinned = t.ID
	}
}

// cameFrom is where Escape leads.
func (m *Model) cameFrom() place {
	if len(m.trail) == 0 {
		return inList
	}
	return m.trail[len(m.trail)-1]
}

// leavePlace goes back to where the person came from.
func (m *Model) leavePlace() {
	m.place = m.cameFrom()
	m.trail = m.trail[:max(0, len(m.trail)-1)]
	m.form = nil
	m.letGo()
}

// letGo lets the list hide the task that was looked at closely, unless the person still does or comes back to it.
func (m *Model) letGo() {
	if m.tasks.Pinned != "" && m.place != inDetail && !slices.Contains(m.trail, inDetail) {
		m.tasks.Pinned = ""
		m.tasks.ChooseAgain()
	}
	m.list.KeepVisible(m.body())
}

// lose leaves the task that was looked at closely where it is there no more: the next one in the list is another one.
// A form that is open stays, for what was written in it.
func (m *Model) lose() {
	if m.tasks.Pinned == "" || m.tasks.Has(m.tasks.Pinned) {
		return
	}
	if m.said == "" {
		m.said = "the task that you looked at is gone: it was deleted"
	}
	m.tasks.Pinned = ""
	if m.place == inDetail {
		m.place, m.trail = inList, nil
	}
	for i := range m.trail {
		if m.trail[i] == inDetail {
			m.trail = append(slices.Clone(m.trail[:i]), inList)
			break
		}
	}
}

func (m *Model) showHelp() tea.Cmd {
	m.visit(inHelp)
	m.help = screen.Scroll{}
	return nil
}

func (m *Model) whyNoTrouble() string {
	if len(m.trouble.told) == 0 {
		return "nothing went wrong that you have not read"
	}
	return ""
}

func (m *Model) showTrouble() tea.Cmd {
	m.visit(inTrouble)
	m.help = screen.Scroll{}
	return nil
}

func (m *Model) refresh() tea.Cmd {
	m.tasks.Forget()
	m.said = "looked again"
	if m.detailVisible() {
		m.detail.Refresh()
	}
	return tea.Batch(m.tasks.Reload(), m.workspaces.Load())
}

func (m *Model) nextFilter() tea.Cmd {
	m.tasks.Filter = m.tasks.Filter.Next()
	return m.chooseAgain("shown: " + m.tasks.Filter.String())
}

func (m *Model) nextOrder() tea.Cmd {
	m.tasks.Order = m.tasks.Order.Next()
	return m.chooseAgain("sorted by " + m.tasks.Order.String())
}

func (m *Model) whyNoScope() string {
	if _, found := m.selected(); !found && m.tasks.Project == "" {
		return "no task is selected, and so no project"
	}
	return ""
}

func (m *Model) nextScope() tea.Cmd {
	said := "the tasks of all projects"
	if m.tasks.Project == "" {
		t, _ := m.selected()
		m.tasks.Project, said = t.Project, "the tasks of "+t.Project
	} else {
		m.tasks.Project = ""
	}
	return m.chooseAgain(said)
}

// showTab shows one tab of the selected task: next to the list where the screen is split, else alone.
func (m *Model) showTab(tab detail.Tab) tea.Cmd {
	m.detail.Tab = tab
	if !m.split() {
		m.visit(inDetail)
	}
	m.detail.Refresh()
	return nil
}

// chooseAgain is the list after what is shown was changed. The cursor stays on its task where it can.
func (m *Model) chooseAgain(said string) tea.Cmd {
	m.tasks.ChooseAgain()
	m.list.KeepVisible(m.body())
	m.said = said
	return m.lookUp()
}

func (m *Model) find() tea.Cmd {
	m.list.Searching = true
	return nil
}

func (m *Model) toggleSplit() tea.Cmd {
	m.wantSplit = !m.wantSplit
	if m.place == inDetail {
		m.place, m.trail = inList, nil
		m.letGo()
	}
	if m.wantSplit && !m.split() {
		m.wantSplit = false
		m.said = "the screen is too narrow for both; l shows the task"
		return nil
	}
	if m.detailVisible() {
		m.detail.Refresh()
	}
	return nil
}

func (m *Model) toggleBoard() tea.Cmd {
	if m.place == inBoard {
		m.place = inList
		m.list.KeepVisible(m.body())
	} else {
		m.place = inBoard
		m.board.Open(m.body())
	}
	return m.lookUp()
}

func (m *Model) copyID() tea.Cmd {
	t, _ := m.selected()
	m.said = "copied " + t.ID
	return func() tea.Msg { return copied{t.ID} }
}

func (m *Model) openPR() tea.Cmd {
	t, _ := m.selected()
	moves := m.house.Moves
	return m.start("open a pull request for "+tasks.Name(t), func(ctx context.Context) (string, error) {
		said, err := outcome(moves.RequestPR(ctx, t.ID))
		if err == nil {
			said = "the pull request of " + tasks.Name(t) + " is under way"
		}
		return said, err
	})
}

func (m *Model) next() tea.Cmd {
	t, _ := m.selected()
	moves := m.house.Moves
	return m.start("move "+tasks.Name(t)+" on", func(ctx context.Context) (string, error) {
		return outcome(moves.Next(ctx, t.ID, "", ""))
	})
}

func (m *Model) retry() tea.Cmd {
	t, _ := m.selected()
	care := m.house.Care
	return m.start("try again what "+tasks.Name(t)+" owes", func(ctx context.Context) (string, error) {
		out, err := care.Retry(ctx, t.ID)
		if err == nil && len(out.Hooks) == 0 && out.Warning == "" {
			return tasks.Name(t) + " owes nothing", nil
		}
		return outcome(out, err)
	})
}

func (m *Model) askMerge() tea.Cmd {
	t, _ := m.selected()
	moves := m.house.Moves
	merge := func(strategy string) func(ctx context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			out, how, err := moves.Merge(ctx, t.ID, task.Merge{Strategy: strategy})
			said, err := outcome(out, err)
			return strings.TrimSuffix(said+"; "+how, "; "), err
		}
	}
	text := "Its branch goes into the default branch, and the task is finished."
	if judged := cmp.Or(m.judged(t), t.Subject.Words()); judged != "" {
		text += " Its work: " + judged + "."
	}
	return m.ask(question{
		title: "Merge " + tasks.Name(t) + "?", text: text,
		answers: []answer{
			{key: "y", label: "merge, forward only where that is possible", what: "merge " + tasks.Name(t),
				work: merge("")},
			{key: "f", label: "only if it can be a fast-forward", what: "merge " + tasks.Name(t), work: merge("ff")},
			{key: "c", label: "with a merge commit", what: "merge " + tasks.Name(t), work: merge("merge")},
		},
	})
}

// judged is how the branch of a task compares with the commit that was judged; empty where that is unknown.
func (m *Model) judged(t task.Task) string {
	work, _, _ := m.tasks.Work(t.ID)
	return work.Judged
}

// giveUp has the cursor stay at its place in the list when the task goes to those that are over.
func (m *Model) giveUp(t task.Task) {
	if m.place == inList {
		m.tasks.GivenUp = t.ID
	}
}

func (m *Model) askCancel() tea.Cmd {
	t, _ := m.selected()
	m.giveUp(t)
	moves := m.house.Moves
	return m.ask(question{
		title: "Cancel " + tasks.Name(t) + "?", text: "Its agents are ended; its branch and all work on it stay.",
		answers: []answer{
			{key: "y", label: "cancel it", what: "cancel " + tasks.Name(t),
				work: func(ctx context.Context) (string, error) {
					return outcome(moves.Command(ctx, t.ID, workflow.MoveCancel, ""))
				}}},
	})
}

func (m *Model) askDelete() tea.Cmd {
	t, _ := m.selected()
	m.giveUp(t)
	care := m.house.Care
	text := "Its folder goes to the trash; its branch and rescued work stay."
	if t.Live {
		text = "It is live and is cancelled first. " + text
	}
	return m.ask(question{
		title: "Delete " + tasks.Name(t) + "?", text: text,
		answers: []answer{
			{key: "y", label: "delete it", what: "delete " + tasks.Name(t),
				work: func(ctx context.Context) (string, error) {
					where, err := care.Delete(ctx, t.ID)
					if err != nil {
						return "", err
					}
					return strings.TrimSuffix(tasks.Name(t)+" is deleted; its folder is "+where, "; its folder is "),
						nil
				}}},
	})
}

func (m *Model) askOverride() tea.Cmd {
	t, _ := m.selected()
	moves := m.house.Moves
	to, err := decide.Overridable(m.tasks.Workflow(t), t, human())
	if err != nil {
		m.said = "o: " + firstLine(err)
		return nil
	}
	return m.write(writing{
		title: "Override: why?", needed: true,
		text: fmt.Sprintf(
			"%s is moved from %s to %s in spite of what is unmet. The reason stands in the history.", tasks.Name(t),
			t.Status, to),
		what: "override a move of " + tasks.Name(t), work: func(ctx context.Context, reason string) (string, error) {
			return outcome(moves.Next(ctx, t.ID, to, reason))
		},
	})
}

func (m *Model) askChanges() tea.Cmd {
	t, _ := m.selected()
	moves := m.house.Moves
	return m.write(writing{
		title: "Request changes: what?", text: "It goes into TASK.md of " + tasks.Name(t) +
			", and the worker is told. Without a text, what stands there counts.", long: true,
		what: "send " + tasks.Name(t) + " back", work: func(ctx context.Context, text string) (string, error) {
			return outcome(moves.RequestChanges(ctx, t.ID, text))
		},
	})
}

// attach gives the terminal away until the person comes back.
func (m *Model) attach(t task.Task) tea.Cmd {
	ctx, care := m.ctx, m.house.Care
	return lend(func() error { return care.Attach(ctx, t.ID, "") }, func(err error) tea.Msg {
		if err != nil {
			return failed{"attach to " + tasks.Name(t), err}
		}
		return changed{}
	})
}

// lend gives the terminal to something for a while, and tells what became of it. A fault in it ends the screen in
// good order.
func lend(do func() error, then func(error) tea.Msg) tea.Cmd {
	return tea.Exec(&away{do: do}, func(err error) tea.Msg {
		var broken *Broken
		if errors.As(err, &broken) {
			return broken
		}
		return then(err)
	})
}

// away is something that has the terminal for itself for a while. It brings its own streams.
type away struct{ do func() error }

func (a *away) Run() (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = &Broken{Where: "the terminal was given away", Why: why, Trace: debug.Stack()}
		}
	}()
	return a.do()
}
func (*away) SetStdin(io.Reader)  {}
func (*away) SetStdout(io.Writer) {}
func (*away) SetStderr(io.Writer) {}

func (m *Model) showWorkspaces() tea.Cmd {
	m.visit(inWorkspaces)
	return m.workspaces.Open(m.body())
}

// showHolder goes to the task that has the selected workspace.
func (m *Model) showHolder() tea.Cmd {
	m.workspaces.SelectTask()
	m.place, m.trail = inList, nil
	m.letGo()
	return m.afterMove()
}

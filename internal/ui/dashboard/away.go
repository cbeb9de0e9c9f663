package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/board"
	"orange/internal/ui/dashboard/elsewhere"
	"orange/internal/ui/dashboard/tasks"
)

// away is what the screen does for a person who looks elsewhere: it tells them of tasks that came to need them, and
// keeps how they left the screen.
type away struct {
	*elsewhere.Model
	keeper elsewhere.Keeper
	tasks  *tasks.Set
	board  *board.Model
	pages  *pages
	layout *layout
	foot   *foot
}

// update takes a message after the parts did.
func (a *away) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case elsewhere.Read:
		a.Signals = msg.Signals
		a.restore(msg.View)
		a.SetKept(a.words())
		if msg.Err != nil {
			a.foot.failures.add("read how you left the dashboard", msg.Err)
		}
	case clockTick, tasks.AgentsChecked:
		if text := a.News(a.tasks.Rows, a.tasks.Project, a.tasks.Now); text != "" {
			return a.Tell(text)
		}
	case tea.KeyPressMsg, tea.MouseClickMsg:
		if a.pages.page.ofAll() {
			return a.keep()
		}
	}
	return nil
}

// keep keeps how the person left the screen, where that changed.
func (a *away) keep() tea.Cmd {
	return a.Keep(a.keeper, a.tasks.Project, a.words(),
		func(err error) tea.Msg { return failureNews{"keep how you left the dashboard", err} })
}

// words are the view, the filter and the order of the screen.
func (a *away) words() string {
	view := "list"
	if a.pages.page == pageBoard {
		view = "board"
	}
	return strings.Join([]string{view, a.tasks.Filter.String(), a.tasks.Order.String()}, " ")
}

// restore shows the tasks as some words say, unless the person did something already. Words that are unknown change
// nothing.
func (a *away) restore(words string) {
	parts := strings.Fields(words)
	if len(parts) != 3 || a.tasks.Touched || a.pages.page != pageList {
		return
	}
	for f := range tasks.Filters {
		if f.String() == parts[1] {
			a.tasks.Filter = f
		}
	}
	for o := range tasks.Orders {
		if o.String() == parts[2] {
			a.tasks.Order = o
		}
	}
	a.tasks.ChooseAgain()
	if parts[0] == "board" {
		a.pages.page = pageBoard
		a.board.Open(a.layout.body())
	}
}

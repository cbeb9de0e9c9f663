package dashboard

import (
	"fmt"
	"strings"

	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// choice is what a person does to choose among the tasks: the filters, the order, the search, the marks.
type choice struct {
	tasks    *tasks.Set
	pages    *pages
	foot     *foot
	keyboard *keyboard
	style    *screen.Style
}

// showChosen shows the tasks that a changed filter, order or project leaves, and says so.
func (c *choice) showChosen(answer string) {
	c.tasks.ChooseAgain()
	c.foot.answer = answer
}

func (c *choice) nextFilter() {
	c.tasks.Filter = c.tasks.Filter.Next()
	c.showChosen("shown: " + c.tasks.Filter.String())
}

func (c *choice) nextOrder() {
	c.tasks.Order = c.tasks.Order.Next()
	c.showChosen("sorted by " + c.tasks.Order.String())
}

func (c *choice) noText() string {
	if c.tasks.Text == "" {
		return fmt.Sprintf("nothing is searched for; %s does, and %s has the moves of a task", c.style.Keys.Of("find"),
			c.style.Keys.Of("move"))
	}
	return ""
}

// match goes to another one of the tasks that hold the text, and from the last one to the first.
func (c *choice) match(n int) func() {
	return func() {
		if all := len(c.tasks.Shown); all > 0 {
			c.tasks.Select((c.tasks.Cursor + n + all) % all)
		}
		t, _ := c.tasks.Selected()
		c.show(t.ID)
	}
}

// show selects a task on the page that the person is on.
func (c *choice) show(id string) {
	if c.pages.page == pageDetail {
		c.tasks.Pinned = id
	}
	c.tasks.Reveal(id)
}

func (c *choice) noInbox() string {
	if _, found := c.tasks.NextInbox(); !found {
		return "no task needs you"
	}
	return ""
}

// nextInbox goes to the next task that needs the person: closely, where they look at one closely.
func (c *choice) nextInbox() {
	id, _ := c.tasks.NextInbox()
	if !c.pages.page.ofAll() && c.pages.page != pageDetail {
		c.pages.showList()
	}
	c.show(id) // each page says why it needs the person
}

func (c *choice) noProject() string {
	if _, found := c.tasks.Selected(); !found && c.tasks.Project == "" {
		return "no task is selected that would say which project"
	}
	return ""
}

func (c *choice) toggleProject() {
	if c.tasks.Project != "" {
		c.tasks.Project = ""
		c.showChosen("the tasks of all projects")
		return
	}
	t, _ := c.tasks.Selected()
	c.tasks.Project = t.Project
	c.showChosen("the tasks of " + t.Project)
}

// sayMarked says how many tasks are marked, and which keys act on them.
func (c *choice) sayMarked() {
	n := len(c.tasks.Picked())
	if n == 0 {
		c.foot.answer = "no task is marked"
		return
	}
	c.foot.answer = fmt.Sprintf("%d marked: %s act on all of them; Esc takes the marks away", n,
		strings.Join(c.keyboard.keys.many(), " "))
}

// less takes away the text that tasks must hold, or else the marks. It reports whether there was one of them.
func (c *choice) less() bool {
	switch {
	case c.tasks.Text != "":
		c.tasks.Text = ""
		c.showChosen("")
	case len(c.tasks.Picked()) > 0:
		c.tasks.PickNone()
		c.foot.answer = "no task is marked any more"
	default:
		return false
	}
	return true
}

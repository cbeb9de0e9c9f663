package dashboard

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
	"orange/internal/record"
	"orange/internal/task"
)

func (m *Model) updateCreation(msg tea.Msg) tea.Cmd {
	c := *m.form.creation
	k, pressed := msg.(tea.KeyPressMsg)
	name := ""
	if pressed {
		name = k.String()
	}
	if name == "esc" {
		if c.leaving || !c.written() || c.job != 0 {
			m.leaveCreation(c)
			return nil
		}
		c.leaving = true
		m.form = &form{creation: &c}
		return nil
	}
	if c.job != 0 {
		return nil // it is on its way as it stands
	}
	if pressed {
		c.leaving = false
	}
	switch last := c.focus == fields-1; {
	case name == "ctrl+s", name == "ctrl+enter", name == "enter" && last:
		return m.sendCreation(c)
	case name == "ctrl+e" && c.focus == fieldContext:
		m.form = &form{creation: &c}
		return m.edit(c.text(fieldContext))
	case name == "tab", name == "down", name == "enter":
		c.focus = (c.focus + 1) % fields
	case name == "shift+tab", name == "up":
		c.focus = (c.focus + fields - 1) % fields
	default:
		c = c.take(msg)
	}
	m.form = &form{creation: &c}
	return nil
}

func (m *Model) leaveCreation(c creation) {
	m.leavePlace()
	if c.job != 0 {
		m.said = "the task is still being created"
	}
}

// take puts what is typed or pasted into the field that is in focus.
func (c creation) take(msg tea.Msg) creation {
	switch {
	case c.focus.picked():
		c.picks[c.focus] = c.picks[c.focus].update(msg)
		return c.settle()
	case c.focus == fieldContext:
		return c.takeContext(msg)
	}
	c.lines[c.focus] = c.lines[c.focus].update(msg)
	return c
}

// takeContext is like a line until the text has several; then it is for the editor, and what is pasted goes to its end.
func (c creation) takeContext(msg tea.Msg) creation {
	pasted, isPaste := msg.(tea.PasteMsg)
	text := ""
	if isPaste {
		text = strings.Join(screen.CleanLines(newlines(pasted.Content)), "\n")
	}
	k, pressed := msg.(tea.KeyPressMsg)
	switch {
	case isPaste && c.context != "":
		return c.setContext(c.context + "\n" + text)
	case isPaste && strings.Contains(strings.Trim(text, "\n"), "\n"):
		return c.setContext(strings.TrimLeft(c.lines[fieldContext].text()+"\n"+text, "\n"))
	case c.context == "":
		c.lines[fieldContext] = c.lines[fieldContext].update(msg)
	case pressed && k.String() == "ctrl+u":
		return c.setContext("")
	}
	return c
}

func (c creation) setContext(text string) creation {
	text = strings.Trim(newlines(text), "\n")
	c.context = ""
	if strings.Contains(text, "\n") {
		c.context, text = text, ""
	}
	l := newLine(text)
	c.lines[fieldContext] = l
	return c
}

// learnEdited takes in what the editor left of the context.
func (c creation) learnEdited(msg edited) creation {
	if msg.err != nil {
		c.problem = msg.err.Error()
		return c
	}
	c.problem = ""
	return c.setContext(msg.text)
}

// wrong is what the form itself sees; the rest is the engine's to say.
func (c *creation) wrong() (string, field) {
	switch {
	case len(c.choices.Projects) == 0:
		return "There is no project yet. Open orange in a repository, or: orange project add PATH", fieldProject
	case len(c.text(fieldSummary)) > task.MaxSummary:
		return fmt.Sprintf("The summary has %d bytes, more than %d: put the rest into the context.",
			len(c.text(fieldSummary)), task.MaxSummary), fieldSummary
	case len(c.text(fieldContext)) > task.MaxContext:
		return fmt.Sprintf("The context has %d bytes, more than %d: put it into a file of the repository, and "+
			"name that.", len(c.text(fieldContext)), task.MaxContext), fieldContext
	}
	return "", c.focus
}

// sendCreation makes the task beside the screen. The form stays as it is until it is known what became of it.
func (m *Model) sendCreation(c creation) tea.Cmd {
	if !c.known {
		c.problem = ""
		m.form = &form{creation: &c}
		return m.lookUpChoices()
	}
	if c.problem, c.focus = c.wrong(); c.problem != "" {
		m.form = &form{creation: &c}
		return nil
	}
	name := c.text(fieldBranch)
	if name == "" {
		name = c.text(fieldSummary)
	}
	if name == "" {
		name = "a task"
	}
	what := "create " + screen.Cut(name, 40)
	moves, order := m.house.Moves, c.order()
	id, cmd := m.begin(what, func(ctx context.Context, id int) tea.Msg {
		out, err := moves.Create(ctx, order)
		said, failure := "", err
		if err == nil {
			said, failure = bornAs(out)
		}
		return created{form: c, out: out, done: finished{id, what, said, failure}}
	})
	c.job = id
	m.form = &form{creation: &c}
	return cmd
}

// bornAs tells what became of a new task.
func bornAs(out record.Outcome) (string, error) {
	said, err := outcome(out, nil)
	if err == nil && !out.Queued && !out.Event.IsMove() {
		said = fmt.Sprintf("created %s (%s)", tasks.Name(out.Task), out.Task.Status)
	}
	return said, err
}

// learnCreated closes the form if the task is there, and puts the cursor on it; what was refused is said in the form.
func (m *Model) learnCreated(msg created) tea.Cmd {
	refused := msg.out.Task.ID == ""
	shown := m.form != nil && m.form.creation != nil && m.form.creation.job == msg.done.id
	back := msg.form
	back.job = 0
	switch {
	case refused && shown:
		back.problem, msg.done.err = msg.done.err.Error(), nil
		m.form = &form{creation: &back}
	case refused:
		back.problem = msg.done.err.Error()
		m.unmade = &back // c shows it again
	case shown:
		m.leavePlace()
		m.wanted = msg.out.Task.ID
	}
	cmd := m.finish(msg.done)
	seek := m.seek()
	return tea.Batch(cmd, seek)
}

// seek puts the cursor on the task that was just created, once it is known.
func (m *Model) seek() tea.Cmd {
	if m.wanted == "" || !m.tasks.Reveal(m.wanted) {
		return nil
	}
	m.wanted = ""
	m.list.KeepVisible(m.body())
	return m.afterMove()
}

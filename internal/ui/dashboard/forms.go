package dashboard

import (
	"cmp"
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
)

func (m *Model) target() command.Target {
	r, found := m.tasks.SelectedRow()
	if !found {
		return command.Target{}
	}
	return targetOf(m, &r)
}

// begin does the first step of a command with the selected task.
func (m *Model) begin(step command.FirstStep) tea.Cmd {
	switch {
	case step.Ask != nil:
		m.openForm(step.Ask)
	case step.Prompt != nil:
		unsent := m.unsent[step.Prompt.What]
		if m.jobs.has(step.Prompt.What) {
			unsent = ""
		}
		m.openForm(step.Prompt)
		step.Prompt.Open(unsent, m.body())
		return step.Then
	case step.Menu != nil:
		m.openForm(step.Menu)
		return step.Menu.Load(m.ctx)
	case step.Attach:
		return attach(m.ctx, m.backend.Terminal, m.target().Task)
	case step.Message != "":
		m.messages.answer = step.Message
	}
	return nil
}

func (m *Model) openForm(f form.Form) {
	m.visit(pageForm)
	m.form = f
}

// openCreation opens the form for a new task. A task that was refused after the person left its form is shown again.
func (m *Model) openCreation() tea.Cmd {
	c := m.refused
	if m.refused = nil; c == nil {
		project := cmp.Or(m.tasks.Project, m.target().Task.Project)
		var all []*task.Task
		for i := range m.tasks.Rows {
			all = append(all, m.tasks.Rows[i].Task)
		}
		c = form.NewCreation(m.ctx, m.backend.Chooser, m.style, m.commands.Edit, project, all)
	}
	m.openForm(c)
	return c.Load()
}

// updateForm gives a message to the form that is open, and does what follows from it.
func (m *Model) updateForm(msg tea.Msg) tea.Cmd {
	if m.form == nil {
		return nil // it was closed meanwhile
	}
	open := m.form
	response := open.Update(msg, m.body())
	if response.Close {
		m.leavePage()
	}
	if response.Message != "" {
		m.messages.answer = response.Message
	}
	switch {
	case response.Then != nil:
		return response.Then()
	case response.Ask != nil || response.Prompt != nil:
		return m.begin(command.FirstStep{Ask: response.Ask, Prompt: response.Prompt, Then: response.Cmd})
	case response.Start != nil:
		m.unsent[response.Start.What] = response.Start.Text
		if response.Start.Many {
			m.tasks.PickNone()
		}
		return m.jobs.start(m.ctx, response.Start.What, response.Start.Work)
	case response.Create != nil:
		return m.create(open.(*form.Creation), *response.Create)
	}
	return response.Cmd
}

type created struct {
	form *form.Creation
	out  record.Outcome
	done finished
}

// create creates a task. Its form stays as it is until then.
func (m *Model) create(c *form.Creation, n task.New) tea.Cmd {
	what := "create " + screen.Cut(cmp.Or(n.Branch, n.Summary, "a task"), 40)
	ctx, runner := m.ctx, m.backend.Runner
	return m.jobs.run(what, func(id int) tea.Msg {
		out, err := runner.Create(ctx, n)
		message := ""
		if err == nil {
			message, err = m.commands.ReportCreated(out)
		}
		return created{c, out, finished{id, what, message, err}}
	})
}

// created closes the form of a task that is there, and selects the task. A form whose task was refused says why, or is
// kept for the next time where the person left it.
func (m *Model) created(msg created) tea.Cmd {
	open := m.form == form.Form(msg.form)
	switch refused := msg.out.Task.ID == ""; {
	case refused:
		msg.form.Failed(msg.done.err)
		if open {
			msg.done.err = nil
		} else {
			m.refused = msg.form
		}
	case open:
		m.leavePage()
		m.newTask = msg.out.Task.ID
	}
	return tea.Batch(m.finish(msg.done), m.selectNew())
}

// selectNew selects the task that was just created, once it is known.
func (m *Model) selectNew() tea.Cmd {
	if m.newTask == "" || !m.tasks.Reveal(m.newTask) {
		return nil
	}
	m.newTask = ""
	m.list.KeepVisible(m.body())
	return m.selectionChanged()
}

func (m *Model) finish(msg finished) tea.Cmd {
	m.jobs.end(msg.id)
	m.review.RefreshComments()
	var incomplete *command.Incomplete
	var several command.Several
	isIncomplete := errors.As(msg.err, &incomplete)
	if msg.err == nil || isIncomplete {
		delete(m.unsent, msg.what)
	}
	switch {
	case errors.Is(msg.err, context.Canceled):
	case errors.As(msg.err, &several):
		m.messages.answer = msg.message
		for _, one := range several {
			m.failures.answer(one.What, one.Err)
		}
	case isIncomplete:
		m.failures.answer("", incomplete)
	case msg.err != nil:
		m.failures.answer(msg.what, msg.err)
	case msg.message != "":
		m.messages.answer = msg.message
	}
	return m.tasks.Reload()
}

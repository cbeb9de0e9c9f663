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
	"orange/internal/ui/dashboard/tasks"
)

// asks are the forms and questions: what a command asks first, and the work that follows from the answer.
type asks struct {
	ctx      context.Context // commands end with it
	backend  Backend
	commands command.Commands
	style    *screen.Style
	tasks    *tasks.Set
	pages    *pages
	layout   *layout
	foot     *foot

	unsent  map[string]string // texts that were sent and did not arrive, by the names of their jobs
	refused *form.Creation    // a task that was refused after the person left its form
	newTask string            // a task that was just created: it is selected once it is known
}

// target is the selected task with what commands depend on.
func (a *asks) target() command.Target {
	r, found := a.tasks.SelectedRow()
	if !found {
		return command.Target{}
	}
	return a.targetOf(&r)
}

// marked are the marked tasks with what commands depend on.
func (a *asks) marked() []command.Target {
	rows := a.tasks.Picked()
	out := make([]command.Target, len(rows))
	for i := range rows {
		out[i] = a.targetOf(&rows[i])
	}
	return out
}

func (a *asks) targetOf(r *tasks.Row) command.Target {
	t := *r.Task
	work, _, _ := a.tasks.Work(t.ID)
	on := command.Target{Task: t, Selected: true, Workflow: a.tasks.Workflow(t),
		Unreadable: a.tasks.Unreadable(t), Agent: r.Agent, Judged: work.Judged, Keys: a.style.Keys}
	if origin, known := a.tasks.Origin(t.Project); known {
		on.Origin = &origin
	}
	return on
}

// begin does the first step of a command with the selected task.
func (a *asks) begin(step command.FirstStep) tea.Cmd {
	switch {
	case step.Ask != nil:
		a.pages.open(step.Ask)
	case step.Prompt != nil:
		unsent := a.unsent[step.Prompt.What]
		if a.foot.jobs.has(step.Prompt.What) {
			unsent = ""
		}
		a.pages.open(step.Prompt)
		step.Prompt.Open(unsent, a.layout.body())
		return step.Then
	case step.Menu != nil:
		a.pages.open(step.Menu)
		return step.Menu.Load(a.ctx)
	case step.Attach:
		return attach(a.ctx, a.backend.Terminal, a.target().Task)
	case step.Message != "":
		a.foot.answer = step.Message
	}
	return nil
}

// openCreation opens the form for a new task. A task that was refused after the person left its form is shown again.
func (a *asks) openCreation() tea.Cmd {
	c := a.refused
	if a.refused = nil; c == nil {
		project := cmp.Or(a.tasks.Project, a.target().Task.Project)
		var all []*task.Task
		for i := range a.tasks.Rows {
			all = append(all, a.tasks.Rows[i].Task)
		}
		c = form.NewCreation(a.ctx, a.backend.Chooser, a.style, a.commands.Edit, project, all)
	}
	a.pages.open(c)
	return c.Load()
}

// update gives a message to the form that is open, and does what follows from it.
func (a *asks) update(msg tea.Msg) tea.Cmd {
	open := a.pages.form
	if open == nil {
		return nil // it was closed meanwhile
	}
	response := open.Update(msg, a.layout.body())
	if response.Close {
		a.pages.leave()
	}
	if response.Message != "" {
		a.foot.answer = response.Message
	}
	switch {
	case response.Then != nil:
		return response.Then()
	case response.Ask != nil || response.Prompt != nil:
		return a.begin(command.FirstStep{Ask: response.Ask, Prompt: response.Prompt, Then: response.Cmd})
	case response.Start != nil:
		a.unsent[response.Start.What] = response.Start.Text
		if response.Start.Many {
			a.tasks.PickNone()
		}
		return a.foot.jobs.start(a.ctx, response.Start.What, response.Start.Work)
	case response.Create != nil:
		return a.create(open.(*form.Creation), *response.Create)
	}
	return response.Cmd
}

type creationResult struct {
	form *form.Creation
	out  record.Outcome
	done jobResult
}

// create creates a task. Its form stays as it is until then.
func (a *asks) create(c *form.Creation, n task.New) tea.Cmd {
	what := "create " + screen.Cut(cmp.Or(n.Branch, n.Summary, "a task"), 40)
	return a.foot.jobs.run(what, func(id int) tea.Msg {
		out, err := a.backend.Runner.Create(a.ctx, n)
		message := ""
		if err == nil {
			message, err = a.commands.ReportCreated(out)
		}
		return creationResult{c, out, jobResult{id, what, message, err}}
	})
}

// finishCreation closes the form of a task that is there, and selects the task. A form whose task was refused says why,
// or is kept for the next time where the person left it.
func (a *asks) finishCreation(msg creationResult) {
	open := a.pages.form == form.Form(msg.form)
	switch refused := msg.out.Task.ID == ""; {
	case refused:
		msg.form.Failed(msg.done.err)
		if open {
			msg.done.err = nil
		} else {
			a.refused = msg.form
		}
	case open:
		a.pages.leave()
		a.newTask = msg.out.Task.ID
	}
	a.finish(msg.done)
	a.selectNew()
}

// selectNew selects the task that was just created, once it is known.
func (a *asks) selectNew() {
	if a.newTask != "" && a.tasks.Reveal(a.newTask) {
		a.newTask = ""
	}
}

// finish forgets the text of a job that arrived, and says what became of the job.
func (a *asks) finish(msg jobResult) {
	if incomplete := (*command.Incomplete)(nil); msg.err == nil || errors.As(msg.err, &incomplete) {
		delete(a.unsent, msg.what)
	}
	a.foot.finish(msg)
}

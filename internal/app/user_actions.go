package app

import (
	"context"
	"errors"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/ui/dashboard"
)

// userActions change tasks in the name of the caller that opened the dashboard: an agent stays an agent.
type userActions struct {
	commands
	proc.Screen
}

func (u userActions) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	var err error
	if n.Actor, err = u.app.Actor(ctx, "", ""); err != nil {
		return record.Outcome{}, err
	}
	if n, err = u.Fill(ctx, n); err != nil {
		return record.Outcome{}, err
	}
	return u.Engine.Create(ctx, n)
}

// outcome is what became of a command.
type outcome = record.Outcome

// as does something to a task in the name of the caller.
func as[T any](ctx context.Context, u userActions, id string, do func(task.Actor) (T, error)) (none T, err error) {
	actor, err := u.app.Actor(ctx, id, "")
	if err != nil {
		return none, err
	}
	return do(actor)
}

func (u userActions) Command(ctx context.Context, id, word, reason string) (outcome, error) {
	return as(ctx, u, id, func(a task.Actor) (outcome, error) { return u.commands.Command(ctx, id, word, a, reason) })
}

func (u userActions) Move(ctx context.Context, id string, to task.Status, reason string) (outcome, error) {
	return as(ctx, u, id, func(a task.Actor) (outcome, error) {
		return u.Request(ctx, task.Request{Task: id, To: to, Actor: a, Reason: reason})
	})
}

func (u userActions) Redo(ctx context.Context, id string, to task.Status, reason string) (outcome, error) {
	return as(ctx, u, id, func(a task.Actor) (outcome, error) { return u.Engine.Redo(ctx, id, to, a, reason) })
}

func (u userActions) RequestChanges(ctx context.Context, id, text string) (outcome, error) {
	return as(ctx, u, id, func(a task.Actor) (outcome, error) { return u.Engine.RequestChanges(ctx, id, text, a) })
}

func (u userActions) Merge(ctx context.Context, id string, m task.Merge) (out outcome, how string, err error) {
	how, err = as(ctx, u, id, func(a task.Actor) (string, error) {
		out, how, err = u.Engine.Merge(ctx, id, m, a)
		return how, err
	})
	return out, how, err
}

func (u userActions) MergeMany(ctx context.Context, in record.MergeMany, told func(record.MergedOne)) error {
	_, err := as(ctx, u, "", func(a task.Actor) (bool, error) { return true, u.Engine.MergeMany(ctx, in, a, told) })
	return err
}

func (u userActions) Say(ctx context.Context, id, text string) (to string, err error) {
	return as(ctx, u, id, func(a task.Actor) (string, error) {
		to, _, err = u.commands.Say(ctx, id, "", text, a)
		return to, err
	})
}

func (u userActions) RequestPR(ctx context.Context, id string) (outcome, error) {
	return as(ctx, u, id, func(a task.Actor) (outcome, error) { return u.Engine.RequestPR(ctx, id, a) })
}

func (u userActions) Next(ctx context.Context, id string, to task.Status, override string) (outcome, error) {
	return as(ctx, u, id, func(a task.Actor) (outcome, error) {
		return u.Engine.Next(ctx, id, a, override != "", to, override)
	})
}

func (u userActions) Retry(ctx context.Context, id string) (outcome, error) {
	return as(ctx, u, id, func(a task.Actor) (outcome, error) { return u.commands.Retry(ctx, id, a) })
}

func (u userActions) Delete(ctx context.Context, id string) (record.DeletedTask, error) {
	return as(ctx, u, id, func(a task.Actor) (record.DeletedTask, error) { return u.commands.Delete(ctx, id, a) })
}

func (u userActions) Attach(ctx context.Context, id, role string) error {
	return proc.RestoreTerminal(u.app.call.In, func() error {
		_, err := u.commands.Attach(ctx, id, role, true)
		if err != nil {
			// A client that was killed left its terminal to the server, which sets it once more when it hears of that.
			// When the server answers the next question, it has.
			_, gone := u.app.server.Panes(ctx)
			err = errors.Join(err, gone)
		}
		return err
	})
}

// Choices are what a new task can be made from, and what it gets by default.
func (u userActions) Choices(ctx context.Context) (dashboard.Choices, error) {
	projects, noProjects := u.app.home.Projects()
	books, noBooks := u.books()
	filled, noDefaults := u.Fill(ctx, task.New{})
	known, noHarnesses := u.app.home.ListHarnesses(u.app.call.Getenv("PATH"))
	if err := errors.Join(noProjects, noBooks, noDefaults, noHarnesses); err != nil {
		return dashboard.Choices{}, err
	}
	return dashboard.Choices{Projects: projects, Workflows: books, Harnesses: known, Harness: filled.Harness,
		Review: filled.ReviewHarness}, nil
}

// books are the workflows that can be read, the default one first. Why one cannot be read is reported where
// it is asked for by its name.
func (u userActions) books() ([]dashboard.WorkflowChoice, error) {
	all, err := u.app.home.ListWorkflows()
	if err != nil {
		return nil, err
	}
	var out []dashboard.WorkflowChoice
	for _, l := range all {
		def, err := u.app.home.Read(l)
		if err != nil {
			continue
		}
		book := dashboard.WorkflowChoice{Name: l.Name, Rules: def}
		if l.Name == task.DefaultWorkflow {
			out = append([]dashboard.WorkflowChoice{book}, out...)
		} else {
			out = append(out, book)
		}
	}
	return out, nil
}

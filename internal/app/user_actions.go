package app

import (
	"context"
	"errors"
	"io"
	"os"

	"orange/internal/api/client"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/ui/cli"
	"orange/internal/ui/dashboard"
)

// userActions are what the dashboard asks for in the name of the caller that opened it, an agent stays an agent, and
// what it does with their terminal.
type userActions struct {
	client.Client
	proc.Screen
	app *app
}

// actions has each request done as the command line would do it: by the server of the home, or in this process.
func (a *app) actions() userActions {
	services := a.services()
	return userActions{app: a, Client: client.Client{
		Run: func(ctx context.Context, call remote.Call) (remote.Reply, error) {
			return cli.Perform(ctx, services, call, func(args []string, out, said io.Writer) cli.Forward {
				one := execution{place: a.place}
				one.call = a.call.Of(args, out, said)
				return one.forward
			}), ctx.Err()
		}}}
}

func (u userActions) Attach(ctx context.Context, id, role string) error {
	terminal, _ := u.app.call.In.(*os.File)
	return proc.RestoreTerminal(terminal, func() error {
		_, err := commands{u.app.engine, u.app}.Attach(ctx, id, role, true)
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
	filled, noDefaults := commands{u.app.engine, u.app}.Fill(ctx, task.New{})
	known, noHarnesses := u.app.home.ListHarnesses(proc.Getenv(ctx, "PATH"))
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

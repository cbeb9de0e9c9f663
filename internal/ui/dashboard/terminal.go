package dashboard

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/tasks"
)

// Terminal gives the terminal to other programs.
type Terminal interface {
	// Attach gives the terminal to the window of a task's agent until the person leaves it.
	Attach(ctx context.Context, id, role string) error
	// Edit gives the terminal to the person's editor, and returns the text as they left it.
	Edit(ctx context.Context, text string) (string, error)
	// EditAt gives it to the editor, with a line of a file that is there.
	EditAt(ctx context.Context, path string, line int) error
	// Page gives it to the person's pager, with a line of a text.
	Page(ctx context.Context, text string, line int) error
	// Browse opens an address of the web in the person's browser, and does not wait for that. It reports whether there
	// is one here.
	Browse(ctx context.Context, address string) (opened bool, err error)
}

// attach gives the terminal to the agent of a task until the person comes back.
func attach(ctx context.Context, terminal Terminal, t task.Task) tea.Cmd {
	return lend(func() error { return terminal.Attach(ctx, t.ID, "") }, func(err error) tea.Msg {
		if err != nil {
			return failureNews{"attach to " + tasks.Name(t), err}
		}
		return recordChange{}
	})
}

// editor gives the terminal to the person's editor, with a text in it.
func editor(ctx context.Context, terminal Terminal) func(text string) tea.Cmd {
	return func(text string) tea.Cmd {
		left := text
		return lend(func() (err error) {
			left, err = terminal.Edit(ctx, text)
			return err
		}, func(err error) tea.Msg { return form.Edited{Text: left, Err: err} })
	}
}

// lend gives the terminal to something else, and sends what then answers. A panic in it ends the screen in good order.
func lend(do func() error, then func(error) tea.Msg) tea.Cmd {
	return tea.Exec(&loan{do: do}, func(err error) tea.Msg {
		if fault, is := errors.AsType[*Fault](err); is {
			return fault
		}
		return then(err)
	})
}

// loan is something that has the terminal for a while. It has its own streams.
type loan struct{ do func() error }

func (l *loan) Run() (err error) {
	defer handOnPanic("the terminal was given away", func(f *Fault) { err = f })
	return l.do()
}
func (*loan) SetStdin(io.Reader)  {}
func (*loan) SetStdout(io.Writer) {}
func (*loan) SetStderr(io.Writer) {}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/dashboard"
	"orange/internal/proc"
	"orange/internal/record"
	"orange/internal/task"
)

// wishes asks in the name of whoever sits at the dashboard: an agent that opens it stays an agent.
type wishes struct{ house *house }

func (w wishes) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	var err error
	if n.Actor, err = w.house.Actor(ctx, "", ""); err != nil {
		return record.Outcome{}, err
	}
	if n, err = w.house.Fill(ctx, n); err != nil {
		return record.Outcome{}, err
	}
	return w.house.engine.Create(ctx, n)
}

func (w wishes) Command(ctx context.Context, id, command, reason string) (record.Outcome, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, err
	}
	return w.house.engine.Command(ctx, id, command, actor, reason)
}

func (w wishes) RequestChanges(ctx context.Context, id, text string) (record.Outcome, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, err
	}
	return w.house.engine.RequestChanges(ctx, id, text, actor)
}

func (w wishes) Merge(ctx context.Context, id string, m task.Merge) (record.Outcome, string, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, "", err
	}
	return w.house.engine.Merge(ctx, id, m, actor)
}

func (w wishes) RequestPR(ctx context.Context, id string) (record.Outcome, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, err
	}
	return w.house.engine.RequestPR(ctx, id, actor)
}

func (w wishes) Next(ctx context.Context, id string, to task.Status, override string) (record.Outcome, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, err
	}
	return w.house.engine.Next(ctx, id, actor, override != "", to, override)
}

func (w wishes) Respawn(ctx context.Context, id string) (record.Outcome, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, err
	}
	return w.house.Respawn(ctx, id, actor)
}

func (w wishes) Retry(ctx context.Context, id string) (record.Outcome, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, err
	}
	return w.house.Retry(ctx, id, actor)
}

func (w wishes) Delete(ctx context.Context, id string) (string, error) {
	actor, err := w.house.Actor(ctx, id, "")
	if err != nil {
		return "", err
	}
	return w.house.Delete(ctx, id, actor)
}

func (w wishes) Attach(ctx context.Context, id, role string) error {
	return proc.RestoreTerminal(os.Stdin, func() error {
		_, err := w.house.Attach(ctx, id, role, true)
		if err != nil {
			// A client that was killed left its terminal to the server, which sets it once more when it hears of that.
			// When the server answers the next question, it has.
			_, gone := w.house.server.Panes(ctx)
			err = errors.Join(err, gone)
		}
		return err
	})
}

// Edit opens $VISUAL, $EDITOR or vi on a file of its own.
func (w wishes) Edit(ctx context.Context, text string) (string, error) {
	dir, err := os.MkdirTemp("", "orange-edit")
	if err != nil {
		return text, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "context.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return text, fmt.Errorf("make a file to edit: %w", err)
	}
	words := strings.Fields(os.Getenv("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(os.Getenv("EDITOR"))
	}
	if len(words) == 0 {
		words = []string{"vi"}
	}
	err = proc.RestoreTerminal(os.Stdin, func() error {
		return proc.Interactive(ctx, proc.Command{Name: words[0], Args: append(words[1:], file)})
	})
	if err != nil {
		return text, fmt.Errorf("cannot edit the text: %w; set EDITOR to the program that you use", err)
	}
	changed, err := os.ReadFile(file)
	if err != nil {
		return text, fmt.Errorf("read the edited text: %w", err)
	}
	return string(changed), nil
}

// Choices are what a new task can be made from, what it gets when nobody says first.
func (w wishes) Choices(ctx context.Context) (dashboard.Choices, error) {
	projects, err := w.house.home.Projects()
	if err != nil {
		return dashboard.Choices{}, err
	}
	out := dashboard.Choices{Projects: projects}
	if out.Workflows, err = w.books(); err != nil {
		return dashboard.Choices{}, err
	}
	filled, err := w.house.Fill(ctx, task.New{})
	if err != nil {
		return dashboard.Choices{}, err
	}
	known, err := w.house.home.ListHarnesses()
	if err != nil {
		return dashboard.Choices{}, err
	}
	out.Harnesses, out.Review = []string{filled.Harness}, filled.ReviewHarness
	for _, one := range known {
		if one.Name != filled.Harness {
			out.Harnesses = append(out.Harnesses, one.Name)
		}
	}
	return out, nil
}

// books are the workflows that can be read, the default one first. Of one that cannot, whoever asks for it by
// name is told why.
func (w wishes) books() ([]dashboard.WorkflowChoice, error) {
	all, err := w.house.home.ListWorkflows()
	if err != nil {
		return nil, err
	}
	var out []dashboard.WorkflowChoice
	for _, l := range all {
		def, err := w.house.home.Read(l)
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

package app

import (
	"context"
	"os"
	"path/filepath"

	"orange/internal/cli"
	"orange/internal/shell"
	"orange/internal/task"
	"orange/internal/workflow"
)

// converse joins the conversation about a task to the command line that answers in it.
func converse(ctx context.Context, talk cli.Talk) (int, error) {
	dir, err := homeDir()
	if err != nil {
		return 0, err
	}
	one := &shell.Shell{In: os.Stdin, Out: results(), Terminal: isTerminal(os.Stdin),
		History: filepath.Join(dir, "shell_history")}
	return one.Run(ctx, talk)
}

// Pinned is a task with the very workflow that it was created under.
func (h *house) Pinned(ctx context.Context, id string) (task.Task, *workflow.Definition, error) {
	s, err := h.store.Load(ctx, id)
	if err != nil {
		return s.Task, nil, err
	}
	def, err := h.home.Pinned(ctx, s.Task.Workflow)
	return s.Task, def, err
}

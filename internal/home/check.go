package home

import (
	"errors"
	"os"
	"path/filepath"

	"orange/internal/task"
	"orange/internal/workflow"
)

// CheckWorkflow reads a file, or a workflow by name where there is no such file.
func (h *Home) CheckWorkflow(fileOrName string) (*workflow.Definition, error) {
	text, err := os.ReadFile(fileOrName)
	if errors.Is(err, os.ErrNotExist) && filepath.Base(fileOrName) == fileOrName {
		def, _, err := h.FindWorkflow(fileOrName)
		return def, err
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, task.Notef(task.ErrNotFound, "there is no file %q", fileOrName)
	}
	if err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot read the workflow: %v", err)
	}
	return h.ParseWorkflow(fileOrName, text)
}

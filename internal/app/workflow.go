package app

import (
	"errors"
	"os"
	"path/filepath"

	"orange/internal/cli"
	"orange/internal/home"
	"orange/internal/task"
	"orange/internal/workflow"
	"orange/internal/yaml"
)

// Workflows lists the workflows that a task can be created under, those that are wrong too.
func (h *house) Workflows() ([]cli.WorkflowFile, error) {
	all, err := h.home.ListWorkflows()
	if err != nil {
		return nil, err
	}
	out := make([]cli.WorkflowFile, len(all))
	for i, l := range all {
		out[i] = workflowFile(l)
		def, err := h.home.Read(l)
		var problems yaml.Problems
		switch {
		case errors.As(err, &problems):
			out[i].Problem = problems[0].Error()
		case err != nil:
			out[i].Problem = err.Error()
		default:
			out[i].Version, out[i].States = def.Version, len(def.States)
		}
	}
	return out, nil
}

func workflowFile(l home.Listed) cli.WorkflowFile {
	return cli.WorkflowFile{Name: l.Name, Source: l.Source, Hides: l.Hides, Text: string(l.Text)}
}

// Workflow finds a workflow by name.
func (h *house) Workflow(name string) (*workflow.Definition, cli.WorkflowFile, error) {
	def, l, err := h.home.FindWorkflow(name)
	return def, workflowFile(l), err
}

// WorkflowFolder is where the person's own workflow files stand.
func (h *house) WorkflowFolder() string { return h.home.WorkflowFolder() }

// CopyWorkflow makes a workflow of the person's own.
func (h *house) CopyWorkflow(name, from string) (cli.WorkflowFile, error) {
	def, l, err := h.home.CopyWorkflow(name, from)
	if err != nil {
		return cli.WorkflowFile{}, err
	}
	made := workflowFile(l)
	made.Version, made.States = def.Version, len(def.States)
	return made, nil
}

// CheckWorkflow reads a file, or a workflow by name where there is no such file.
func (h *house) CheckWorkflow(fileOrName string) (*workflow.Definition, error) {
	text, err := os.ReadFile(fileOrName)
	if errors.Is(err, os.ErrNotExist) && filepath.Base(fileOrName) == fileOrName {
		def, _, err := h.home.FindWorkflow(fileOrName)
		return def, err
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, task.Notef(task.ErrNotFound, "there is no file %q", fileOrName)
	}
	if err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot read the workflow: %v", err)
	}
	return h.home.ParseWorkflow(fileOrName, text)
}

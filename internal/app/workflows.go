package app

import (
	"errors"

	"orange/internal/app/simulation"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
	"orange/internal/store/home"
	"orange/internal/ui/cli"
)

// workflowFiles are the workflows as the command line shows them.
type workflowFiles struct {
	*home.Home
	simulation.Runner
}

// Workflows lists the workflows that a task can be created under, those that are wrong too.
func (w workflowFiles) Workflows() ([]cli.WorkflowFile, error) {
	all, err := w.ListWorkflows()
	if err != nil {
		return nil, err
	}
	out := make([]cli.WorkflowFile, len(all))
	for i, l := range all {
		def, err := w.Read(l)
		out[i] = workflowFile(def, l)
		if problems, are := errors.AsType[yaml.Problems](err); are {
			err = problems[0]
		}
		if err != nil {
			out[i].Problem = err.Error()
		}
	}
	return out, nil
}

// workflowFile is a workflow with its text; def is nil where that cannot be read.
func workflowFile(def *workflow.Definition, l home.Listed) cli.WorkflowFile {
	out := cli.WorkflowFile{Name: l.Name, Source: l.Source, Hides: l.Hides, Text: string(l.Text)}
	if def != nil {
		out.Version, out.Digest, out.States = def.Version, def.Digest, len(def.States)
	}
	return out
}

// Workflow finds a workflow by name.
func (w workflowFiles) Workflow(name string) (*workflow.Definition, error) {
	def, _, err := w.FindWorkflow(name)
	return def, err
}

// CopyWorkflow makes a workflow of the person's own.
func (w workflowFiles) CopyWorkflow(name, from string) (cli.WorkflowFile, error) {
	def, l, err := w.Home.CopyWorkflow(name, from)
	return workflowFile(def, l), err
}

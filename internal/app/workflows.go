package app

import (
	"errors"

	"orange/internal/app/simulation"
	"orange/internal/cli"
	"orange/internal/home"
	"orange/internal/workflow"
	"orange/internal/yaml"
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
		out[i] = workflowFile(l)
		def, err := w.Read(l)
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
func (w workflowFiles) Workflow(name string) (*workflow.Definition, error) {
	def, _, err := w.FindWorkflow(name)
	return def, err
}

// CopyWorkflow makes a workflow of the person's own.
func (w workflowFiles) CopyWorkflow(name, from string) (cli.WorkflowFile, error) {
	def, l, err := w.Home.CopyWorkflow(name, from)
	if err != nil {
		return cli.WorkflowFile{}, err
	}
	made := workflowFile(l)
	made.Version, made.States = def.Version, len(def.States)
	return made, nil
}

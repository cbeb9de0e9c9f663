package cli

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// WorkflowFile is a workflow that can be had.
type WorkflowFile struct {
	Name string `json:"name"`
	// Source is its path, or BuiltIn.
	Source  string `json:"source"`
	Hides   bool   `json:"hides_built_in"`
	Version int    `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
	States  int    `json:"states,omitempty"` // how many
	// Problem is the first thing that is wrong with it; empty when nothing is.
	Problem string `json:"problem,omitempty"`
	Text    string `json:"text,omitempty"`
}

// BuiltIn is the source of a workflow that ships.
const BuiltIn = "built in"

func workflowCommands(p *Program) *cobra.Command {
	return p.group("workflow", "Show, check and change workflows, the rules by which tasks move",
		"  orange workflow list\n  orange workflow new mine --from default\n  orange workflow check mine",
		workflowList, workflowShow, workflowPath, workflowNew, workflowCheck,
		workflowSimulate, workflowGraph, workflowSchema, workflowMigrate)
}

// workflowNamed finds a workflow that can be had, be it sound or broken.
func workflowNamed(h *Services, name string) (WorkflowFile, error) {
	all, err := h.Workflows.Workflows()
	if err != nil {
		return WorkflowFile{}, err
	}
	var names []string
	for _, one := range all {
		if one.Name == name {
			return one, nil
		}
		names = append(names, one.Name)
	}
	return WorkflowFile{}, task.Notef(task.ErrNotFound, "there is no workflow %q%s; %q lists them", name,
		yaml.Guess(name, names), "orange workflow list")
}

// statesOf are the names of the states of all workflows, each once and sorted, and the quoted names of the workflows
// that cannot be read.
func statesOf(h *Services) (states, unread []string, err error) {
	files, err := h.Workflows.Workflows()
	for _, file := range files {
		def, no := h.Workflows.Workflow(file.Name)
		if no != nil {
			unread = append(unread, strconv.Quote(file.Name))
			continue
		}
		states = append(states, stateNames(def)...)
	}
	slices.Sort(states)
	return slices.Compact(states), unread, err
}

func stateNames(def *workflow.Definition) []string {
	names := make([]string, len(def.States))
	for i := range def.States {
		names[i] = string(def.States[i].Name)
	}
	return names
}

package decide

import (
	"cmp"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Preferences are a person's settings for tasks whose creator does not choose.
type Preferences struct {
	Harness       string // the harness of workers, which is installed
	ReviewHarness string // the harness of reviewers; empty if it is the worker's
}

// WithDefaults gives a new task what its creator left out: the workflow of its project, and the harnesses that the
// person prefers. A reviewer gets the worker's chosen harness before the preferred one.
func WithDefaults(n task.New, p Preferences) task.New {
	n.Workflow = cmp.Or(n.Workflow, n.Project.Workflow, task.DefaultWorkflow)
	n.ReviewHarness = cmp.Or(n.ReviewHarness, n.Harness, p.ReviewHarness, p.Harness)
	n.Harness = cmp.Or(n.Harness, p.Harness)
	return n
}

// UsualHarnesses lists the harnesses to try for a new task if its person prefers none: it gets the first that is
// installed, or, if none is, the first of the list.
func UsualHarnesses() []string { return []string{"claude", "codex", "opencode", "gemini", "pi"} }

// initialStatus is where a new task begins: in the status that its creator asks for, or, if a person has it start at
// once and gives no summary, in the status in which the workflow has questions asked.
func initialStatus(def *workflow.Definition, n task.New) task.Status {
	if n.Status != "" {
		return n.Status
	}
	if strings.TrimSpace(n.Summary) == "" && n.Spawn && isPerson(n.Actor) {
		if to, found := def.Move(workflow.MoveClarify); found {
			return to
		}
	}
	return def.Initial
}

// FirstMove is where a new task begins, and where starting it at once leads. Started is empty if the creation starts
// nothing, or starts its agent itself.
func FirstMove(def *workflow.Definition, n task.New) (in, started task.Status) {
	in = initialStatus(def, n)
	if n.Spawn && in == def.Initial {
		if to, err := SpawnTarget(def, task.Task{Status: in}); err == nil {
			started = to
		}
	}
	return in, started
}

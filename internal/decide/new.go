package decide

import (
	"cmp"
	"strings"

	"orange/internal/task"
	"orange/internal/workflow"
)

// Preferences are what a person has set for tasks that do not say it themselves.
type Preferences struct {
	Harness       string // that of workers, which is installed
	ReviewHarness string // that of reviewers; empty where it is the worker's
}

// WithDefaults gives a new task what its creator left out: the workflow of its project, and the harnesses that the
// person prefers. A reviewer gets the harness that was chosen for the worker before the preferred one.
func WithDefaults(n task.New, p Preferences) task.New {
	n.Workflow = cmp.Or(n.Workflow, n.Project.Workflow, task.DefaultWorkflow)
	n.ReviewHarness = cmp.Or(n.ReviewHarness, n.Harness, p.ReviewHarness, p.Harness)
	n.Harness = cmp.Or(n.Harness, p.Harness)
	return n
}

// UsualHarnesses lists the harnesses of which a new task gets the first that is installed, if its person prefers none.
// If none is installed, it gets the first of all.
func UsualHarnesses() []string { return []string{"claude", "codex", "opencode", "gemini", "pi"} }

// InitialStatus is where a new task begins: where its creator wants it, or, for one without a summary that is started
// at once, where the workflow has its questions asked.
func InitialStatus(def *workflow.Definition, n task.New) task.Status {
	if n.Status != "" {
		return n.Status
	}
	if strings.TrimSpace(n.Summary) == "" && n.Spawn {
		if to, found := def.Move(workflow.MoveClarify); found {
			return to
		}
	}
	return def.Initial
}

// FirstMove is where a new task begins, and where starting it at once leads; started is empty where its creation
// starts nothing or starts its agent itself.
func FirstMove(def *workflow.Definition, n task.New) (in, started task.Status) {
	in = InitialStatus(def, n)
	if n.Spawn && in == def.Initial {
		if to, err := SpawnTarget(def, task.Task{Status: in}); err == nil {
			started = to
		}
	}
	return in, started
}

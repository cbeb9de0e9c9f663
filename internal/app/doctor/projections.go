package doctor

import (
	"context"
	"strings"

	"orange/internal/rules/task"
)

// Projections are the files that mirror the record in a form of the task's own workflow.
type Projections interface {
	// Projects reports whether a workflow has any.
	Projects(ctx context.Context, ref task.WorkflowRef) (bool, error)
	// Differ tells in words where they are not what the history says.
	Differ(ctx context.Context, t task.Task, lines []string) ([]string, error)
}

// shown is a task whose workflow projects files, with its history.
type shown struct {
	task  task.Task
	lines []string
}

// projecting says of every task whether its workflow projects files. Each workflow is asked for once.
func (d *Doctor) projecting(ctx context.Context, tasks []task.Task) (map[string]bool, []finding) {
	var out []finding
	known, has := map[string]bool{}, map[string]bool{}
	for _, t := range tasks {
		digest := t.Workflow.Digest
		if _, asked := known[digest]; !asked {
			projects, err := d.Projections.Projects(ctx, t.Workflow)
			if known[digest] = projects; err != nil {
				out = append(out, blind(checkMirrors, t.ID, err))
			}
		}
		has[t.ID] = known[digest]
	}
	return has, out
}

// projections compares what workflows project with the histories.
func (d *Doctor) projections(ctx context.Context, all []shown) []finding {
	var out []finding
	for _, one := range all {
		id := one.task.ID
		differs, err := d.Projections.Differ(ctx, one.task, one.lines)
		if err != nil {
			out = append(out, blind(checkMirrors, id, err))
		}
		if len(differs) == 0 {
			continue
		}
		out = append(out, problem(checkMirrors, id, strings.Join(differs, "; "), "orange doctor --fix").
			by("made equal to the record; what was written is kept, and noted in the history",
				func(ctx context.Context) error { return d.Repairs.Sync(ctx, id) }))
	}
	return out
}

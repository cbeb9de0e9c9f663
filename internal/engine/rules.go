package engine

import (
	"context"
	"errors"

	"orange/internal/proof/replay"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// rulesOf is the workflow by which a task moves now: the one that it was created under, with what its project protects
// and a person did not allow it to change.
func (e *core) rulesOf(ctx context.Context, t task.Task) (*workflow.Definition, error) {
	def, err := e.pinned(ctx, t.Workflow)
	if err != nil {
		return nil, err
	}
	project, err := e.projectOf(t)
	if err != nil || len(project.Protected) == 0 {
		return def, err
	}
	events, err := e.record.Events(ctx, t.ID, 0)
	if err != nil {
		return nil, err
	}
	return replay.Protecting(def, project.Protected, events), nil
}

// projectOf is the project of a task; empty where it is not registered any more.
func (e *core) projectOf(t task.Task) (task.Project, error) {
	project, err := e.registered(t.Project)
	if errors.Is(err, task.ErrNotFound) {
		err = nil
	}
	return project, err
}

// projectFor is the project of a task that there is already; empty where that is gone.
func (e *core) projectFor(ctx context.Context, id string) (task.Project, error) {
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return task.Project{}, err
	}
	return e.projectOf(s.Task)
}

// present is the present workflow of a name; a person hears what is new of it.
func (e *core) present(ctx context.Context, rules Rules, name string, of task.Project) (*workflow.Definition, error) {
	def, news, err := rules.Named(ctx, name, of)
	for _, text := range news {
		e.warn("", text)
	}
	return def, err
}

// timeoutsOf are those that a task's project sets. A project that is not registered sets none.
func (e *core) timeoutsOf(t task.Task) (task.Timeouts, error) {
	project, err := e.projectOf(t)
	if err != nil {
		return nil, err
	}
	return project.ReadTimeouts()
}

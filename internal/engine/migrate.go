package engine

import (
	"context"

	"orange/internal/proof/graph"
	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// migration is what a task is given: rules, and the states of these rules that stand for some of its own.
type migration struct {
	def    *workflow.Definition
	stands map[task.Status]task.Status
}

// into is the state that stands for one of the task's own; one that is not named stands for itself.
func (m migration) into(from task.Status) task.Status {
	if to, named := m.stands[from]; named {
		return to
	}
	return from
}

// changes reports whether the migration gives a task anything that it has not.
func (m migration) changes(t task.Task) bool {
	return t.Workflow.Digest != m.def.Digest || m.into(t.Status) != t.Status
}

// decideMigration is the decision on a task, and what its new rules ask for and do that its own did not.
func (e *requests) decideMigration(ctx context.Context, m migration, s record.Snapshot, evidence decide.Evidence,
	actor task.Actor) (record.Change, []string, error) {
	was, err := e.workflow(ctx, s.Task.Workflow)
	if err != nil {
		return record.Change{}, nil, err
	}
	c, err := decide.Migrate(m.def, s.Task, s.Owed, m.stands, evidence, actor, e.now())
	return c, graph.Changes(was, m.def), err
}

// Migrate gives a task the rules of the present workflow of a name. Status maps states of the task's workflow to
// states of the present one; a state that it does not name maps to itself. Migrate leaves a task that has these
// rules already as it is.
func (e *requests) Migrate(ctx context.Context, id, name string, status map[task.Status]task.Status,
	actor task.Actor) (record.Outcome, error) {
	project, err := e.projectFor(ctx, id)
	if err != nil {
		return record.Outcome{}, err
	}
	def, err := e.present(ctx, e.rules, name, project)
	if err != nil {
		return record.Outcome{}, err
	}
	m := migration{def, status}
	var changes []string
	look := e.looks.withDocument("", func(s step) (*workflow.Definition, []workflow.Part) {
		// what the rules want to know that the task comes to
		return def, decide.NeedsOnEntry(def, m.into(s.Task.Status))
	})
	s, moved, err := e.do(ctx, id, look, func(s step) (*ruling, error) {
		if !m.changes(s.Task) {
			return nil, nil
		}
		c, news, err := e.decideMigration(ctx, m, s.Snapshot, s.evidence, actor)
		changes = news
		return &ruling{change: c, in: replay.Inputs{Ask: replay.AskMigrate, Stands: status}.By(actor)}, err
	})
	if err != nil || !moved {
		e.files.restoreFiles(ctx, id)
		return record.Outcome{Task: s.Task}, err
	}
	out, err := e.outcomes.announce(ctx, s.Task, s.Task.Seq)
	out.Changes = changes
	return out, err
}

// WouldMigrate is what Migrate would do with a task as it is on record, or its refusal. It changes nothing.
func (e *requests) WouldMigrate(ctx context.Context, id, name string, status map[task.Status]task.Status,
	actor task.Actor) (record.Outcome, error) {
	project, err := e.projectFor(ctx, id)
	if err != nil {
		return record.Outcome{}, err
	}
	def, err := e.rules.Tried(name, project)
	if err != nil {
		return record.Outcome{}, err
	}
	s, err := e.record.Load(ctx, id)
	m := migration{def, status}
	if err != nil || !m.changes(s.Task) {
		return record.Outcome{Task: s.Task}, err
	}
	// What the new rules want to know at an entry refuses nothing: no one has to look for it.
	c, changes, err := e.decideMigration(ctx, m, s, decide.Evidence{}, actor)
	if err != nil {
		return record.Outcome{}, err
	}
	return record.Outcome{Task: c.Task, Moved: true, Changes: changes}, nil
}

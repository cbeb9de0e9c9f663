package engine

import (
	"context"
	"fmt"
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// withDocument looks at a task's whole document, and at the parts that needs names, by the workflow that they belong
// to, on the way to a status (empty if the task does not move).
func (e *looks) withDocument(to task.Status, needs func(step) (*workflow.Definition, []workflow.Part)) look {
	return func(ctx context.Context, id string) (s step, err error) {
		if s.Snapshot, s.evidence, err = e.files.inspect(ctx, id, wholeDocument); err != nil {
			return s, err
		}
		if s.def, err = e.rulesOf(ctx, s.Task); err != nil {
			return s, err
		}
		var parts []workflow.Part
		s.def, parts = needs(s)
		tree := decide.WantsTree(s.def, s.Task, to)
		return s, e.addFacts(ctx, s.Snapshot, s.def, tree, parts, &s.evidence, to)
	}
}

// lookFor loads the task, and reads what a request depends on: all of the document if a gate may ask for it, else
// its header alone. It does not look at what is known already.
func (e *looks) lookFor(r *request) look {
	return func(ctx context.Context, id string) (step, error) {
		for {
			s, before, err := e.inspectFor(ctx, id, r)
			if err != nil {
				return s, err
			}
			if renamed, err := e.followBranch(ctx, s.Snapshot); err != nil || renamed {
				if err != nil {
					return s, err
				}
				continue
			}
			if s.Task.Status != before.Status || s.Task.Previous != before.Previous {
				continue // another process moved it while its files were compared
			}
			parts := decide.Needs(s.def, s.Task, r.To)
			if r.known != nil {
				parts = slices.DeleteFunc(parts, func(p workflow.Part) bool {
					_, is := r.known.facts[p.Key()]
					return is
				})
			}
			tree := decide.WantsTree(s.def, s.Task, r.To)
			err = e.addFacts(ctx, s.Snapshot, s.def, tree, parts, &s.evidence, r.To)
			if err == nil && r.known != nil {
				s.evidence = r.known.in(s.evidence)
			}
			return s, err
		}
	}
}

// inspectFor inspects the task of a request. before is the task as it was when it was decided what to read of it.
func (e *looks) inspectFor(ctx context.Context, id string, r *request) (s step, before task.Task, err error) {
	s.Snapshot, s.evidence, err = e.files.inspect(ctx, id, func(now record.Snapshot) (whole bool, err error) {
		if s.def, err = e.rulesOf(ctx, now.Task); err == nil {
			err = r.begins(s.def, now)
		}
		if err != nil {
			return false, err
		}
		before = now.Task
		return decide.NeedsDocument(decide.Needs(s.def, now.Task, r.To)), nil
	})
	return s, before, err
}

// followBranch takes over the name that someone gave the task's branch in its workspace, and reports whether it did.
// It ignores a name that the task cannot have: it can read the branch all the same.
func (e *looks) followBranch(ctx context.Context, s record.Snapshot) (bool, error) {
	name := subjectOf(ctx, e.work, s, false).Branch
	if name == "" || name == s.Task.Branch {
		return false, nil
	}
	project, err := e.registered(s.Task.Project)
	if err != nil {
		return false, err
	}
	renamed := s.Task
	renamed.Branch = name
	if e.checkBranch(ctx, project, renamed) != nil {
		return false, nil
	}
	data := map[string]string{history.DataBranch: name}
	if session := e.renameSession(ctx, s.Task, name); session != "" {
		data[history.DataSession] = session
	}
	_, _, err = e.change(ctx, s.Task.ID, func(s record.Snapshot) (record.Change, bool, error) {
		t := s.Task
		t.Branch, t.UpdatedAt = name, e.now()
		told := inSession(&t, data)
		return record.Change{Task: t, Expect: s.Task.Version, Events: []history.Event{{
			Time: t.UpdatedAt, Type: history.Updated, Actor: task.ActorEngine,
			Reason: "its branch was renamed in the workspace",
			Data:   told,
		}}}, true, nil
	})
	return err == nil, err
}

// addFacts adds to the evidence its subject, and what the parts ask for outside the document. tree reports whether
// the content of the worktree belongs to it. No lock is held meanwhile: a check may take its time.
func (e *looks) addFacts(ctx context.Context, s record.Snapshot, def *workflow.Definition, tree bool,
	parts []workflow.Part, evidence *decide.Evidence, to ...task.Status) error {
	evidence.Subject = subjectOf(ctx, e.work, s, tree)
	if decide.LooksBack(def, s.Task, to...) {
		var err error
		if evidence.History, err = e.record.Events(ctx, s.Task.ID, 0); err != nil {
			return err
		}
	}
	parts = slices.DeleteFunc(parts, func(p workflow.Part) bool { return p.Section != "" })
	if len(parts) == 0 {
		return nil
	}
	git := slices.ContainsFunc(parts, func(p workflow.Part) bool { return p.Git != "" })
	for range maxConflicts {
		facts, err := e.facts(ctx, s.Task, def, parts)
		if err != nil {
			return fmt.Errorf("look at the evidence of task %s: %w", s.Task.ID, err)
		}
		evidence.Facts = facts
		if !git || subjectOf(ctx, e.work, s, false).Commit == evidence.Subject.Commit && evidence.Agrees(s.Task) {
			return nil
		}
		// what was seen is about another commit than the one that was noted
		evidence.Subject = subjectOf(ctx, e.work, s, tree)
	}
	return task.Notef(task.ErrConflict, "cannot look at the evidence of task %s: its branch keeps moving; "+
		"stop what commits there, and try again", s.Task.ID)
}

// subjectOf is what evidence of a task is about at this moment. A task without a workspace has none; while a workspace
// is being prepared, its content is not the task's.
func subjectOf(ctx context.Context, work Work, s record.Snapshot, tree bool) task.Subject {
	switch {
	case s.Task.Workspace == "":
		return task.Subject{}
	case movingIn(s.Owed):
		return task.Subject{Trouble: "its workspace is being made ready"}
	}
	return work.Subject(ctx, s.Task, tree)
}

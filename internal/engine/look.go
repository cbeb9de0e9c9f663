package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

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
	name := e.subjectOf(ctx, s, false).Branch
	if name == "" || name == s.Task.Branch {
		return false, nil
	}
	project, err := e.project(s.Task.Project)
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
	evidence.Subject = e.subjectOf(ctx, s, tree)
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
		if !git || e.subjectOf(ctx, s, false).Commit == evidence.Subject.Commit && evidence.Agrees(s.Task) {
			return nil
		}
		// what was seen is about another commit than the one that was noted
		evidence.Subject = e.subjectOf(ctx, s, tree)
	}
	return task.Notef(task.ErrConflict, "cannot look at the evidence of task %s: its branch keeps moving; "+
		"stop what commits there, and try again", s.Task.ID)
}

// subjectOf is what evidence of a task is about at this moment. A task without a workspace has none; while a workspace
// is being prepared, its content is not the task's.
func (e *looks) subjectOf(ctx context.Context, s record.Snapshot, tree bool) task.Subject {
	switch {
	case s.Task.Workspace == "":
		return task.Subject{}
	case movingIn(s.Owed):
		return task.Subject{Trouble: "its workspace is being made ready"}
	}
	return e.work.Subject(ctx, s.Task, tree)
}

// dataDigest is, in the data of a finished check, the digest of what it printed.
const dataDigest = "digest"

// NoteCheck adds the end of a check to the task's history, with the digest of the result that is kept in the
// task's folder.
func (e *looks) NoteCheck(ctx context.Context, id string, result task.CheckResult, digest string) error {
	err := e.note(ctx, id, task.Actor{Rule: true}, history.Event{Type: history.CheckFinished, Reason: result.Trouble,
		Data: map[string]string{
			history.DataCheck: result.Name, "head": result.Head, "status": strconv.Itoa(result.Status),
			"took": result.Took, dataDigest: digest,
		}})
	if err != nil {
		return err
	}
	return e.files.Sync(ctx, id)
}

// NotedCheck returns the digest of a check's last result from the history; empty if the check never ran.
// An agent can write to the file with the result: it counts only if its digest is the one in the history.
func (e *looks) NotedCheck(ctx context.Context, id, check string) (string, error) {
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return "", err
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == history.CheckFinished && events[i].Data[history.DataCheck] == check {
			return events[i].Data[dataDigest], nil
		}
	}
	return "", nil
}

// checkBranch returns why a task cannot have its branch, or nil if it can. The commit checks again that no other
// live task has it.
func (e *looks) checkBranch(ctx context.Context, p task.Project, t task.Task) error {
	if t.Branch == p.DefaultBranch {
		return task.Notef(task.ErrUsage,
			"cannot use the branch %q for a task: it is the default branch of %q, where only reviewed work belongs",
			t.Branch, p.Name)
	}
	others, err := e.record.List(ctx, record.Filter{Project: t.Project, Branch: t.Branch, Live: true})
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID != t.ID {
			return task.Notef(task.ErrBranchTaken, "cannot use the branch %q: the live task %s has it", t.Branch, o.ID)
		}
	}
	return e.work.CheckBranch(ctx, t)
}

func (e *looks) setBranch(ctx context.Context, t task.Task, name string) (string, error) {
	if name != "" {
		project, err := e.project(t.Project)
		if err != nil {
			return "", err
		}
		wanted := t
		wanted.Branch = name
		if err := e.checkBranch(ctx, project, wanted); err != nil {
			return "", err
		}
	}
	if t.Workspace == "" {
		if name == "" {
			return "", task.Notef(task.ErrUsage,
				"cannot take over the branch of task %s: it has no workspace; give the branch a name", t.ID)
		}
		return name, nil
	}
	return e.work.SetBranch(ctx, t, name)
}

// renameSession renames a task's session after its branch. It returns the new name, or the empty string where that
// is the name on record. A session that keeps its name does no harm: Orange finds the task's windows by their marks.
func (e *looks) renameSession(ctx context.Context, t task.Task, branch string) string {
	if t.Session == "" {
		return ""
	}
	t.Branch = branch
	name, err := e.agents.Rename(ctx, t)
	if err != nil {
		e.log.Warn("the session keeps the name of the old branch", "component", "engine", "task", t.ID, "session",
			t.Session, "error", err.Error())
		return ""
	}
	if name == t.Session {
		return ""
	}
	return name
}

// inSession puts the new name of a session into a task that still has one, and returns the data of its event.
func inSession(t *task.Task, data map[string]string) map[string]string {
	name, renamed := data[history.DataSession]
	if !renamed {
		return data
	}
	if t.Session != "" {
		t.Session = name
		return data
	}
	data = maps.Clone(data)
	delete(data, history.DataSession) // the session has ended meanwhile
	return data
}

// startFor is what an agent of a role that is about to start finds: which commit it is about, and the verdicts that
// are not its own. It is kept with the agent's seat, before the agent's process exists.
func (e *looks) startFor(ctx context.Context, def *workflow.Definition, t task.Task, role string) (task.Start, error) {
	state, _ := def.State(t.Status)
	if state.Role != role {
		return task.Start{Subject: e.subjectOf(ctx, record.Snapshot{Task: t}, false)}, nil
	}
	start := task.Start{Subject: e.subjectOf(ctx, record.Snapshot{Task: t},
		state.Subject == workflow.SubjectWorktree)}
	parts := decide.NeedsOnStart(def, t.Status)
	if len(parts) == 0 {
		return start, nil
	}
	_, evidence := readDocument(e.folder, t, decide.NeedsDocument(parts))
	if evidence.Trouble != "" { // a verdict unseen now would later count as the agent's own
		return start, fmt.Errorf("look at the verdicts that are there before the %s is started: %s", role,
			evidence.Trouble)
	}
	files := slices.DeleteFunc(slices.Clone(parts), func(p workflow.Part) bool { return p.Section != "" })
	if len(files) > 0 {
		var err error
		if evidence.Facts, err = e.facts(ctx, t, def, files); err != nil {
			return start, fmt.Errorf("look at the verdicts that are there before the %s is started: %w", role, err)
		}
	}
	start.Evidence = evidence.VerdictsNow(def, t.Status)
	return start, nil
}

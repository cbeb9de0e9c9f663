package decide

import (
	"cmp"
	"slices"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// subjectOver is what evidence is about after an edge was taken. Uncommitted work that a state judged carries over to
// a state that declares so. In every other case the subject is the work as it is now.
func subjectOver(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request,
	ev Evidence) task.Subject {
	from, _ := def.State(t.Status)
	into, _ := def.State(edge.To)
	passed := !req.Override && edge.Accepts()
	judged := passed && isPassingVerdict(edge)
	if into.Subject == workflow.SubjectCarried && (judged && from.Subject == workflow.SubjectWorktree ||
		from.Subject == workflow.SubjectCarried) {
		s := t.Subject
		s.Reviewed = s.Reviewed || judged
		s.Unvouched = s.Unvouched && !passed
		return s
	}
	if passed {
		s := ev.Subject
		s.Reviewed = judged
		return s.Valid()
	}
	return subjectAtEntry(def, edge.To, req.Actor, ev)
}

// subjectAtEntry is what evidence is about in a status that was entered without a passing verdict. It is in valid
// UTF-8, like everything in the history.
func subjectAtEntry(def *workflow.Definition, to task.Status, actor task.Actor, ev Evidence) task.Subject {
	s := ev.Subject
	if AwaitsMerge(def, to) {
		s.By, s.Unvouched = broughtBy(actor), mergesFrom(def, to) && !isPerson(actor)
	}
	return s.Valid()
}

// isPassingVerdict reports whether an edge asks for a verdict that accepts the work, on the work as it was judged. An
// edge that can also be taken without the verdict, or on other work, does not qualify.
func isPassingVerdict(edge *workflow.Transition) bool {
	return edge.Accepts() && workflow.Asks(workflow.Certain(edge.Gate), workflow.GitUnmoved)
}

// wasAccepted reports whether a verdict that accepts the very same work, committed and not, is in a task's history,
// under the rules that it has now: one that accepted earlier work does not answer for what came later.
func wasAccepted(def *workflow.Definition, events []history.Event, work task.Subject) bool {
	migrated := false
	return slices.ContainsFunc(events, func(e history.Event) bool {
		named := migrated // by a migration, which gives the status another name
		migrated = e.Type == history.WorkflowMigrated
		if named || !e.IsMove() || wasForced(e) || guarantee.VersionOf(e.Subject) != guarantee.VersionOf(work) {
			return false
		}
		return def.Accepts(e.From, e.To)
	})
}

// wasForced reports whether a move was made without a look at its gate.
func wasForced(e history.Event) bool {
	for _, key := range []string{history.DataOverride, history.DataRedo, history.DataCrash,
		guarantee.DataForced} {
		if _, is := e.Data[key]; is {
			return true
		}
	}
	return false
}

// lacksVoucher is what keeps a task from a good end where its workflow asks for verdicts: none in its history accepts
// the work, and no person put it up.
func lacksVoucher(def *workflow.Definition, t task.Task, edge *workflow.Transition, ev Evidence) []rejection.Detail {
	if !t.Subject.Unvouched || !def.AsksVerdicts() || !Marks(def, edge.To).Well ||
		wasAccepted(def, ev.History, t.Subject) {
		return nil
	}
	return []rejection.Detail{{Condition: "a verdict that accepts the work, or a person who handed it in",
		Found: "handed in by " + t.Subject.By + ", and no review passed",
		Want:  "have it reviewed; or a person answers for it, with a reason"}}
}

// AwaitsMerge reports whether a task in the status only waits to be merged or committed: then it matters whether the
// work was judged.
func AwaitsMerge(def *workflow.Definition, status task.Status) bool {
	state, _ := def.State(status)
	return state.Subject == workflow.SubjectCarried || mergesFrom(def, status)
}

// mergesFrom reports whether the workflow's command that merges leads on from a status.
func mergesFrom(def *workflow.Definition, status task.Status) bool {
	merge, _ := def.Move(workflow.MoveMerge)
	_, leads := def.Edge(status, merge)
	return leads
}

// skipsReview reports whether an edge leads to a good end and compares the work with nothing, where other edges to
// that end do compare.
func skipsReview(def *workflow.Definition, edge *workflow.Transition) bool {
	compares := func(e *workflow.Transition) bool {
		return workflow.Asks(e.Gate, workflow.GitUnmoved) || workflow.Asks(e.Gate, workflow.GitAsReviewed)
	}
	if compares(edge) || !Marks(def, edge.To).Well {
		return false
	}
	for i := range def.Transitions {
		if other := &def.Transitions[i]; other.To == edge.To && compares(other) {
			return true
		}
	}
	return false
}

// broughtBy names the actor who brought a task to where it waits for its merge without a verdict.
func broughtBy(actor task.Actor) string { return cmp.Or(actor.Person, actor.Name()) }

// WantsTree reports whether a move to a status has to know what is in the worktree, as well as the tip of the branch.
func WantsTree(def *workflow.Definition, t task.Task, to task.Status) bool {
	state, _ := def.State(to)
	from, _ := def.State(t.Status)
	switch state.Subject {
	case workflow.SubjectWorktree:
		return true
	case workflow.SubjectCarried:
		carried := from.Subject == workflow.SubjectCarried || from.Subject == workflow.SubjectWorktree &&
			onlyPasses(def, t, to)
		return !carried
	}
	return false
}

// DeathWantsTree reports whether a death has to know what is in the worktree: one of the moves of the status's exit
// rules does.
func DeathWantsTree(def *workflow.Definition, t task.Task) bool {
	wants := func(to task.Status) bool { return WantsTree(def, t, to) }
	restarted := slices.ContainsFunc(edges(def, t, t.Status), restarts) && wants(t.Status)
	return restarted || slices.ContainsFunc(rulesOf(def, t.Status), func(rule *workflow.Rule) bool {
		return slices.ContainsFunc(rule.LeadsTo(), wants)
	})
}

// onlyPasses reports whether all edges to a status ask for a passing verdict, which carries over what was judged.
func onlyPasses(def *workflow.Definition, t task.Task, to task.Status) bool {
	return !slices.ContainsFunc(edges(def, t, to), func(edge *workflow.Transition) bool {
		return !isPassingVerdict(edge) || def.Overridable(edge)
	})
}

// Agrees reports whether what git said of the commit that a task's evidence is about fits the tip that was noted with
// it. If not, the branch moved and came back between the two reads: no decision relies on that.
func (ev Evidence) Agrees(t task.Task) bool {
	same := ev.Subject.Commit == t.Subject.Commit
	unmoved, moved := workflow.Part{Git: workflow.GitUnmoved}, workflow.Part{Git: workflow.GitMoved}
	if same {
		return !ev.Facts[moved.Key()].Holds
	}
	return !ev.Facts[unmoved.Key()].Holds
}

// Prepared is the change of a task whose status began without a workspace, once the workspace is ready: now it is
// known what the task's evidence is about.
func Prepared(t task.Task, s task.Subject) (task.Task, history.Event) {
	s.By, s.Reviewed, s.Unvouched = t.Subject.By, t.Subject.Reviewed, t.Subject.Unvouched
	s = s.Valid()
	t.Subject = s
	return t, history.Event{Type: history.WorkspaceReady, Subject: s, Data: map[string]string{
		"workspace": t.Workspace, "branch": t.Branch}}
}

// Began is the change of a task when an agent of a role starts. If it is the agent of the present status, evidence is
// about what the agent found at its start, except in a status that carries over what was judged before.
func Began(def *workflow.Definition, t task.Task, role string,
	start task.Start) (after task.Task, verdicts []task.Evidence, is bool) {
	state, _ := def.State(t.Status)
	if state.Role == "" || state.Role != role {
		return t, nil, false
	}
	if state.Subject != workflow.SubjectCarried {
		s := start.Subject.Valid()
		if t.Subject.Unvouched {
			s.By, s.Unvouched = t.Subject.By, true
		}
		t.Subject = s
	}
	return t, start.Evidence, true
}

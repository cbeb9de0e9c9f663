package decide

import (
	"cmp"
	"slices"

	"orange/internal/history"
	"orange/internal/task"
	"orange/internal/workflow"
)

// subjectOver is what evidence is about after an edge was taken. What a state judged that is not committed yet
// goes along to a state that carries it; everywhere else it is the work as it stands.
func subjectOver(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request,
	ev Evidence) task.Subject {
	from, _ := def.State(t.Status)
	into, _ := def.State(edge.To)
	judged := !req.Override && isPassingVerdict(edge)
	if into.Subject == workflow.SubjectCarried && (judged && from.Subject == workflow.SubjectWorktree ||
		from.Subject == workflow.SubjectCarried) {
		s := t.Subject
		s.Reviewed = s.Reviewed || judged
		return s
	}
	if judged {
		s := ev.Subject
		s.Reviewed = true
		return s.Valid()
	}
	return unjudged(def, edge.To, req.Actor, ev)
}

// unjudged is what evidence is about in a status that was entered without a passing verdict. Like all that is put
// on record it is as the history has it, in valid UTF-8.
func unjudged(def *workflow.Definition, to task.Status, actor task.Actor, ev Evidence) task.Subject {
	s := ev.Subject
	if AwaitsMerge(def, to) {
		s.By = broughtBy(actor)
	}
	return s.Valid()
}

// isPassingVerdict says whether an edge is that of a verdict which says that the work will do, on the work as it was judged.
// An edge that can also be taken without the verdict, or on other work, is none.
func isPassingVerdict(edge *workflow.Transition) bool {
	verdicts := workflow.Verdicts(edge.Gate)
	if len(verdicts) == 0 || slices.ContainsFunc(verdicts, func(p workflow.Part) bool { return p.Verdict == "FAIL" }) {
		return false
	}
	certain := workflow.Certain(edge.Gate)
	return len(workflow.Verdicts(certain)) > 0 && workflow.Asks(certain, workflow.GitUnmoved)
}

// AwaitsMerge says whether a task in the status only waits to be merged or committed: then it matters whether anybody
// judged it.
func AwaitsMerge(def *workflow.Definition, status task.Status) bool {
	state, _ := def.State(status)
	if state.Subject == workflow.SubjectCarried {
		return true
	}
	merge, _ := def.Move(workflow.MoveMerge)
	_, leads := def.Edge(status, merge)
	return leads
}

// skipsReview says whether an edge leads to a good end and compares the work with nothing, where other edges to
// that end do.
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

// broughtBy names whoever brought a task where it waits for its merge without a verdict.
func broughtBy(actor task.Actor) string { return cmp.Or(actor.Person, actor.Name()) }

// WantsTree says whether a move to a status has to know what lies in the worktree, beside the tip of the branch.
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

// DeathWantsTree says whether a death has to know what lies in the worktree: one of the moves of the status's
// exit rules does.
func DeathWantsTree(def *workflow.Definition, t task.Task) bool {
	wants := func(to task.Status) bool { return WantsTree(def, t, to) }
	restarted := slices.ContainsFunc(edges(def, t, t.Status), restarts) && wants(t.Status)
	return restarted || slices.ContainsFunc(rulesOf(def, t.Status), func(rule *workflow.Rule) bool {
		return slices.ContainsFunc(rule.LeadsTo(), wants)
	})
}

// onlyPasses says whether all edges to a status are those of a passing verdict, which carries what was judged along.
func onlyPasses(def *workflow.Definition, t task.Task, to task.Status) bool {
	return !slices.ContainsFunc(edges(def, t, to), func(edge *workflow.Transition) bool {
		return !isPassingVerdict(edge) || edge.Override
	})
}

// Agrees says whether what git told of the commit that a task's evidence is about fits the tip that was noted
// beside it. Where it does not, the branch moved and came back between the two looks: no decision rests on that.
func Agrees(t task.Task, ev Evidence) bool {
	same := ev.Subject.Commit == t.Subject.Commit
	unmoved, moved := workflow.Part{Git: workflow.GitUnmoved}, workflow.Part{Git: workflow.GitMoved}
	if same {
		return !ev.Facts[moved.Key()].Holds
	}
	return !ev.Facts[unmoved.Key()].Holds
}

// Prepared is what follows for a task whose status began without a workspace, once that is ready: now it is known
// what its evidence is about.
func Prepared(t task.Task, s task.Subject) (task.Task, history.Event) {
	s.By, s.Reviewed = t.Subject.By, t.Subject.Reviewed
	s = s.Valid()
	t.Subject = s
	return t, history.Event{Type: history.WorkspaceReady, Subject: s, Data: map[string]string{
		"workspace": t.Workspace, "branch": t.Branch}}
}

// Began is what follows for a task once an agent of a role was started that found the start: where it is the
// agent of the present status, evidence is about what it found from then on, but for a status that carries what
// was judged before.
func Began(def *workflow.Definition, t task.Task, role string,
	start task.Start) (after task.Task, verdicts []task.Evidence, is bool) {
	state, _ := def.State(t.Status)
	if state.Role == "" || state.Role != role {
		return t, nil, false
	}
	if state.Subject != workflow.SubjectCarried {
		t.Subject = start.Subject.Valid()
	}
	return t, start.Evidence, true
}

package simulate

import (
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// edit changes a file, and commits that if commits is set.
func (r *run) edit(who string, commits bool) {
	r.branch().Edit()
	if !commits {
		r.logf("%s changes a file", who)
		return
	}
	r.commit(who)
}

func (r *run) restore(who string) {
	r.branch().Restore()
	r.logf("%s takes back what is not committed", who)
}

func (r *run) commit(who string) {
	r.branch().CommitAll()
	r.logf("%s commits %.8s", who, r.branch().Commit()[32:])
}

// prepareBranch is what an agent does to the branch before it requests a move. It changes nothing that others judge,
// or that the gate of the move wants unchanged.
func (r *run) prepareBranch(a *Agent, t task.Task, gate []workflow.Part) {
	state, _ := r.Workflow.State(t.Status)
	if t.Workspace == "" {
		return
	}
	wants := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return workflow.Asks(gate, word) })
	}
	still := wants(workflow.GitUnmoved)
	commits := wants(workflow.GitCommitted, workflow.GitClean, workflow.GitAhead, workflow.GitAsReviewed)
	switch {
	case still && r.branch().Dirty() && t.Subject.Tree == "": // else the worktree is what is judged
		r.restore(a.name)
	case still:
	case !a.reads && state.Subject != workflow.SubjectCarried && len(gate) > 0:
		r.edit(a.name, commits)
	case commits && r.branch().Dirty():
		r.commit(a.name)
	}
}

// strayEdit has an agent that may change the branch do so at the wrong time.
func (r *run) strayEdit(t task.Task) {
	a := r.agent(func(a *Agent) bool { return a.Alive && !a.reads })
	if a != nil && t.Workspace != "" && r.chance(strayShare) {
		r.edit(a.name+", out of its turn,", r.chance(0.7))
	}
}

// strayShare is how often an agent does that, at each turn of any agent.
const strayShare = 0.03

// noteVerdict notes the commit that a verdict is about: the one that its author was started on.
func (r *run) noteVerdict(a *Agent, gate []workflow.Part) {
	verdicts := workflow.Verdicts(gate)
	failed := slices.ContainsFunc(verdicts, func(p workflow.Part) bool { return p.Verdict == "FAIL" })
	if len(verdicts) > 0 && !failed {
		r.branch().Passed[a.commit] = true
	}
}

// approve notes that the actor of a move approves the tip, if the task only waits to be merged after it.
func (r *run) approve(to task.Status) {
	if decide.AwaitsMerge(r.Workflow, to) {
		r.branch().Answered[r.branch().Commit()] = true
	}
}

// noteHandover notes that the actor of a move approves the tip, if no reviewer has to pass it.
func (r *run) noteHandover(to task.Status) {
	passed := slices.ContainsFunc(r.Workflow.Transitions, func(e workflow.Transition) bool {
		return e.To == to && len(workflow.Verdicts(e.Gate)) > 0
	})
	if !passed {
		r.approve(to)
	}
}

// restart is the option of a reviewer that was refused because the tip moved.
func (r *run) restart(t task.Task, options []option) (option, bool) {
	for _, w := range options {
		if w.to == t.Status && workflow.Asks(w.edge.Gate, workflow.GitMoved) &&
			t.Subject.Commit != r.branch().Commit() {
			return w, true
		}
	}
	return option{}, false
}

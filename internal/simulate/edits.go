package simulate

import (
	"slices"

	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

// edit changes a file, and commits that where it is wanted.
func (r *run) edit(who string, commits bool) {
	r.branch().Edit()
	if !commits {
		r.tell("%s changes a file", who)
		return
	}
	r.commits(who)
}

// restores takes back what is not committed.
func (r *run) restores(who string) {
	r.branch().Restore()
	r.tell("%s takes back what is not committed", who)
}

func (r *run) commits(who string) {
	r.branch().CommitAll()
	r.tell("%s commits %.8s", who, r.branch().Commit()[32:])
}

// works is what an agent does to the branch before it asks for a move. What is for others to judge it leaves
// alone, and so it does where the move asks that nobody touched the work.
func (r *run) works(a *Agent, t task.Task, gate []workflow.Part) {
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
	case still && r.branch().Dirty() && t.Subject.Tree == "": // else what is judged is just that
		r.restores(a.name)
	case still:
	case !a.reads && state.Subject != workflow.SubjectCarried && len(gate) > 0:
		r.edit(a.name, commits)
	case commits && r.branch().Dirty():
		r.commits(a.name)
	}
}

// strays is what agents do to the branch at the wrong time: any of them may, those that only wait too.
func (r *run) strays(t task.Task) {
	if a := r.anyone(); a != nil && t.Workspace != "" && r.chance(stray) {
		r.edit(a.name+", out of its turn,", r.chance(0.7))
	}
}

// stray is how often an agent changes something out of its turn, at each turn of anybody.
const stray = 0.03

// judged notes the commit that a verdict is about: the one that its author was started on.
func (r *run) judged(a *Agent, gate []workflow.Part) {
	verdicts := workflow.Verdicts(gate)
	failed := slices.ContainsFunc(verdicts, func(p workflow.Part) bool { return p.Verdict == "FAIL" })
	if len(verdicts) > 0 && !failed {
		r.branch().Passed[a.found] = true
	}
}

// putUp notes that somebody stands for the present tip where the task only waits to be merged.
func (r *run) putUp(to task.Status) {
	if decide.PutUp(r.Workflow, to) {
		r.branch().Answered[r.branch().Commit()] = true
	}
}

// handedOver notes who stands for the tip where nobody has to pass it: whoever brings the task to where it only
// waits to be merged.
func (r *run) handedOver(to task.Status) {
	passed := slices.ContainsFunc(r.Workflow.Transitions, func(e workflow.Transition) bool {
		return e.To == to && len(workflow.Verdicts(e.Gate)) > 0
	})
	if !passed {
		r.putUp(to)
	}
}

// anew is the way on for a reviewer that is refused because the tip moved.
func (r *run) anew(t task.Task, ways []way) (way, bool) {
	for _, w := range ways {
		if w.to == t.Status && workflow.Asks(w.edge.Gate, workflow.GitMoved) && t.Subject.Commit != r.branch().Commit() {
			return w, true
		}
	}
	return way{}, false
}

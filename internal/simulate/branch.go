package simulate

import (
	"context"
	"fmt"
	"slices"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/task"
	"orange/internal/workflow"
)

// branch is the task's branch with its worktree: how often something was changed, and how far that is committed.
type branch struct {
	made      int // how many edits there ever were
	edits     int // the latest that stands there
	committed int // the edit up to which everything is committed
	tip       int // grows with every commit

	// What may be merged, as nobody but the world knows it: commits that a reviewer passed who was started on them,
	// that a person put up, or that one took upon themself.
	passed   map[string]bool
	answered map[string]bool
}

func newBranch() branch { return branch{passed: map[string]bool{}, answered: map[string]bool{}} }

func (b *branch) commit() string { return fmt.Sprintf("%040d", b.tip) }
func (b *branch) tree() string   { return fmt.Sprintf("tree of edit %d", b.edits) }
func (b *branch) dirty() bool    { return b.edits != b.committed }

// edit changes a file, and commits that where it is wanted.
func (r *run) edit(who string, commits bool) {
	r.branch.made++
	r.branch.edits = r.branch.made
	if !commits {
		r.tell("%s changes a file", who)
		return
	}
	r.commits(who)
}

// restores takes back what is not committed.
func (r *run) restores(who string) {
	r.branch.edits = r.branch.committed
	r.tell("%s takes back what is not committed", who)
}

func (r *run) commits(who string) {
	r.branch.tip++
	r.branch.committed = r.branch.edits
	r.tell("%s commits %.8s", who, r.branch.commit()[32:])
}

// Subject is what evidence is about at this moment.
func (d desk) Subject(_ context.Context, _ task.Task, tree bool) task.Subject {
	b := &d.r.branch
	s := task.Subject{Commit: b.commit()}
	if tree {
		s.Tree, s.Tracked = b.tree(), b.tree()
	}
	return s
}

// Merge merges a commit, and looks whether anybody stands for it.
func (d desk) Merge(ctx context.Context, _ task.Task, commit, _ string, still func(context.Context) error) (
	merged, how string, err error) {
	err = act(d.r, "it merges", func() error {
		if err := still(ctx); err != nil {
			return err
		}
		d.r.merged = true
		if b := &d.r.branch; !b.passed[commit] && !b.answered[commit] {
			d.r.breaks(propMerges,
				"commit %s is merged, and nobody passed it, put it up or took it upon themself", commit)
		}
		return nil
	})
	return "c0ffee", "merged", err
}

// seeGit answers what is asked of git, as far as the branch knows; known is false for the rest.
func (r *run) seeGit(t task.Task, p workflow.Part) (fact decide.Fact, known bool) {
	b := &r.branch
	about := t.Subject
	moved := about.Commit != "" && about.Commit != b.commit()
	fact = decide.Fact{Source: "git " + p.Git, Where: "the workspace", Found: "something else"}
	switch p.Git {
	case workflow.GitCommitted:
		fact.Holds = !b.dirty()
	case workflow.GitMoved:
		fact.Holds = moved
	case workflow.GitUnmoved:
		fact.Holds = about.Commit != "" && !moved && !b.dirty()
		if about.Tree != "" {
			fact.Holds = about.Tree == b.tree()
		}
		fact.Moved = !fact.Holds && moved && !b.dirty()
	case workflow.GitAsReviewed:
		fact.Holds = about.Tree != "" && about.Tree == b.tree() && !b.dirty()
	case workflow.GitUntouched:
		fact.Holds = true
	default:
		return fact, false
	}
	if t.Workspace == "" {
		fact.Holds, fact.Moved = false, false
	}
	fact.Text = document.Normalise(fmt.Sprintf("%s %s\ndirty %v\n", p.Git, b.commit(), b.dirty()))
	fact.Digest = document.Digest(fact.Text)
	return fact, true
}

// works is what an agent does to the branch before it asks for a move. What is for others to judge it leaves
// alone, and so it does where the move asks that nobody touched the work.
func (r *run) works(a *agent, t task.Task, gate []workflow.Part) {
	state, _ := r.def.State(t.Status)
	if t.Workspace == "" {
		return
	}
	wants := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return workflow.Asks(gate, word) })
	}
	still := wants(workflow.GitUnmoved)
	commits := wants(workflow.GitCommitted, workflow.GitClean, workflow.GitAhead, workflow.GitAsReviewed)
	switch {
	case still && r.branch.dirty() && t.Subject.Tree == "": // else what is judged is just that
		r.restores(a.name)
	case still:
	case !a.reads && state.Subject != workflow.SubjectCarried && len(gate) > 0:
		r.edit(a.name, commits)
	case commits && r.branch.dirty():
		r.commits(a.name)
	}
}

// strays is what agents do to the branch at the wrong time: any of them may, those that only wait too.
func (r *run) strays(t task.Task) {
	if a := r.anybody(); a != nil && t.Workspace != "" && r.chance(stray) {
		r.edit(a.name+", out of its turn,", r.chance(0.7))
	}
}

// stray is how often an agent changes something out of its turn, at each turn of anybody.
const stray = 0.03

// judged notes the commit that a verdict is about: the one that its author was started on.
func (r *run) judged(a *agent, gate []workflow.Part) {
	verdicts := workflow.Verdicts(gate)
	failed := slices.ContainsFunc(verdicts, func(p workflow.Part) bool { return p.Verdict == "FAIL" })
	if len(verdicts) > 0 && !failed {
		r.branch.passed[a.found] = true
	}
}

// putUp notes that somebody stands for the present tip where the task only waits to be merged.
func (r *run) putUp(to task.Status) {
	if decide.PutUp(r.def, to) {
		r.branch.answered[r.branch.commit()] = true
	}
}

// handedOver notes who stands for the tip where nobody has to pass it: whoever brings the task to where it only
// waits to be merged.
func (r *run) handedOver(to task.Status) {
	passed := slices.ContainsFunc(r.def.Transitions, func(e workflow.Transition) bool {
		return e.To == to && len(workflow.Verdicts(e.Gate)) > 0
	})
	if !passed {
		r.putUp(to)
	}
}

// anew is the way on for a reviewer that is refused because the tip moved.
func (r *run) anew(t task.Task, ways []way) (way, bool) {
	for _, w := range ways {
		if w.to == t.Status && workflow.Asks(w.edge.Gate, workflow.GitMoved) && t.Subject.Commit != r.branch.commit() {
			return w, true
		}
	}
	return way{}, false
}

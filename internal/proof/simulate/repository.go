package simulate

import (
	"context"
	"fmt"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// TaskBranch is the branch of a task with its worktree: how often its files were changed, and how far that is
// committed.
type TaskBranch struct {
	made    int   // how many edits there ever were
	edits   int   // the latest that is in the worktree
	tip     int   // the number of the newest commit
	commits []int // the edit up to which each commit has everything; the last one is the tip

	// What may be merged, as only the world knows it: commits that a reviewer passed who was started on them, and
	// those that a person approved or took responsibility for.
	Passed   map[string]bool
	Answered map[string]bool
	Merged   bool // and nothing was changed since
}

// Branch is the branch of a task.
func (w *World) Branch(id string) *TaskBranch {
	if w.branches == nil {
		w.branches = map[string]*TaskBranch{}
	}
	if w.branches[id] == nil {
		w.branches[id] = &TaskBranch{commits: []int{0}, Passed: map[string]bool{}, Answered: map[string]bool{}}
	}
	return w.branches[id]
}

// Commit is the newest commit.
func (b *TaskBranch) Commit() string { return fmt.Sprintf("%040d", b.tip) }

// Number is the number of the newest commit, the first is 0.
func (b *TaskBranch) Number() int { return b.tip }

// Tree is what is in the worktree.
func (b *TaskBranch) Tree() string { return fmt.Sprintf("tree of edit %d", b.edits) }

// Dirty reports whether the worktree has what is not committed.
func (b *TaskBranch) Dirty() bool { return b.edits != b.commits[b.tip] }

// Edit changes a file.
func (b *TaskBranch) Edit() {
	b.made++
	b.edits = b.made
}

// CommitAll commits what is in the worktree.
func (b *TaskBranch) CommitAll() {
	b.tip++
	b.commits = append(b.commits[:b.tip], b.edits)
}

// Restore takes back what is not committed.
func (b *TaskBranch) Restore() { b.edits = b.commits[b.tip] }

// Reset takes the branch back to an earlier commit, by its number.
func (b *TaskBranch) Reset(number int) {
	b.tip = number
	b.commits = b.commits[:number+1]
	b.Restore()
}

// Mergeable reports whether a commit was passed or approved.
func (b *TaskBranch) Mergeable(commit string) bool { return b.Passed[commit] || b.Answered[commit] }

// Subject is what evidence is about at this moment.
func (b *TaskBranch) Subject(tree bool) task.Subject {
	s := task.Subject{Commit: b.Commit()}
	if tree {
		s.Tree, s.Tracked = b.Tree(), b.Tree()
	}
	return s
}

// Fact answers what a gate asks of git, as far as the branch knows; known is false for the rest.
func (b *TaskBranch) Fact(t task.Task, p workflow.Part) (fact decide.Fact, known bool) {
	about := t.Subject
	moved := about.Commit != "" && about.Commit != b.Commit()
	fact = decide.Fact{Source: "git " + p.Git, Where: "the workspace", Found: "something else"}
	switch p.Git {
	case workflow.GitCommitted:
		if fact.Holds = !b.Dirty(); !fact.Holds {
			fact.Files = 1
		}
	case workflow.GitMoved:
		fact.Holds = moved
	case workflow.GitUnmoved:
		fact.Holds = about.Commit != "" && !moved && !b.Dirty()
		if about.Tree != "" {
			fact.Holds = about.Tree == b.Tree()
		}
		fact.Moved = !fact.Holds && moved && !b.Dirty()
	case workflow.GitAsReviewed:
		fact.Holds = about.Tree != "" && about.Tree == b.Tree() && !b.Dirty()
	case workflow.GitUntouched, workflow.GitProtected:
		fact.Holds = true
	default:
		return fact, false
	}
	if t.Workspace == "" {
		fact.Holds, fact.Moved, fact.Files = false, false, 0
	}
	fact.Text = document.Normalise(fmt.Sprintf("%s %s\ndirty %v\n", p.Git, b.Commit(), b.Dirty()))
	fact.Digest = document.Digest(fact.Text)
	return fact, true
}

// Repository is the project with its branches as an engine sees it. Pull requests there are none.
type Repository struct{ v ProcessView }

// Repository is the one of the project.
func (v ProcessView) Repository() Repository { return Repository{v} }

// Replaced reports no file in the place of a link.
func (r Repository) Replaced(context.Context, task.Task) ([]byte, bool, error) {
	return nil, false, nil
}

// Relink does nothing.
func (r Repository) Relink(context.Context, task.Task) error { return nil }

// CheckBranch accepts every name.
func (r Repository) CheckBranch(context.Context, task.Task) error { return nil }

// Project is the only one.
func (r Repository) Project(string) (task.Project, error) { return r.v.Project, nil }

// Holds is always so.
func (r Repository) Holds(context.Context, task.Task) (bool, error) { return true, nil }

// Missing is never anything.
func (r Repository) Missing(context.Context, task.Task) (string, error) { return "", nil }

// HasBranch is always so.
func (r Repository) HasBranch(context.Context, task.Task) (bool, error) { return true, nil }

// SetBranch accepts every name.
func (r Repository) SetBranch(_ context.Context, _ task.Task, name string) (string, error) {
	return name, nil
}

// Subject is the tip of the branch of a task, with what is in its worktree.
func (r Repository) Subject(_ context.Context, t task.Task, tree bool) task.Subject {
	return r.v.Branch(t.ID).Subject(tree)
}

// Landed reports whether the branch was merged.
func (r Repository) Landed(_ context.Context, t task.Task, commits []string) (bool, error) {
	return len(commits) > 0 && r.v.Branch(t.ID).Merged, nil
}

// Lacks returns nothing: what was merged is where every task starts.
func (Repository) Lacks(context.Context, task.Task, []string) (string, []string, error) {
	return "main", nil, nil
}

// Fetch does nothing.
func (Repository) Fetch(context.Context, task.Task) error { return nil }

// EndPush ends nothing: a push is one step here.
func (Repository) EndPush(context.Context, task.Task) error { return nil }

// Rehearse finds no conflict.
func (Repository) Rehearse(_ context.Context, _ task.Task, commits []string) ([]record.Rehearsal, string, error) {
	return make([]record.Rehearsal, len(commits)), "c0ffee", nil
}

// CheckResult finds nothing wrong.
func (Repository) CheckResult(context.Context, task.Task, string, []record.MergeCheck) error {
	return nil
}

// Unpushed reports that origin has all.
func (r Repository) Unpushed(context.Context, task.Task) (int, []string, error) { return 0, nil, nil }

// Forge reports that there is an origin on GitHub.
func (r Repository) Forge(context.Context, task.Task) (bool, string, error) {
	return true, record.ForgeGitHub, nil
}

// Ahead reports whether the branch was not merged.
func (r Repository) Ahead(_ context.Context, t task.Task, _ string) (bool, error) {
	return !r.v.Branch(t.ID).Merged, nil
}

// Tip is the commit of every branch.
func (r Repository) Tip(context.Context, task.Task) (string, error) { return "c0ffee", nil }

// Within reports that a commit has everything.
func (r Repository) Within(context.Context, task.Task, string) (bool, error) { return true, nil }

// Find finds no pull request.
func (r Repository) Find(context.Context, string, string) ([]record.PullRequest, error) {
	return nil, nil
}

// States knows no pull request.
func (r Repository) States(context.Context, string, []string) ([]record.PullRequest, error) {
	return nil, nil
}

// Log is empty: no check has one.
func (r Repository) Log(context.Context, string, string, string, int) (string, error) { return "", nil }

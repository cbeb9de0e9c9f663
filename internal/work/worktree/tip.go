package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"orange/internal/work/git"
)

// Tip is where the branch of a task ends.
type Tip struct {
	Commit  string
	Branch  string // the branch that was followed where the task's own was renamed in the workspace; else empty
	Trouble string // why the commit could not be read
}

// ReadTip reads the newest commit of a task's branch. dir is the task's workspace, and empty where it has none. A
// branch that was renamed there is followed: the task's own exists no more, and HEAD names another. A tip that cannot
// be read is no error: the answer says in words why.
func (r Worktrees) ReadTip(ctx context.Context, dir, branch string) Tip {
	if branch == "" {
		return Tip{Trouble: "the task has no branch yet"}
	}
	commit, err := r.ObjectOf(ctx, "refs/heads/"+branch)
	if err == nil {
		return Tip{Commit: commit}
	}
	if !errors.Is(err, git.ErrNoRef) {
		return Tip{Trouble: fmt.Sprintf("the tip of branch %q cannot be read: %v", branch, err)}
	}
	gone := Tip{Trouble: fmt.Sprintf("there is no branch %q", branch)}
	if dir == "" {
		return gone
	}
	present, err := Slot{Repo: r.Repo, Dir: dir}.headBranch(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		gone.Trouble += fmt.Sprintf(", and what the workspace is on cannot be read: %v", err)
	case present == "":
		gone.Trouble += ", and the workspace is on none"
	case present == branch:
		gone.Trouble = fmt.Sprintf("branch %q has no commit yet", branch)
	case present == r.DefaultBranch: // that branch existed before: it was not made from the task's
		gone.Trouble += fmt.Sprintf(", and the workspace is on %q", present)
	default:
		commit, err = r.ObjectOf(ctx, "refs/heads/"+present)
		if err == nil {
			return Tip{Commit: commit, Branch: present}
		}
		gone.Trouble += fmt.Sprintf(", and the tip of %q, which the workspace is on, cannot be read: %v", present, err)
	}
	return gone
}

// headBranch reads what the slot is on, empty where it is on none. A slot that is not there is fs.ErrNotExist.
func (s Slot) headBranch(ctx context.Context) (string, error) {
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return "", err
	}
	head, err := git.HeadOf(gitDir)
	if err != nil {
		return "", err
	}
	name, symbolic := strings.CutPrefix(head, "ref: refs/heads/")
	switch {
	case git.IsCommit(head):
		return "", nil
	// .invalid exists where refs are kept in tables.
	case symbolic && name != ".invalid" && !s.Repo.StandsForAnother(git.HeadRefs+name):
		return name, nil
	}
	return s.symbolicHead(ctx)
}

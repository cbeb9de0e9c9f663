package worktree

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/task"
)

// Push is what became of pushing a branch.
type Push struct {
	Commit string // the branch's commit, which origin has now; empty where there is no origin
	Was    string // origin's commit of the branch before; empty when it had none
}

// PushBranch brings a branch's commits to the branch of that name on origin. It never forces: commits on origin
// that the branch does not have are an error, and stay. Without an origin, or when origin has the commit already,
// it does nothing. The repository's hooks run here as in any push.
func (r Repo) PushBranch(ctx context.Context, branch string) (done Push, err error) {
	if err := errors.Join(CheckBranch(ctx, branch), CheckBranch(ctx, r.DefaultBranch)); err != nil {
		return Push{}, err
	}
	if branch == r.DefaultBranch {
		return Push{}, task.Notef(task.ErrUsage,
			"cannot push %q for a task: it is the default branch, where only a merge belongs", branch)
	}
	defer explain(&err, "cannot push %q to origin", branch)
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return Push{}, err
	}
	commit, err := r.Tip(ctx, branch)
	if err != nil {
		return Push{}, err
	}
	if commit == "" {
		return Push{}, errors.New("there is no such branch here; commit something on it first")
	}
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return Push{}, err
	}
	tip, err := r.remoteTip(ctx, branch, env)
	if err != nil {
		return Push{}, err
	}
	done = Push{Commit: commit, Was: tip}
	if tip == commit {
		return done, nil
	}
	// The commit and not the branch: an agent may commit at this moment, and what is answered is what was pushed.
	args := []string{"push", "--quiet", "--no-follow-tags", "origin", commit + ":refs/heads/" + branch}
	if _, err := r.git(ctx, call{dir: r.Path, args: args, env: env, hooks: true}); err != nil {
		if refusedWith(err, "rejected") && (refusedWith(err, "fetch first") || refusedWith(err, "non-fast-forward")) {
			return Push{}, fmt.Errorf("origin has commits there that are not on the branch; bring them into "+
				"it (git pull), and try again: %w", err)
		}
		return Push{}, err
	}
	return done, nil
}

package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/task"
)

// pushDefault brings the merged commit to origin. The repository's hooks run here as in any push: git-lfs uploads
// in one.
func (r Repo) pushDefault(ctx context.Context, origin, commit string) (bool, error) {
	if origin != "" {
		if has, err := r.contains(ctx, origin, commit); err != nil || has {
			return has, err
		}
	}
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return false, err
	}
	args := []string{"push", "--quiet", "origin", commit + ":refs/heads/" + r.DefaultBranch}
	if _, err := r.git(ctx, call{dir: r.Path, args: args, env: env, hooks: true}); err != nil {
		return false, fmt.Errorf(
			"the merge is done here (%s), and could not be pushed; run this again to push it: %w", commit, err)
	}
	return true, nil
}

// DeleteRemoteBranch deletes the branch from origin and returns the commit that it was at. Without an origin, or when
// origin has no such branch, there is nothing to do. It deletes only what Orange pushed (pushed is the commit
// of that, or empty) and what Base contains after a fetch, and only if no other push comes in the same moment;
// anything else is an error that says why the branch was left alone. The commit landed counts as contained: a
// pull request was merged from it, and what was squashed or rebased there is in no history. The local branch
// stays.
func (r Repo) DeleteRemoteBranch(ctx context.Context, branch, pushed, landed string) (tip string, err error) {
	if err := errors.Join(CheckBranch(ctx, branch), CheckBranch(ctx, r.DefaultBranch)); err != nil {
		return "", err
	}
	if branch == r.DefaultBranch {
		return "", task.Notef(task.ErrUsage, "cannot delete %q from origin: it is the default branch", branch)
	}
	defer explain(&err, "cannot delete %q from origin", branch)
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return "", err
	}
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return "", err
	}
	tip, err = r.remoteTip(ctx, branch, env)
	if err != nil || tip == "" {
		return "", err
	}
	if pushed == "" {
		return "", errors.New("it was left alone, because Orange did not push it; delete it yourself if it is " +
			"no longer needed")
	}
	if tip != landed {
		if err := r.isMerged(ctx, tip); err != nil {
			return "", err
		}
	}
	full := "refs/heads/" + branch
	args := []string{"push", "--quiet", "--force-with-lease=" + full + ":" + tip, "origin", ":" + full}
	if _, err := r.git(ctx, call{dir: r.Path, args: args, env: env}); err != nil {
		return "", fmt.Errorf("it was left alone: %w", err)
	}
	return tip, nil
}

// isMerged answers nil where what is known of the default branch after a fetch contains the commit.
func (r Repo) isMerged(ctx context.Context, tip string) error {
	if err := r.Fetch(ctx); err != nil {
		return err
	}
	base, err := r.Base(ctx)
	if err != nil {
		return err
	}
	if _, err := r.run(ctx, "cat-file", "-e", tip+"^{commit}"); err != nil {
		return fmt.Errorf("it was left alone, because its commit %s is not known here: another clone pushed "+
			"to it; fetch it and look", tip)
	}
	has, err := r.contains(ctx, base.Commit, tip)
	if err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("it was left alone, because its commit %s is not merged into %s; merge it first", tip,
			base.Ref)
	}
	return nil
}

// remoteTip asks origin itself, and is empty when origin answers that it has no such branch.
func (r Repo) remoteTip(ctx context.Context, branch string, env []string) (string, error) {
	full := "refs/heads/" + branch
	out, err := r.git(ctx, call{dir: r.Path, args: []string{"ls-remote", "--quiet", "origin", full}, env: env})
	if err != nil {
		return "", fmt.Errorf("ask origin for it: %w", err)
	}
	for _, line := range strings.Split(out.Text(), "\n") {
		// The answer also lists refs that only end like this one.
		if commit, name, ok := strings.Cut(line, "\t"); ok && name == full {
			return commit, nil
		}
	}
	return "", nil
}

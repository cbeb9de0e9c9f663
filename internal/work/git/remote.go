package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/task"
)

// Deleted is what became of a branch on origin: the commit that it was at, or why it was left alone. Both are empty
// where there was no such branch.
type Deleted struct {
	Tip  string
	Left string
}

// DeleteRemoteBranch deletes the branch from origin. It deletes only what Base contains after a fetch, and only if no
// other push comes in the same moment. The commit landed counts as contained: a pull request was merged from it, and
// what was squashed or rebased there is in no history. A branch that Orange pushed (pushed is the commit of that, or
// empty) and that is not merged is an error. One that someone else pushed is theirs: it is deleted where the local
// branch has all of its commits too and its last one was made since the task was, and otherwise left alone: a branch
// that others had before, and that a task took over, is not the task's. The local branch stays.
func (r Repo) DeleteRemoteBranch(ctx context.Context, branch, pushed, landed string, since time.Time) (out Deleted,
	err error) {
	if err := errors.Join(CheckBranch(ctx, branch), CheckBranch(ctx, r.DefaultBranch)); err != nil {
		return out, err
	}
	if branch == r.DefaultBranch {
		return out, task.Notef(task.ErrUsage, "cannot delete %q from origin: it is the default branch", branch)
	}
	defer Explain(&err, "cannot delete %q from origin", branch)
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return out, err
	}
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return out, err
	}
	tip, err := r.RemoteTip(ctx, branch, env)
	if err != nil || tip == "" {
		return out, err
	}
	left, err := r.whyLeave(ctx, branch, tip, pushed, landed)
	if err == nil && left == "" && pushed == "" && tip != landed {
		left, err = r.madeBefore(ctx, tip, since)
	}
	switch {
	case err != nil:
		return out, err
	case left != "" && pushed != "":
		return out, errors.New("it was left alone, because " + left)
	case left != "":
		return Deleted{Left: "Orange did not push it, and " + left}, nil
	}
	full := "refs/heads/" + branch
	args := []string{"push", "--quiet", "--force-with-lease=" + full + ":" + tip, "origin", ":" + full}
	if _, err := r.Do(ctx, Call{Dir: r.Path, Args: args, Env: env}); err != nil {
		return out, fmt.Errorf("it was left alone: %w", err)
	}
	return Deleted{Tip: tip}, nil
}

// whyLeave is why a branch that is at a commit on origin is not deleted there; empty where it is.
func (r Repo) whyLeave(ctx context.Context, branch, tip, pushed, landed string) (string, error) {
	if tip == landed {
		return "", nil
	}
	if err := r.Fetch(ctx); err != nil {
		return "", err
	}
	base, err := r.Base(ctx)
	if err != nil {
		return "", err
	}
	if _, err := r.Run(ctx, "cat-file", "-e", tip+"^{commit}"); err != nil {
		return fmt.Sprintf("its commit %s is not known here: another clone pushed to it; fetch it and look", tip), nil
	}
	if has, err := r.Contains(ctx, base.Commit, tip); err != nil || !has {
		return fmt.Sprintf("its commit %s is not merged into %s; merge it first", tip, base.Ref), err
	}
	if pushed != "" {
		return "", nil
	}
	ours, err := r.Tip(ctx, branch)
	has := false
	if err == nil && ours != "" { // the branch may be gone here
		has, err = r.Contains(ctx, ours, tip)
	}
	if err != nil || !has {
		return fmt.Sprintf("its commit %s is not on the branch here; delete it yourself if no one needs it", tip), err
	}
	return "", nil
}

// madeBefore is why a commit that is older than a moment is left alone; empty where it is not older.
func (r Repo) madeBefore(ctx context.Context, commit string, moment time.Time) (string, error) {
	out, err := r.Run(ctx, "show", "--no-patch", "--no-show-signature", "--format=%ct", commit, "--")
	if err != nil {
		return "", fmt.Errorf("look when %s was made: %w", commit, err)
	}
	made, err := strconv.ParseInt(out.Text(), 10, 64)
	if err != nil || made >= moment.Unix() {
		return "", err
	}
	return fmt.Sprintf("its commit %s is older than the task; delete it yourself if no one needs it", commit), nil
}

// RemoteTip asks origin itself, and is empty when origin answers that it has no such branch.
func (r Repo) RemoteTip(ctx context.Context, branch string, env []string) (string, error) {
	full := "refs/heads/" + branch
	out, err := r.Do(ctx, Call{Dir: r.Path, Args: []string{"ls-remote", "--quiet", "origin", full}, Env: env})
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

// PushBranch brings a branch's commits to the branch of that name on origin: up to the wanted one, or all where none is
// named. It never forces: commits on origin
// that the branch does not have are an error, and stay. Without an origin, or when origin has the commit already,
// it does nothing: moved reports whether it did anything. The repository's hooks run here as in any push.
func (r Repo) PushBranch(ctx context.Context, branch, wanted string) (commit string, moved bool, err error) {
	if err := errors.Join(CheckBranch(ctx, branch), CheckBranch(ctx, r.DefaultBranch)); err != nil {
		return "", false, err
	}
	if branch == r.DefaultBranch {
		return "", false, task.Notef(task.ErrUsage,
			"cannot push %q for a task: it is the default branch, where only a merge belongs", branch)
	}
	defer Explain(&err, "cannot push %q to origin", branch)
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return "", false, err
	}
	commit, err = r.Tip(ctx, branch)
	if err != nil {
		return "", false, err
	}
	if commit == "" {
		return "", false, errors.New("there is no such branch here; commit something on it first")
	}
	if commit, err = r.upTo(ctx, commit, wanted); err != nil {
		return "", false, err
	}
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return "", false, err
	}
	tip, err := r.RemoteTip(ctx, branch, env)
	if err != nil {
		return "", false, err
	}
	if tip == commit {
		return commit, false, nil
	}
	// The commit and not the branch: an agent may commit at this moment, and what is answered is what was pushed.
	args := []string{"push", "--quiet", "--no-follow-tags", "origin", commit + ":refs/heads/" + branch}
	if _, err := r.Do(ctx, Call{Dir: r.Path, Args: args, Env: env, Hooks: true}); err != nil {
		if RefusedWith(err, "rejected") && (RefusedWith(err, "fetch first") || RefusedWith(err, "non-fast-forward")) {
			return "", false, fmt.Errorf("origin has commits there that are not on the branch; bring them into "+
				"it (git pull), and try again: %w", err)
		}
		return "", false, err
	}
	return commit, true, nil
}

// upTo is the wanted commit where the one at the tip has it, and the tip where none is wanted.
func (r Repo) upTo(ctx context.Context, tip, wanted string) (string, error) {
	if wanted == "" || wanted == tip {
		return tip, nil
	}
	has, err := r.Contains(ctx, tip, wanted)
	if err != nil {
		return "", err
	}
	if !has {
		return "", fmt.Errorf("the branch no longer has %.7s, which Orange was to push; push the branch yourself",
			wanted)
	}
	return wanted, nil
}

// Origin is the address of origin as it was written and as git goes there, which differ where the configuration
// replaces a part of it; none where there is no origin.
func (r Repo) Origin(ctx context.Context) ([]string, error) {
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return nil, err
	}
	out, err := r.Run(ctx, "remote", "get-url", "origin")
	if err != nil {
		return nil, fmt.Errorf("cannot tell where origin of %q is: %w", r.Path, err)
	}
	addresses := []string{out.Text()}
	out, err = r.Run(ctx, "config", "--get-all", "remote.origin.url")
	if err != nil && ExitCode(err) != 1 {
		return nil, fmt.Errorf("cannot tell where origin of %q is: %w", r.Path, err)
	}
	return append(addresses, strings.Fields(out.Text())...), nil
}

// Tip is the newest commit of a branch; empty where there is no such branch.
func (r Repo) Tip(ctx context.Context, branch string) (string, error) {
	full := "refs/heads/" + branch
	refs, err := r.Refs(ctx, full)
	if err != nil {
		return "", fmt.Errorf("look for the branch %q: %w", branch, err)
	}
	return refs[full].Commit, nil
}

// Within reports whether a commit holds all that the branch has. known is false where the commit is not here, and
// git cannot tell. A branch that is gone has nothing.
func (r Repo) Within(ctx context.Context, branch, commit string) (within, known bool, err error) {
	tip, err := r.Tip(ctx, branch)
	if err != nil {
		return false, false, err
	}
	if tip == "" || tip == commit {
		return true, true, nil
	}
	if _, err := r.Run(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		if ExitCode(err) < 0 {
			return false, false, fmt.Errorf("look for the commit %s: %w", commit, err)
		}
		return false, false, nil
	}
	within, err = r.Contains(ctx, commit, tip)
	return within, true, err
}

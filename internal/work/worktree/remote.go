package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// PushRefused is the answer of origin, or of a hook, that the default branch is not to be pushed to.
type PushRefused struct{ cause error }

func (e *PushRefused) Error() string {
	return "origin did not take it, and nothing was changed, here or there: " + e.cause.Error()
}

func (e *PushRefused) Unwrap() error { return e.cause }

// pushDefault brings the merged commit to origin, unless another push came first. The repository's
// hooks run here as in any push: git-lfs uploads in one.
func (r Repo) pushDefault(ctx context.Context, origin, commit string) error {
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return err
	}
	if origin == "" {
		if err := r.notElsewhere(ctx, env); err != nil {
			return err
		}
	}
	full := "refs/heads/" + r.DefaultBranch
	// The lease is what keeps a push of someone else's in the same moment: the commit holds what origin has.
	args := []string{"push", "--quiet", "--no-follow-tags", "--force-with-lease=" + full + ":" + origin, "origin",
		commit + ":" + full}
	pushed := r.pushWithin(ctx, call{dir: r.Path, args: args, env: env, hooks: true})
	if pushed == nil {
		return nil
	}
	// The answer may have been lost on its way.
	tip, err := r.remoteTip(ctx, r.DefaultBranch, env)
	if err != nil {
		return fmt.Errorf("it is not known whether origin has it now; nothing was changed here; run this again: %w",
			errors.Join(pushed, err))
	}
	switch {
	case tip == commit:
		return nil
	case tip == "" && origin != "":
		return fmt.Errorf("origin has no branch %q any more; if it was renamed there, say how it is called "+
			"now: orange project update NAME --default-branch BRANCH; else merge without origin: --no-push; "+
			"nothing was changed",
			r.DefaultBranch)
	case tip != origin:
		return fmt.Errorf("%q of origin %w", r.DefaultBranch, errMoved)
	}
	return &PushRefused{pushed}
}

// notElsewhere refuses a push that would give origin a second default branch.
func (r Repo) notElsewhere(ctx context.Context, env []string) error {
	out, err := r.git(ctx, call{dir: r.Path, args: []string{"ls-remote", "--quiet", "--symref", "origin", "HEAD"},
		env: env})
	if err != nil {
		return fmt.Errorf("ask origin for its default branch (nothing was changed): %w", err)
	}
	line, _, _ := strings.Cut(out.Text(), "\n")
	theirs, _, found := strings.Cut(strings.TrimPrefix(line, "ref: refs/heads/"), "\t")
	if found && strings.HasPrefix(line, "ref: ") && theirs != r.DefaultBranch {
		return fmt.Errorf("the default branch of origin is %q, and it has no %q; if it was renamed, say how it is "+
			"called now: orange project update NAME --default-branch %s; else merge without origin: --no-push; "+
			"nothing was changed", theirs, r.DefaultBranch, quoted(theirs))
	}
	return nil
}

// pushLimit is how long a push of the default branch may take, with the hook before it.
const pushLimit = 2 * time.Minute

// pushWithin pushes, and ends the push, and the hook that it waits for, where that takes too long.
func (r Repo) pushWithin(ctx context.Context, c call) error {
	limit := cmp.Or(r.patience, pushLimit)
	said := command(c, r.overrules, wholeFor(ctx))
	ended, err := proc.RunLimited(ctx, said, proc.Limits{Time: limit, Output: mostOfPush})
	switch {
	case err != nil:
		return fmt.Errorf("git push: %w", err)
	case ended.TimedOut:
		return &gitError{verb: "push", said: fmt.Sprintf("it did not end within %s, and was ended; a hook "+
			"(pre-push) or origin may have waited for something. It said: %s", limit,
			cmp.Or(strings.TrimSpace(ended.Output), "nothing"))}
	case ended.Code != 0:
		return &gitError{verb: "push", said: cmp.Or(strings.TrimSpace(ended.Output), silence(ended.Code))}
	}
	return nil
}

// mostOfPush is how many bytes of what a push says are kept.
const mostOfPush = 16 << 10

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
	defer explain(&err, "cannot delete %q from origin", branch)
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return out, err
	}
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return out, err
	}
	tip, err := r.remoteTip(ctx, branch, env)
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
	if _, err := r.git(ctx, call{dir: r.Path, args: args, env: env}); err != nil {
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
	if _, err := r.run(ctx, "cat-file", "-e", tip+"^{commit}"); err != nil {
		return fmt.Sprintf("its commit %s is not known here: another clone pushed to it; fetch it and look", tip), nil
	}
	if has, err := r.contains(ctx, base.Commit, tip); err != nil || !has {
		return fmt.Sprintf("its commit %s is not merged into %s; merge it first", tip, base.Ref), err
	}
	if pushed != "" {
		return "", nil
	}
	ours, err := r.Tip(ctx, branch)
	has := false
	if err == nil && ours != "" { // the branch may be gone here
		has, err = r.contains(ctx, ours, tip)
	}
	if err != nil || !has {
		return fmt.Sprintf("its commit %s is not on the branch here; delete it yourself if no one needs it", tip), err
	}
	return "", nil
}

// madeBefore is why a commit that is older than a moment is left alone; empty where it is not older.
func (r Repo) madeBefore(ctx context.Context, commit string, moment time.Time) (string, error) {
	out, err := r.run(ctx, "show", "--no-patch", "--no-show-signature", "--format=%ct", commit, "--")
	if err != nil {
		return "", fmt.Errorf("look when %s was made: %w", commit, err)
	}
	made, err := strconv.ParseInt(out.Text(), 10, 64)
	if err != nil || made >= moment.Unix() {
		return "", err
	}
	return fmt.Sprintf("its commit %s is older than the task; delete it yourself if no one needs it", commit), nil
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
	defer explain(&err, "cannot push %q to origin", branch)
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
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return "", false, err
	}
	tip, err := r.remoteTip(ctx, branch, env)
	if err != nil {
		return "", false, err
	}
	if tip == commit {
		return commit, false, nil
	}
	// The commit and not the branch: an agent may commit at this moment, and what is answered is what was pushed.
	args := []string{"push", "--quiet", "--no-follow-tags", "origin", commit + ":refs/heads/" + branch}
	if _, err := r.git(ctx, call{dir: r.Path, args: args, env: env, hooks: true}); err != nil {
		if refusedWith(err, "rejected") && (refusedWith(err, "fetch first") || refusedWith(err, "non-fast-forward")) {
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
	has, err := r.contains(ctx, tip, wanted)
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
	out, err := r.run(ctx, "remote", "get-url", "origin")
	if err != nil {
		return nil, fmt.Errorf("cannot tell where origin of %q is: %w", r.Path, err)
	}
	addresses := []string{out.Text()}
	out, err = r.run(ctx, "config", "--get-all", "remote.origin.url")
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("cannot tell where origin of %q is: %w", r.Path, err)
	}
	return append(addresses, strings.Fields(out.Text())...), nil
}

// Tip is the newest commit of a branch; empty where there is no such branch.
func (r Repo) Tip(ctx context.Context, branch string) (string, error) {
	full := "refs/heads/" + branch
	refs, err := r.refs(ctx, full)
	if err != nil {
		return "", fmt.Errorf("look for the branch %q: %w", branch, err)
	}
	return refs[full].commit, nil
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
	if _, err := r.run(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		if exitCode(err) < 0 {
			return false, false, fmt.Errorf("look for the commit %s: %w", commit, err)
		}
		return false, false, nil
	}
	within, err = r.contains(ctx, commit, tip)
	return within, true, err
}

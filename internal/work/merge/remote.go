package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// PushRefused is the answer of origin, or of a hook, that the default branch is not to be pushed to.
type PushRefused struct{ cause error }

func (e *PushRefused) Error() string {
	return "origin did not take it, and nothing was changed, here or there: " + e.cause.Error()
}

func (e *PushRefused) Unwrap() error { return e.cause }

// pushDefault brings the merged commit to origin, unless another push came first. The repository's
// hooks run here as in any push: git-lfs uploads in one.
func (r Into) pushDefault(ctx context.Context, origin, commit string, marks []string) error {
	env, err := r.RemoteEnv(ctx)
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
	pushed := r.pushWithin(ctx, git.Call{Dir: r.Path, Args: args, Env: slices.Concat(env, marks), Hooks: true})
	if pushed == nil {
		return nil
	}
	// The answer may have been lost on its way.
	tip, err := r.RemoteTip(ctx, r.DefaultBranch, env)
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
func (r Into) notElsewhere(ctx context.Context, env []string) error {
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"ls-remote", "--quiet", "--symref", "origin", "HEAD"},
		Env: env})
	if err != nil {
		return fmt.Errorf("ask origin for its default branch (nothing was changed): %w", err)
	}
	line, _, _ := strings.Cut(out.Text(), "\n")
	theirs, _, found := strings.Cut(strings.TrimPrefix(line, "ref: refs/heads/"), "\t")
	if found && strings.HasPrefix(line, "ref: ") && theirs != r.DefaultBranch {
		return fmt.Errorf("the default branch of origin is %q, and it has no %q; if it was renamed, say how it is "+
			"called now: orange project update NAME --default-branch %s; else merge without origin: --no-push; "+
			"nothing was changed", theirs, r.DefaultBranch, git.Quote(theirs))
	}
	return nil
}

// pushLimit is how long a push of the default branch may take, with the hook before it.
const pushLimit = 2 * time.Minute

// pushWithin pushes, and ends the push, and the hook that it waits for, where that takes too long.
func (r Into) pushWithin(ctx context.Context, c git.Call) error {
	limit := cmp.Or(r.Patience, pushLimit)
	said := r.Command(ctx, c)
	ended, err := proc.RunLimited(ctx, said, proc.Limits{Time: limit, Output: mostOfPush})
	switch {
	case err != nil:
		return fmt.Errorf("git push: %w", err)
	case ended.TimedOut:
		return &git.Refusal{Verb: "push", Said: fmt.Sprintf("it did not end within %s, and was ended; a hook "+
			"(pre-push) or origin may have waited for something. It said: %s", limit,
			cmp.Or(strings.TrimSpace(ended.Output), "nothing"))}
	case ended.Code != 0:
		return &git.Refusal{Verb: "push", Said: cmp.Or(strings.TrimSpace(ended.Output), git.Silence(ended.Code))}
	}
	return nil
}

// mostOfPush is how many bytes of what a push says are kept.
const mostOfPush = 16 << 10

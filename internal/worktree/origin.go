package worktree

import (
	"context"
	"fmt"
	"strings"
)

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

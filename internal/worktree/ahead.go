package worktree

import (
	"context"
	"fmt"
)

// Ahead reports whether a local branch, or one commit of it where that is named, holds a commit that neither the
// default branch here nor the one on origin has.
func (r Repo) Ahead(ctx context.Context, branch, commit string) (bool, error) {
	if err := CheckBranch(ctx, branch); err != nil {
		return false, err
	}
	exists, err := r.BranchExists(ctx, branch)
	if err != nil {
		return false, err
	}
	if !exists {
		return false, fmt.Errorf("cannot look what the branch %q holds: there is no such branch", branch)
	}
	if commit == "" {
		commit = "refs/heads/" + branch
	}
	args := []string{"rev-list", "--max-count=1", commit, "--not"}
	found, err := r.refs(ctx, r.defaultRefs()...)
	if err != nil {
		return false, fmt.Errorf("look for the default branch: %w", err)
	}
	for _, name := range r.defaultRefs() {
		if _, there := found[name]; there {
			args = append(args, name)
		}
	}
	out, err := r.run(ctx, append(args, "--")...)
	if err != nil {
		return false, fmt.Errorf("look what the branch %q holds: %w", branch, err)
	}
	return out.Text() != "", nil
}

package git

import (
	"context"
	"strings"
)

// IncludeFile names, in a repository, ignored files that every worktree gets a copy of.
const IncludeFile = ".worktreeinclude"

// Names runs a git that lists paths, each ended by NUL.
func (r Repo) Names(ctx context.Context, c Call) ([]string, error) {
	out, err := r.Do(ctx, c)
	if err != nil || len(out.Stdout) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out.Stdout), "\x00"), "\x00"), nil
}

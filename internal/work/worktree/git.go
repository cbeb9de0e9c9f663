package worktree

import (
	"context"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// run is git in the slot.
func (s Slot) run(ctx context.Context, args ...string) (proc.Result, error) {
	return s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: args})
}

package worktree

import (
	"context"
	"fmt"
)

// Make makes the worktree at Base, on no branch, where it is missing: ahead of time, for a task that comes later.
// It answers whether it had to. One that is there stays as it is.
func (s Slot) Make(ctx context.Context) (bool, error) {
	_, present, err := s.look(ctx)
	if err != nil || present {
		return false, err
	}
	base, err := s.Repo.Base(ctx)
	if err == nil {
		_, _, err = s.add(ctx, base.Commit)
	}
	if err != nil {
		return false, fmt.Errorf("cannot make workspace %q: %w", s.Dir, err)
	}
	return true, nil
}

package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Missing says what is not there any more of a slot that was on a branch: its worktree, or that branch; empty where
// both are there. It reads files, and asks git only where these do not tell.
func (s Slot) Missing(ctx context.Context, branch string) (string, error) {
	_, err := os.Lstat(filepath.Join(s.Dir, ".git"))
	if errors.Is(err, fs.ErrNotExist) {
		return "its worktree is gone", nil
	}
	on := ""
	if err == nil {
		on, err = s.headBranch(ctx)
	}
	if err == nil && on == branch {
		_, err = s.Repo.objectOf(ctx, "refs/heads/"+branch)
	}
	if errors.Is(err, errNoRef) {
		return fmt.Sprintf("its branch %q is gone", branch), nil
	}
	if err != nil {
		return "", fmt.Errorf("look whether workspace %q is there: %w", s.Dir, err)
	}
	return "", nil
}

// restoreBranch makes the branch again that the slot is on and that is gone, at the newest commit that is known of it.
// The slot's files and its index stay as they are. A branch of which no commit is known stays gone.
func (s Slot) restoreBranch(ctx context.Context, here *place) (notes []string, err error) {
	lost := s.lost(ctx, *here)
	if len(lost) == 0 {
		return nil, nil
	}
	_, err = s.Repo.run(ctx, "update-ref", "-m", "orange: made again", "refs/heads/"+here.branch, lost[0],
		strings.Repeat("0", len(lost[0])))
	if err != nil {
		return nil, fmt.Errorf("make branch %q again: %w", here.branch, err)
	}
	here.head = lost[0]
	return []string{again(here.branch, lost[0])}, nil
}

// again tells people of a branch that was made again.
func again(branch, commit string) string {
	return fmt.Sprintf("branch %q was gone: it was made again at %.12s, the newest commit of it that is known; "+
		"commits after that, if there were any, are among those that \"git fsck --lost-found\" lists", branch, commit)
}

// startOf is where the branch of a slot begins that is not here: at the last commit that is known of it, where origin
// has none or an older one, else where origin has it, else at the base. Where origin's branch has gone another way,
// that commit is kept.
func (s Slot) startOf(ctx context.Context, branch, taskID string, base Base, origin ref, onOrigin bool,
	done *Cleared) (string, error) {
	at := base.Commit
	if onOrigin {
		at = origin.commit
	}
	known, err := s.Repo.HasCommit(ctx, s.Noted)
	if err != nil || !known {
		return at, err
	}
	if has, err := s.Repo.contains(ctx, at, s.Noted); err != nil || has {
		return at, err
	}
	if onOrigin {
		older, err := s.Repo.contains(ctx, s.Noted, at)
		if err == nil && !older {
			done.Rescued, err = s.Repo.keepCommit(ctx, taskID, branch, s.Noted, keepingRefs())
		}
		if err != nil || !older {
			return at, err
		}
	}
	done.Notes = []string{again(branch, s.Noted)}
	return s.Noted, nil
}

package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orange/internal/task"
)

// Scratch makes a checkout of a commit in a folder of its own, with nothing in it but the commit's files. What an
// earlier one left there, whose maker was killed, is taken away first. It is never put to another use: see
// Unscratch.
func (r Repo) Scratch(ctx context.Context, dir, commit string) error {
	err := r.Unscratch(ctx, dir)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(dir), task.PrivateFolder)
	}
	if err == nil {
		_, err = r.run(ctx, "worktree", "add", "--quiet", "--detach", "--", dir, commit)
	}
	if err != nil {
		return fmt.Errorf("cannot make a checkout of %s in %q: %w", commit, dir, err)
	}
	return nil
}

// Unscratch takes such a checkout away with all that lies in it. One that is not there is no error.
func (r Repo) Unscratch(ctx context.Context, dir string) error {
	if err := (Slot{Repo: r, Dir: dir}).waitForGit(ctx); err != nil {
		return fmt.Errorf("cannot take the checkout %q away: %w", dir, err)
	}
	_, err := os.Lstat(dir)
	known, knownErr := r.Knows(ctx, dir)
	if knownErr != nil || errors.Is(err, os.ErrNotExist) && !known {
		return knownErr
	}
	if err := Discard(dir); err != nil {
		return err
	}
	if !known {
		return nil
	}
	if _, err := r.run(ctx, "worktree", "remove", "--force", "--force", "--", dir); err != nil {
		return fmt.Errorf("cannot make git forget the checkout %q: %w", dir, err)
	}
	return nil
}

// Discard removes a checkout that no repository knows.
func Discard(dir string) error {
	if err := removeAll(dir); err != nil {
		return fmt.Errorf("cannot take the checkout %q away: %w; it can be deleted", dir, err)
	}
	return nil
}

// Knows reports whether git has a worktree on record there.
func (r Repo) Knows(ctx context.Context, dir string) (bool, error) {
	all, err := r.checkouts(ctx, r.Path)
	if err != nil {
		return false, fmt.Errorf("cannot look for the checkout %q: %w", dir, err)
	}
	return slices.ContainsFunc(all, func(c checkout) bool { return samePath(c.path, dir) }), nil
}

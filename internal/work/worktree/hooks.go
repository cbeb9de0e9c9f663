package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/work/git"
)

// HiddenHooks reports whether git looks for hooks, by the value of core.hooksPath, in a folder of the checkout that no
// commit has: then no hook runs in a new worktree, and nothing says so.
func (r Main) HiddenHooks(ctx context.Context, hooksPath string) (bool, error) {
	files, err := r.Files(ctx)
	if err != nil || files == "" {
		return false, err
	}
	here, err := hasHooks(files, hooksPath)
	if err != nil || !here {
		return false, err
	}
	tracked, err := r.Names(ctx, git.Call{Dir: files, Args: []string{"ls-files", "-z", "--", ":(literal)" + hooksPath}})
	if err != nil {
		return false, fmt.Errorf("ask git whether commits have the hooks in %q: %w", hooksPath, err)
	}
	return len(tracked) == 0, nil
}

// LacksHooks reports whether a worktree has no folder of hooks, by the value of core.hooksPath, and the checkout has.
func (s Slot) LacksHooks(ctx context.Context, hooksPath string) (bool, error) {
	if !filepath.IsLocal(hooksPath) {
		return false, nil
	}
	files, err := s.Repo.Files(ctx)
	if err != nil || files == "" {
		return false, err
	}
	here, err := hasHooks(files, hooksPath)
	if err != nil || !here {
		return false, err
	}
	there, err := hasHooks(s.Dir, hooksPath)
	return !there, err
}

// hasHooks reports whether there is anything in the folder that core.hooksPath names relative to another one. A folder
// with a name of its own is the same in every worktree.
func hasHooks(dir, hooksPath string) (bool, error) {
	if !filepath.IsLocal(hooksPath) {
		return false, nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, hooksPath))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for hooks of git: %w", err)
	}
	return len(entries) > 0, nil
}

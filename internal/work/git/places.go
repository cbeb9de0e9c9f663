package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CommonDir is git's own folder of the repository.
func (r Repo) CommonDir(ctx context.Context) (string, error) {
	if dir, known := r.Folder(); known {
		return dir, nil
	}
	// not upwards: where its own .git is gone, a repository around it is another one
	out, err := r.Run(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return "", fmt.Errorf("find the repository of %q: %w", r.Path, err)
	}
	if dir := strings.TrimSuffix(string(out.Stdout), "\n"); dir != "" && !strings.Contains(dir, "\n") {
		return dir, nil
	}
	return "", fmt.Errorf("find the repository of %q: git answered %q", r.Path, out.Stdout)
}

// SamePath compares by what is there, and by name where one of them is not.
func SamePath(a, b string) bool {
	first, firstErr := os.Stat(a)
	second, secondErr := os.Stat(b)
	if firstErr == nil && secondErr == nil {
		return os.SameFile(first, second)
	}
	return resolve(a) == resolve(b)
}

// resolve is a path without links in the folder that it lies in.
func resolve(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return filepath.Clean(path)
}

// HasBranch reports whether there is a branch of that name, here or, as far as is known, on origin.
func (r Repo) HasBranch(ctx context.Context, branch string) (bool, error) {
	known, err := r.Refs(ctx, "refs/heads/"+branch, "refs/remotes/origin/"+branch)
	return len(known) > 0, err
}

// RemoveAll also deletes folders that may not be written to, such as those of Go's module cache.
func RemoveAll(folder string) error {
	if os.RemoveAll(folder) == nil {
		return nil
	}
	const ownerOnly = 0o700
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			return os.Chmod(path, ownerOnly)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(folder))
}

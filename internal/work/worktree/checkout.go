package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// excludeFile is the file by which git ignores files in all worktrees of the repository. It is an error where the
// repository has no checkout of its own.
func (r Main) excludeFile(ctx context.Context) (string, error) {
	lines, err := r.RevParse(ctx, r.Path, 2, "--is-inside-work-tree", "--git-path", "info/exclude")
	if err != nil {
		return "", err
	}
	if lines[0] != "true" {
		return "", task.Notef(task.ErrUsage, "the repository %q has no checkout", r.Path)
	}
	return lines[1], nil
}

// Tracks reports whether git tracks a file in a folder of the checkout, whose path is relative to the top.
func (r Main) Tracks(ctx context.Context, folder string) (bool, error) {
	if _, err := r.excludeFile(ctx); err != nil {
		return false, fmt.Errorf("check whether git tracks %q: %w", folder, err)
	}
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"--literal-pathspecs", "ls-files", "-z", "--", folder}})
	if err != nil {
		return false, fmt.Errorf("check whether git tracks %q: %w", folder, err)
	}
	return len(out.Stdout) > 0, nil
}

// ignoring is the pattern of .gitignore for one folder, whose path is relative to the top.
func ignoring(folder string) string { return "/" + literal(folder) + "/" }

// Ignore keeps folders out of git in all worktrees of the repository, through its own info/exclude. Their paths are
// relative to the top.
func (r Main) Ignore(ctx context.Context, folders ...string) error {
	file, err := r.excludeFile(ctx)
	if err == nil {
		var patterns []string
		for _, folder := range folders {
			patterns = append(patterns, ignoring(folder))
		}
		err = place{exclude: file}.addExcludes(ctx, patterns...)
	}
	if err != nil {
		return fmt.Errorf("have git ignore files in %q: %w", r.Path, err)
	}
	return nil
}

// IgnoreNoMore takes back what Ignore has done. All other lines of the file stay as they are.
func (r Main) IgnoreNoMore(ctx context.Context, folders ...string) error {
	path, err := r.excludeFile(ctx)
	if err == nil {
		err = withoutLines(ctx, path, folders)
	}
	if err != nil {
		return fmt.Errorf("stop git from ignoring files in %q: %w", r.Path, err)
	}
	return nil
}

func withoutLines(ctx context.Context, path string, folders []string) error {
	file, err := proc.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if err := git.LockExclude(ctx, file); err != nil { // as who adds a line does
		return err
	}
	text, err := proc.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(text), "\n")
	kept := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool {
			return strings.TrimSuffix(line, "\n") == ignoring(folder)
		})
	})
	if len(kept) == len(lines) {
		return nil
	}
	// in place: who waits for the lock has this very file open
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(strings.Join(kept, "")), 0)
	return err
}

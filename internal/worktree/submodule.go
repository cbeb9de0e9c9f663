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

// keptRefs is where, in a submodule of a slot, a commit is kept that nothing else there holds.
const keptRefs = "refs/orange/kept/"

// Submodules lays out the submodules of the slot, and theirs, at the commits that its own commit names. Where they are
// so already it changes nothing. What was checked out in one is kept in it first, and git refuses to overwrite
// changed files. What git itself refuses, such as a submodule at a local path, is refused here.
func (s Slot) Submodules(ctx context.Context) (err error) {
	defer explain(&err, "cannot lay out the submodules in workspace %q", s.Dir)
	if _, err := os.Lstat(filepath.Join(s.Dir, ".gitmodules")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	out, err := s.run(ctx, "submodule", "status", "--recursive")
	if err != nil {
		return err
	}
	due := false
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if line == "" || line[0] == ' ' {
			continue
		}
		due = true
		if line[0] == '+' {
			if err := s.keepSubmodule(ctx, line[1:]); err != nil {
				return err
			}
		}
	}
	if !due {
		return nil
	}
	env, err := s.Repo.remoteEnv(ctx)
	if err != nil {
		return err
	}
	// an agent can write another way of updating into the configuration, which may be a program
	_, err = s.Repo.git(ctx, call{dir: s.Dir, env: env,
		args: []string{"submodule", "update", "--init", "--recursive", "--checkout", "--quiet"}})
	return err
}

// keepSubmodule keeps the commit that a submodule is at. The line is git's: the commit, the path, and in brackets a
// name of the commit.
func (s Slot) keepSubmodule(ctx context.Context, line string) error {
	commit, path, _ := strings.Cut(line, " ")
	if i := strings.LastIndex(path, " ("); i > 0 {
		path = path[:i]
	}
	dir := filepath.Join(s.Dir, filepath.FromSlash(path))
	_, err := s.Repo.git(ctx, call{dir: dir, args: []string{"update-ref", keptRefs + commit, commit}})
	if err != nil {
		return fmt.Errorf("keep what is checked out in %q: %w", path, err)
	}
	return nil
}

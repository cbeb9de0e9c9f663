package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/work/git"
)

// setAsideWorktrees takes the worktrees out of the slot that were added inside of it. One with no file of its own, and
// whose commits the slot's branch or a remote has, holds nothing: git removes it. Any other is moved aside, and locked.
func (s sweep) setAsideWorktrees(ctx context.Context, head, taskID string) (moved []record.Aside, err error) {
	all, err := s.Repo.Checkouts(ctx, s.Repo.Path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return nil, err
	}
	for _, one := range slices.Backward(all) { // one inside of another first
		path, inside := strings.CutPrefix(one.Path, real+string(filepath.Separator))
		if !inside {
			continue
		}
		if _, err := os.Lstat(one.Path); errors.Is(err, os.ErrNotExist) {
			continue // git prunes it some day, and its branch has its commits
		}
		if s.holdsNothingNew(ctx, one, head) {
			if _, err := s.Repo.Run(ctx, "worktree", "remove", "--", one.Path); err == nil {
				continue
			}
		}
		a, err := s.moveWorktree(ctx, one, filepath.ToSlash(path), taskID)
		if err != nil {
			return moved, fmt.Errorf("set the worktree %q aside: %w", path, err)
		}
		moved = append(moved, a)
	}
	return moved, nil
}

// holdsNothingNew reports whether a worktree has no file but those of its commit, and the given commit or a remote has
// each of its commits. One with settings of its own, which may be an agent's, is not looked at with git.
func (s sweep) holdsNothingNew(ctx context.Context, c git.Worktree, head string) bool {
	inside := Slot{Repo: s.Repo, Dir: c.Path}
	here, own := inside.ownPlace(ctx)
	if !own || git.HasFile(here.gitDir, configFile) || git.OperationInProgress(here.gitDir) ||
		git.HasFile(here.gitDir, "modules") || c.Locked != "" {
		return false
	}
	dirty, err := inside.anyChange(ctx)
	if err != nil || dirty {
		return false
	}
	known, err := inside.Files().list(ctx, "--others") // also what git ignores
	if err != nil || len(known.flags)+len(known.others) > 0 {
		return false
	}
	args := []string{"rev-list", "--max-count=1", c.Commit, "--not", "--remotes"}
	if head != "" {
		args = append(args, head)
	}
	left, err := s.run(ctx, append(args, "--")...)
	return err == nil && left.Text() == ""
}

// moveWorktree has git move a worktree aside, and locks it there. One that git cannot move is moved like a folder.
func (s sweep) moveWorktree(ctx context.Context, c git.Worktree, path, taskID string) (record.Aside, error) {
	a, err := s.newAside(taskID, path, aWorktree, true)
	if err != nil {
		return a, err
	}
	// Git moves none with submodules, and their paths would lead nowhere.
	if err := (Slot{Repo: s.Repo, Dir: c.Path}).sweep().embody(ctx, c.Path); err != nil {
		return a, err
	}
	_, err = s.Repo.Run(ctx, "worktree", "move", "--force", "--force", "--", c.Path, a.At)
	if err != nil && git.ExitCode(err) > 0 {
		if err = relocate(ctx, c.Path, a.At); err == nil {
			_, _ = s.Repo.Run(ctx, "worktree", "repair", "--", a.At) // one that is damaged stays a folder
		}
	}
	if err == nil && c.Locked == "" {
		_, _ = s.Repo.Run(ctx, "worktree", "lock", "--reason", "set aside by Orange for task "+taskID, "--", a.At)
	}
	return a, err
}

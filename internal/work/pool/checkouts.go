package pool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// checkouts are the folders in which checks run that want none of a worktree.
type checkouts struct {
	*places
	settings *settings
	setups   *setups
}

func (c *checkouts) scratchDir() string { return c.Dir(".scratch") }

// Scratch makes a checkout of a commit of the task's repository, in a folder whose name no one knows before. Its Away
// removes it; a process that is killed leaves it there until the next, or until the task gives its workspace back. A
// set-up that leaves other files there than the commit's is an error: what runs there tells of the commit.
func (c *checkouts) Scratch(ctx context.Context, t task.Task, name, commit string) (made worktree.Checkout, err error) {
	repo, err := c.repo(t)
	if err != nil {
		return made, err
	}
	made.Away = func(ctx context.Context) error { return c.unscratch(ctx, repo, name) }
	if err = made.Away(ctx); err != nil { // what an earlier one has left
		return made, err
	}
	slot := worktree.Slot{Repo: repo, Dir: filepath.Join(c.scratchDir(), name, rand.Text())}
	if err = (worktree.Worktrees{Repo: repo}).Scratch(ctx, slot.Dir, commit); err == nil {
		err = c.settings.asOwn(ctx, t, false, func(task.Project) error {
			return c.setups.makeReadyOnce(ctx, t, slot, name)
		})
	}
	if err == nil {
		made.Stamps, err = slot.Files().Stamps(ctx)
	}
	if err != nil {
		return made, err
	}
	at, _, err := slot.Files().Snapshot(ctx)
	if changed := append(at.Modified, made.Stamps.Differ...); err == nil && len(changed) > 0 {
		slices.Sort(changed)
		err = fmt.Errorf("files of the commit were changed when its checkout was set up: %s; leave them as they are "+
			"there, or run the check without scratch", strings.Join(slices.Compact(changed), ", "))
	}
	if err == nil {
		made.Dir, made.Env, err = c.setups.startIn(ctx, t, slot.Dir)
	}
	return made, err
}

// unscratch takes away what is in the folder of a check's checkouts, and the folder.
func (c *checkouts) unscratch(ctx context.Context, repo git.Repo, name string) error {
	folder := filepath.Join(c.scratchDir(), name)
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for checkouts that checks have left: %w", err)
	case !info.IsDir(): // a link may lead anywhere
		return os.Remove(folder)
	}
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		err = errors.Join(err, worktree.Worktrees{Repo: repo}.Unscratch(ctx, filepath.Join(folder, entry.Name())))
	}
	if err == nil {
		err = os.Remove(folder)
	}
	return err
}

// unscratchAll takes away what checks of the task have left that were killed.
func (c *checkouts) unscratchAll(ctx context.Context, repo git.Repo, t task.Task) error {
	names, err := c.Scratches()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, t.ID+"-") {
			if err := c.unscratch(ctx, repo, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Scratches are the names of the checkouts that are there.
func (c *checkouts) Scratches() ([]string, error) {
	entries, err := os.ReadDir(c.scratchDir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("look for checkouts that checks have left: %w", err)
	}
	var out []string
	for _, entry := range entries {
		out = append(out, entry.Name())
	}
	return out, nil
}

// RemoveScratch removes a checkout by its name. The repository that knows it forgets it too.
func (c *checkouts) RemoveScratch(ctx context.Context, name string) error {
	projects, err := c.setup.Projects()
	if err != nil {
		return err
	}
	folder := filepath.Join(c.scratchDir(), name)
	for _, project := range projects {
		repo := repoOf(project)
		if known, err := (worktree.Worktrees{Repo: repo}).KnowsBelow(ctx, folder); err == nil && known {
			return c.unscratch(ctx, repo, name)
		}
	}
	return worktree.Discard(folder)
}

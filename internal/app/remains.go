package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/evidence"
	"orange/internal/task"
	"orange/internal/worktree"
)

// remains lends to the doctor what checks and judgements leave in repositories.
type remains struct{ house *house }

func (r remains) Checkouts() ([]string, error) {
	entries, err := os.ReadDir(r.house.scratchDir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("look for checkouts that checks have left: %w", err)
	}
	var out []string
	for _, entry := range entries {
		runs, err := r.runs(entry.Name())
		if err != nil {
			return nil, err
		}
		if !runs {
			out = append(out, entry.Name())
		}
	}
	return out, nil
}

// runs says whether somebody runs a check in a checkout at this moment. Looking makes no lock where there is none.
func (r remains) runs(name string) (bool, error) {
	if _, err := os.Stat(filepath.Join(r.house.dir, "locks", evidence.LockOf(name))); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	release, free, err := r.house.files.TryLock(evidence.LockOf(name))
	if free {
		release()
	}
	return !free, err
}

func (r remains) RemoveCheckout(ctx context.Context, name string) error {
	release, free, err := r.house.files.TryLock(evidence.LockOf(name))
	if err != nil {
		return err
	}
	if !free {
		return fmt.Errorf("cannot remove the checkout %q: a check runs in it by now", name)
	}
	defer release()
	id, escaped, _ := strings.Cut(name, "-")
	if check, err := url.PathUnescape(escaped); err == nil { // what it started may run on without it
		if err := endMarked(ctx, r.house.checkMarks(id, check)); err != nil {
			return err
		}
	}
	projects, err := r.house.home.Projects()
	if err != nil {
		return err
	}
	dir := filepath.Join(r.house.scratchDir(), name)
	for _, p := range projects { // the one that has it on record forgets it, too
		repo := worktree.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}
		if known, err := repo.Knows(ctx, dir); err == nil && known {
			return repo.Unscratch(ctx, dir)
		}
	}
	return worktree.Discard(dir)
}

func (r remains) Judged(ctx context.Context, p task.Project) ([]string, error) {
	return worktree.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}.Judged(ctx)
}

func (r remains) ForgetJudged(ctx context.Context, p task.Project, id, branch string) error {
	kept, err := worktree.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}.ForgetJudged(ctx, id, branch, false)
	for _, one := range kept {
		r.house.engine.Log.Info("what was judged and nobody else has is kept", "component", "doctor", "task", id,
			"ref", one.Ref)
	}
	return err
}

package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/shared"
)

// losses are what is gone since tasks got their worktrees.
type losses struct {
	*places
	branches *branches
	record   Record
	log      *slog.Logger
}

// othersFile is the note of the branches and stashes that there were when a task got its worktree.
func (l *losses) othersFile(id string) string {
	return filepath.Join(l.home, "workspaces", ".shared", "others", id+".json")
}

// noteOthers notes them where the task has none yet: what it is about is what is lost while its agents work.
func (l *losses) noteOthers(ctx context.Context, t task.Task, repo git.Repo) error {
	file := l.othersFile(t.ID)
	if _, err := os.Lstat(file); err == nil {
		return nil
	}
	all, err := shared.Common{Repo: repo}.Others(ctx)
	if err != nil {
		return err
	}
	if all.Unread != nil {
		l.log.Warn("what is lost of stashes will not be known", "component", "pool", "task", t.ID, "error",
			all.Unread.Error())
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), task.PrivateFolder)
	}
	if err == nil {
		err = proc.WriteFile(file, text, task.PrivateFile) // one that a cut power spoils is no loss
	}
	if err != nil {
		return fmt.Errorf("note the branches of %q: %w", repo.Path, err)
	}
	return nil
}

// forgetOthers removes the note.
func (l *losses) forgetOthers(id string) error {
	if err := os.Remove(l.othersFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the branches that there were: %w", err)
	}
	return nil
}

// Lost tells what is gone since a task got its worktree, by its agents or by others: the worktree or its own branch,
// and branches and stashes of others. Those of other tasks that have a worktree are left out: they are missing
// there.
func (l *losses) Lost(ctx context.Context, t task.Task) ([]string, error) {
	var out []string
	missing, err := l.branches.Missing(ctx, t)
	if missing != "" {
		out = []string{missing + ": orange task respawn " + t.ID}
	}
	others, unread := l.lostOthers(ctx, t)
	return append(out, others...), errors.Join(err, unread)
}

func (l *losses) lostOthers(ctx context.Context, t task.Task) ([]string, error) {
	var was shared.Others
	err := proc.ReadJSON(l.othersFile(t.ID), &was)
	if t.Workspace == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which branches there were when task %s began: %w", t.ID, err)
	}
	repo, err := l.repo(t)
	if err != nil {
		return nil, err
	}
	holders, err := l.record.Holders(ctx, t.Project)
	if err != nil {
		return nil, err
	}
	own := []string{t.Branch}
	for _, h := range holders {
		own = append(own, h.Branch)
	}
	return shared.Common{Repo: repo}.LostSince(ctx, was, own)
}

package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/shared"
)

// othersFile is the note of the branches and stashes that there were when a task got its worktree.
func (p *Pool) othersFile(id string) string {
	return filepath.Join(p.Home, "workspaces", ".shared", "others", id+".json")
}

// noteOthers notes them where the task has none yet: what it is about is what is lost while its agents work.
func (p *Pool) noteOthers(ctx context.Context, t task.Task, repo git.Repo) error {
	file := p.othersFile(t.ID)
	if _, err := os.Lstat(file); err == nil {
		return nil
	}
	all, err := shared.Common{Repo: repo}.Others(ctx)
	if err != nil {
		return err
	}
	if all.Unread != nil {
		p.Log.Warn("what is lost of stashes will not be known", "component", "pool", "task", t.ID, "error",
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
func (p *Pool) forgetOthers(id string) error {
	if err := os.Remove(p.othersFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the branches that there were: %w", err)
	}
	return nil
}

// Lost tells what is gone since a task got its worktree, by its agents or by others: the worktree or its own branch,
// and branches and stashes of others. Those of other tasks that have a worktree are left out: they are missing
// there.
func (p *Pool) Lost(ctx context.Context, t task.Task) ([]string, error) {
	var out []string
	missing, err := p.Missing(ctx, t)
	if missing != "" {
		out = []string{missing + ": orange task respawn " + t.ID}
	}
	others, unread := p.lostOthers(ctx, t)
	return append(out, others...), errors.Join(err, unread)
}

func (p *Pool) lostOthers(ctx context.Context, t task.Task) ([]string, error) {
	text, err := proc.ReadFile(p.othersFile(t.ID))
	if t.Workspace == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var was shared.Others
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err != nil {
		return nil, fmt.Errorf("read which branches there were when task %s began: %w", t.ID, err)
	}
	repo, err := p.repo(t)
	if err != nil {
		return nil, err
	}
	holders, err := p.Record.Holders(ctx, t.Project)
	if err != nil {
		return nil, err
	}
	own := []string{t.Branch}
	for _, h := range holders {
		own = append(own, h.Branch)
	}
	return shared.Common{Repo: repo}.LostSince(ctx, was, own)
}

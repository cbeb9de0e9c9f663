package pool

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// Asides lists what was set aside of a task's workspaces, or of those of all tasks where id is empty.
func (p *Pool) Asides(id string) ([]record.Aside, error) { return worktree.Asides(p.Dir(""), id) }

// aside finds one thing of a task's that is set aside. The newest of that path counts.
func (p *Pool) aside(id, path string) (record.Aside, error) {
	all, unread := worktree.Asides(p.Dir(""), id) // one that cannot be read keeps no other
	var paths []string
	for _, one := range slices.Backward(all) {
		if one.Path == strings.TrimSuffix(filepath.ToSlash(path), "/") {
			return one, nil
		}
		paths = append(paths, one.Path)
	}
	if unread != nil {
		return record.Aside{}, unread
	}
	if len(paths) == 0 {
		return record.Aside{}, task.Notef(task.ErrNotFound, "nothing is set aside of task %q; \"orange workspace "+
			"list\" names what is", id)
	}
	return record.Aside{}, task.Notef(task.ErrNotFound, "%q is not set aside of task %s: there is %s", path, id,
		printable.Names(paths, len(paths)))
}

// RestoreAside brings back what was set aside: to a place, or to where it lay in the workspace that the task has now.
func (p *Pool) RestoreAside(ctx context.Context, id, path, to string) (record.Aside, error) {
	a, err := p.aside(id, path)
	if err != nil {
		return record.Aside{}, err
	}
	if to == "" {
		s, err := p.Record.Load(ctx, id)
		if err != nil && !errors.Is(err, task.ErrNotFound) {
			return record.Aside{}, err
		}
		if s.Task.Workspace == "" || a.Path == "." {
			return record.Aside{}, task.Notef(task.ErrUsage, "cannot bring back %q of task %s: it has no workspace "+
				"for it; say where with --to FOLDER", a.Path, id)
		}
		to = filepath.Join(p.Dir(s.Task.Workspace), filepath.FromSlash(a.Path))
	}
	repo, err := p.repoOfAside(&a)
	if err == nil {
		err = worktree.Worktrees{Repo: repo}.Restore(ctx, a, to)
	}
	if err != nil {
		return record.Aside{}, err
	}
	a.At = to
	return a, nil
}

// DropAside removes for good what was set aside.
func (p *Pool) DropAside(ctx context.Context, id, path string) (record.Aside, error) {
	a, err := p.aside(id, path)
	if err != nil {
		return record.Aside{}, err
	}
	return a, p.drop(ctx, a)
}

func (p *Pool) drop(ctx context.Context, a record.Aside) error {
	repo, err := p.repoOfAside(&a)
	if err != nil {
		return err
	}
	return worktree.Worktrees{Repo: repo}.Drop(ctx, a)
}

// repoOfAside is the registered repository that knows a worktree which is set aside. The worktree's own files, which an
// agent could write, name no other one: without a registered repository it is a folder like others.
func (p *Pool) repoOfAside(a *record.Aside) (git.Repo, error) {
	if !a.Linked {
		return git.Repo{}, nil
	}
	projects, err := p.Setup.Projects()
	if err != nil {
		return git.Repo{}, err
	}
	shared := git.SharedOf(a.At)
	for _, one := range projects {
		if repo := p.repoOf(one); shared != "" && repo.Has(shared) {
			return repo, nil
		}
	}
	a.Linked = false
	return git.Repo{}, nil
}

// DropAsides removes for good what was set aside longer ago than the age.
func (p *Pool) DropAsides(ctx context.Context, age time.Duration) (dropped []record.Aside, err error) {
	all, err := worktree.Asides(p.Dir(""), "")
	for _, one := range all {
		if time.Since(one.Since) < age {
			continue
		}
		if failed := p.drop(ctx, one); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		dropped = append(dropped, one)
	}
	return dropped, err
}

// Left tells what git ignores in a workspace, and which task left it; empty where that is not known.
func (p *Pool) Left(workspace string) string {
	left, err := worktree.Slot{Dir: p.Dir(workspace)}.Left()
	if err != nil {
		return err.Error()
	}
	return left
}

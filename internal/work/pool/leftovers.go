package pool

import (
	"context"
	"errors"
	"log/slog"
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

// leftovers are what was kept of the work of tasks: set aside, rescued, or because it was judged.
type leftovers struct {
	*places
	record Record
	log    *slog.Logger
}

// Asides lists what was set aside of a task's workspaces, or of those of all tasks where id is empty.
func (l *leftovers) Asides(id string) ([]record.Aside, error) { return worktree.Asides(l.Dir(""), id) }

// aside finds one thing of a task's that is set aside. The newest of that path counts.
func (l *leftovers) aside(id, path string) (record.Aside, error) {
	all, unread := worktree.Asides(l.Dir(""), id) // one that cannot be read keeps no other
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
func (l *leftovers) RestoreAside(ctx context.Context, id, path, to string) (record.Aside, error) {
	a, err := l.aside(id, path)
	if err != nil {
		return record.Aside{}, err
	}
	if to == "" {
		s, err := l.record.Load(ctx, id)
		if err != nil && !errors.Is(err, task.ErrNotFound) {
			return record.Aside{}, err
		}
		if s.Task.Workspace == "" || a.Path == "." {
			return record.Aside{}, task.Notef(task.ErrUsage, "cannot bring back %q of task %s: it has no workspace "+
				"for it; say where with --to FOLDER", a.Path, id)
		}
		to = filepath.Join(l.Dir(s.Task.Workspace), filepath.FromSlash(a.Path))
	}
	repo, err := l.repoOfAside(&a)
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
func (l *leftovers) DropAside(ctx context.Context, id, path string) (record.Aside, error) {
	a, err := l.aside(id, path)
	if err != nil {
		return record.Aside{}, err
	}
	return a, l.drop(ctx, a)
}

func (l *leftovers) drop(ctx context.Context, a record.Aside) error {
	repo, err := l.repoOfAside(&a)
	if err != nil {
		return err
	}
	return worktree.Worktrees{Repo: repo}.Drop(ctx, a)
}

// repoOfAside is the registered repository that knows a worktree which is set aside. The worktree's own files, which an
// agent could write, name no other one: without a registered repository it is a folder like others.
func (l *leftovers) repoOfAside(a *record.Aside) (git.Repo, error) {
	if !a.Linked {
		return git.Repo{}, nil
	}
	projects, err := l.setup.Projects()
	if err != nil {
		return git.Repo{}, err
	}
	shared := git.SharedOf(a.At)
	for _, one := range projects {
		if repo := repoOf(one); shared != "" && repo.Has(shared) {
			return repo, nil
		}
	}
	a.Linked = false
	return git.Repo{}, nil
}

// DropAsides removes for good what was set aside longer ago than the age.
func (l *leftovers) DropAsides(ctx context.Context, age time.Duration) (dropped []record.Aside, err error) {
	all, err := worktree.Asides(l.Dir(""), "")
	for _, one := range all {
		if time.Since(one.Since) < age {
			continue
		}
		if failed := l.drop(ctx, one); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		dropped = append(dropped, one)
	}
	return dropped, err
}

// Rescues lists the work that was kept for a task.
func (l *leftovers) Rescues(ctx context.Context, t task.Task) ([]task.Rescued, error) {
	repo, err := l.repo(t)
	if err != nil {
		return nil, err
	}
	all, err := worktree.Rescues{Repo: repo}.List(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var out []task.Rescued
	for _, r := range all {
		out = append(out, task.Rescued{Ref: r.Ref, Commit: r.Commit, What: r.What, Command: r.Command(repo.Path)})
	}
	return out, nil
}

// Judged are the tasks for which a repository keeps what was judged.
func (l *leftovers) Judged(ctx context.Context, project task.Project) ([]string, error) {
	return worktree.Judged{Repo: repoOf(project)}.Tasks(ctx)
}

// ForgetJudged lets go of what was judged of a task, and keeps what is nowhere else.
func (l *leftovers) ForgetJudged(ctx context.Context, project task.Project, id, branch string) error {
	kept, err := worktree.Judged{Repo: repoOf(project)}.Forget(ctx, id, branch, false)
	for _, one := range kept {
		l.log.Info("what was judged and is nowhere else is kept", "component", "doctor", "task", id, "ref", one.Ref)
	}
	return err
}

// Held tells which commits a project's repository does not have, and which no ref there holds.
func (l *leftovers) Held(ctx context.Context, project string, commits []string) (gone, loose []string, err error) {
	found, err := l.setup.Project(project)
	if err != nil {
		return nil, nil, err
	}
	return repoOf(found).Held(ctx, commits)
}

package pool

import (
	"context"
	"errors"

	"orange/internal/rules/diff"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// changes are what the work of tasks has changed: the commits of its branch, and the files of its worktree.
type changes struct {
	*places
	branches *branches
}

// Subject reads what a task's evidence is about now: the tip of its branch and, with tree, the trees of what lies
// in the worktree, which are kept. The answer holds the error for what cannot be read.
func (c *changes) Subject(ctx context.Context, t task.Task, tree bool) task.Subject {
	slot, err := c.Slot(t)
	if err != nil {
		return task.Subject{Trouble: err.Error()}
	}
	tip := worktree.Worktrees{Repo: slot.Repo}.ReadTip(ctx, slot.Dir, t.Branch)
	s := task.Subject{Commit: tip.Commit, Branch: tip.Branch, Trouble: tip.Trouble}
	if !tree || slot.Dir == "" {
		return s
	}
	trees, err := slot.Files().Trees(ctx, t.ID)
	if err != nil {
		s.Trouble = err.Error()
	}
	s.Tree, s.Tracked = trees.Whole, trees.Tracked
	return s
}

// Snapshot is what the task's worktree has checked out; there is false where it has none.
func (c *changes) Snapshot(ctx context.Context, t task.Task) (at worktree.Snapshot, there bool, err error) {
	slot, err := c.slot(t)
	if err != nil {
		return worktree.Snapshot{}, false, err
	}
	if slot.MissingFolder(ctx, t.Branch) != "" {
		return worktree.Snapshot{}, false, nil
	}
	return slot.Files().Snapshot(ctx)
}

// Between counts the commits that one commit has and the other does not have, both ways.
func (c *changes) Between(ctx context.Context, t task.Task, from, to string) (more, fewer int, err error) {
	repo, err := c.repo(t)
	if err != nil {
		return 0, 0, err
	}
	return repo.Between(ctx, from, to)
}

// ChangedSince lists the files of the worktree that are not what they were when the task's Subject was noted.
func (c *changes) ChangedSince(ctx context.Context, t task.Task) ([]string, error) {
	slot, err := c.slot(t)
	if err != nil {
		return nil, err
	}
	return slot.Files().ChangedSince(ctx, t.Subject.Tree)
}

// Differs lists the files by which a commit is not what the worktree was when the task's Subject was noted.
func (c *changes) Differs(ctx context.Context, t task.Task, commit string) ([]string, error) {
	repo, err := c.repo(t)
	if err != nil {
		return nil, err
	}
	return worktree.Judged{Repo: repo}.Differs(ctx, worktree.Trees{Whole: t.Subject.Tree, Tracked: t.Subject.Tracked},
		commit)
}

// Stamps notes how the files of its commit lie in the task's workspace.
func (c *changes) Stamps(ctx context.Context, t task.Task) (worktree.Stamps, error) {
	slot, err := c.slot(t)
	if err != nil {
		return worktree.Stamps{}, err
	}
	return slot.Files().Stamps(ctx)
}

// Commits counts those of the head that the base, which it names, does not have.
func (c *changes) Commits(ctx context.Context, t task.Task, head string) (base string, count int, err error) {
	repo, from, err := c.base(ctx, t)
	if err != nil {
		return "", 0, err
	}
	count, _, err = repo.Between(ctx, from.Commit, head)
	return from.Ref, count, err
}

// Changed lists the paths that differ between the head and where it left its base.
func (c *changes) Changed(ctx context.Context, t task.Task, head string) (paths, added []string, err error) {
	repo, base, err := c.base(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	return repo.Changed(ctx, base.Commit, head)
}

// OtherThanBase are those of the paths that differ between a commit of the task's branch and its base.
func (c *changes) OtherThanBase(ctx context.Context, t task.Task, head string, paths []string) ([]string, error) {
	repo, base, err := c.base(ctx, t)
	if err != nil {
		return nil, err
	}
	return repo.Differing(ctx, base.Commit, head, paths)
}

func (c *changes) base(ctx context.Context, t task.Task) (git.Repo, git.Base, error) {
	repo, err := c.repo(t)
	if err != nil {
		return repo, git.Base{}, err
	}
	base, err := repo.Base(ctx)
	return repo, base, err
}

// Work is how much the task's branch has that the default branch does not have.
func (c *changes) Work(ctx context.Context, t task.Task) (worktree.Work, error) {
	slot, err := c.slot(t)
	if err != nil {
		return worktree.Work{}, err
	}
	return slot.Files().Work(ctx)
}

// Diff is the work of a task as a patch: of its worktree, or of its branch where it has none.
func (c *changes) Diff(ctx context.Context, t task.Task) (string, error) {
	return workOf(ctx, c, t, func(slot worktree.Slot) (string, error) { return slot.Files().Diff(ctx) },
		func(repo git.Repo) (string, error) { return repo.BranchDiff(ctx, t.Branch) })
}

// Patch is the work of a task since a commit, or all of it where none is named, with what it is compared with.
func (c *changes) Patch(ctx context.Context, t task.Task, from string) (diff.Patch, error) {
	return workOf(ctx, c, t, func(slot worktree.Slot) (diff.Patch, error) { return slot.Files().Patch(ctx, from) },
		func(repo git.Repo) (diff.Patch, error) { return repo.BranchPatch(ctx, t.Branch, from) })
}

// workOf is the work of a task as it is shown: that of its worktree, or that of its branch where it has no worktree or
// where that is gone. A task that has not begun has no branch, and no work.
func workOf[T any](ctx context.Context, c *changes, t task.Task, inSlot func(worktree.Slot) (T, error),
	onBranch func(git.Repo) (T, error)) (work T, err error) {
	slot, err := c.Slot(t)
	if err != nil {
		return work, err
	}
	missing := ""
	if slot.Dir != "" {
		missing = slot.MissingFolder(ctx, t.Branch) // what cannot be looked at, git names
	}
	if slot.Dir != "" && missing == "" {
		return inSlot(slot)
	}
	if missing != "" {
		there, err := slot.Repo.BranchExists(ctx, t.Branch)
		if err != nil {
			return work, err
		}
		if !there {
			return work, goneError(t, missing)
		}
	}
	if work, err = onBranch(slot.Repo); errors.Is(err, git.ErrNoBranch) {
		if def, unread := c.setup.Pinned(ctx, t.Workflow); unread == nil && t.Status == def.Initial {
			return *new(T), nil
		}
	}
	return work, err
}

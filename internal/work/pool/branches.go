package pool

import (
	"context"
	"fmt"

	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// branches are those of tasks, and whether they and the worktrees that have them are there.
type branches struct{ *places }

// CheckBranch refuses a task's branch that git does not take for one, or for which its repository has no room.
func (b *branches) CheckBranch(ctx context.Context, t task.Task) error {
	if err := git.CheckBranch(ctx, t.Branch); err != nil {
		return err
	}
	slot, err := b.Slot(t)
	if err != nil {
		return err
	}
	return slot.Repo.CheckRoom(ctx, t.Branch, slot.Dir)
}

// SetBranch renames or switches the workspace's branch; with an empty name it answers the present one.
func (b *branches) SetBranch(ctx context.Context, t task.Task, name string) (string, error) {
	slot, err := b.slot(t)
	if err != nil {
		return "", err
	}
	present, err := b.branchOf(ctx, t, slot)
	if err != nil {
		return "", err
	}
	switch {
	case name == "" && present == "":
		return "", fmt.Errorf("cannot take over the branch of workspace %q: it is on none; check one out first",
			t.Workspace)
	case name == "" || name == present:
		return present, nil
	}
	exists, err := slot.Repo.BranchExists(ctx, name)
	if err != nil {
		return "", err
	}
	if exists {
		return name, slot.Switch(ctx, name)
	}
	if present == "" {
		return "", fmt.Errorf("cannot rename the branch of workspace %q: it is on none; check one out first",
			t.Workspace)
	}
	return name, slot.Rename(ctx, present, name)
}

// Ahead reports whether a commit of the branch, or its tip where none is named, holds anything that the default
// branch does not have.
func (b *branches) Ahead(ctx context.Context, t task.Task, commit string) (bool, error) {
	repo, err := b.onBranch(ctx, t)
	if err != nil {
		return false, err
	}
	return repo.Ahead(ctx, t.Branch, commit)
}

// Tip is the branch's newest commit; empty where there is no such branch.
func (b *branches) Tip(ctx context.Context, t task.Task) (string, error) {
	repo, err := b.onBranch(ctx, t)
	if err != nil {
		return "", err
	}
	return repo.Tip(ctx, t.Branch)
}

// Within reports whether a commit holds all that the branch has.
func (b *branches) Within(ctx context.Context, t task.Task, commit string) (bool, error) {
	repo, err := b.onBranch(ctx, t)
	if err != nil {
		return false, err
	}
	within, known, err := repo.Within(ctx, t.Branch, commit)
	if err != nil || known || t.Pushed == "" {
		return within, err
	}
	within, _, err = repo.Within(ctx, t.Branch, t.Pushed)
	return within, err
}

// HasBranch reports whether the repository has the task's branch, here or on origin, or the commit at which it was
// last.
func (b *branches) HasBranch(ctx context.Context, t task.Task) (bool, error) {
	repo, err := b.repo(t)
	if err != nil {
		return false, err
	}
	if there, err := repo.HasBranch(ctx, t.Branch); err != nil || there {
		return there, err
	}
	return repo.HasCommit(ctx, t.Subject.Commit)
}

// onBranch is the repository of a task. It refuses a workspace that is on another branch than its task: what was done
// there is not where anyone looks for it.
func (b *branches) onBranch(ctx context.Context, t task.Task) (git.Repo, error) {
	slot, err := b.Slot(t)
	if err != nil || slot.Dir == "" {
		return slot.Repo, err
	}
	present, err := b.branchOf(ctx, t, slot)
	if err == nil && present != t.Branch {
		on := "no branch"
		if present != "" {
			on = fmt.Sprintf("branch %q", present)
		}
		err = fmt.Errorf("cannot use the branch of task %s: its workspace %q is on %s and the task on %q; run %q "+
			"there, or switch back", t.ID, t.Workspace, on, t.Branch, "orange task update --branch")
	}
	return slot.Repo, err
}

// branchOf is the branch that a task's workspace is on, and "" where it is on none.
func (b *branches) branchOf(ctx context.Context, t task.Task, slot worktree.Slot) (string, error) {
	if missing := slot.MissingFolder(ctx, t.Branch); missing != "" {
		return "", goneError(t, missing)
	}
	return slot.Branch(ctx)
}

// goneError refuses what needs something that is not there any more.
func goneError(t task.Task, missing string) error {
	return fmt.Errorf("cannot use the workspace %q of task %s: %s; have it made again: orange task respawn %s",
		t.Workspace, t.ID, missing, t.ID)
}

// Holds reports whether the task's workspace is here, and is the task's.
func (b *branches) Holds(ctx context.Context, t task.Task) (bool, error) {
	slot, err := b.slot(t)
	if err != nil {
		return false, err
	}
	return slot.Holds(ctx, t.ID, t.Branch)
}

// Missing says what is not there any more of a task's worktree, or of its branch; empty where both are there, and where
// the task has no workspace.
func (b *branches) Missing(ctx context.Context, t task.Task) (string, error) {
	what, _, err := b.MissingOf(ctx, t)
	return what, err
}

// MissingOf is Missing. left reports that agents which lived in the worktree have no folder any more.
func (b *branches) MissingOf(ctx context.Context, t task.Task) (what string, left bool, err error) {
	found := b.missingOf(ctx, []task.Task{t})[t.ID]
	return found.What, found.Left, found.Err
}

// MissingOfAll is Missing for many tasks, by their ids. Those of which nothing is missing, or which cannot be looked
// at, are not in it. It asks git once for each project.
func (b *branches) MissingOfAll(ctx context.Context, tasks []task.Task) map[string]string {
	found := map[string]string{}
	for id, one := range b.missingOf(ctx, tasks) {
		if one.Err == nil && one.What != "" {
			found[id] = one.What
		}
	}
	return found
}

func (b *branches) missingOf(ctx context.Context, tasks []task.Task) map[string]worktree.Missing {
	found, branches := map[string]worktree.Missing{}, map[string]map[string]string{}
	for i := range tasks {
		if t := &tasks[i]; t.Workspace != "" {
			if branches[t.Project] == nil {
				branches[t.Project] = map[string]string{}
			}
			branches[t.Project][b.Dir(t.Workspace)] = t.Branch
		}
	}
	for name, wanted := range branches { // each by itself
		project, err := b.setup.Project(name)
		var missing map[string]worktree.Missing
		if err == nil {
			missing = worktree.Worktrees{Repo: repoOf(project)}.Missing(ctx, wanted)
		}
		for i := range tasks {
			if t := &tasks[i]; t.Project == name && t.Workspace != "" {
				found[t.ID] = missing[b.Dir(t.Workspace)]
				if err != nil {
					found[t.ID] = worktree.Missing{Err: err}
				}
			}
		}
	}
	return found
}

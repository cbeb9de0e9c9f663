package pool

import (
	"context"
	"fmt"
	"os"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// Relocate joins the worktrees of a project with its repository again, which was moved to another path, and answers
// the project as it is to be registered. A repository that is not known to be the same is refused.
func (p *Pool) Relocate(ctx context.Context, project task.Project, path string) (task.Project, error) {
	to, err := git.Inspect(ctx, path)
	if err != nil {
		return project, err
	}
	all, err := p.Setup.Projects()
	if err != nil {
		return project, err
	}
	for _, one := range all {
		if one.Path == to.Path && one.Name != project.Name {
			return project, task.Notef(task.ErrUsage, "cannot move the project %q to %q: it is registered as %q "+
				"already", project.Name, to.Path, one.Name)
		}
	}
	to.DefaultBranch = project.DefaultBranch
	slots, err := p.movable(ctx, project, to)
	if err == nil {
		err = worktree.Worktrees{Repo: to}.Repair(ctx, project.Path, slots)
	}
	if err == nil {
		project.Path = to.Path
	}
	return project, err
}

// movable are the worktrees of a project that go along with its repository. It is an error where one cannot, or where
// the repository is another one.
func (p *Pool) movable(ctx context.Context, project task.Project, to git.Repo) ([]worktree.Slot, error) {
	refused := func(why string) error {
		return task.Notef(task.ErrUsage, "cannot move the project %q to %q: %s", project.Name, to.Path, why)
	}
	var slots []worktree.Slot
	for _, name := range p.names(project) {
		slot := worktree.Slot{Repo: to, Dir: p.Dir(name)}
		there, whole := slot.There()
		if !there {
			continue
		}
		known, err := worktree.Worktrees{Repo: to}.Knows(ctx, slot.Dir)
		switch {
		case err != nil:
			return nil, err
		case !known:
			return nil, refused(fmt.Sprintf("the worktree %q is none of it, so it is another repository or another "+
				"clone; name the one that was at %q, or end the tasks of the project and move that worktree away",
				slot.Dir, project.Path))
		case whole && project.Path != to.Path && stands(project.Path):
			return nil, refused(fmt.Sprintf("the worktree %q belongs to %q, which is still there; move that one away "+
				"first, as two repositories cannot have the same worktrees", slot.Dir, project.Path))
		}
		slots = append(slots, slot)
	}
	if len(slots) > 0 {
		return slots, nil
	}
	same, err := p.sameBy(ctx, project, to)
	if err == nil && !same {
		err = refused("it has none of the commits that are known of the project, so it is another repository; " +
			"register it under another name with orange project add PATH --name NAME")
	}
	return nil, err
}

func stands(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sameBy compares by commits: that which the project had when it was registered, or, where it is not known, those that
// its tasks have on record. Where nothing is known of the project there is nothing that could be another one's.
func (p *Pool) sameBy(ctx context.Context, project task.Project, to git.Repo) (bool, error) {
	tasks, err := p.Record.List(ctx, record.Filter{Project: project.Name})
	if err != nil {
		return false, err
	}
	commits := []string{project.Commit}
	for _, t := range tasks {
		commits = append(commits, t.Subject.Commit)
	}
	known := false
	for _, commit := range commits {
		if commit == "" {
			continue
		}
		known = true
		if has, err := to.HasCommit(ctx, commit); has || err != nil {
			return has, err
		}
	}
	return !known, nil
}

// WithDefaultBranch is the project with another default branch, which is here or on origin.
func (p *Pool) WithDefaultBranch(ctx context.Context, project task.Project, name string) (task.Project, error) {
	renamed := project
	renamed.DefaultBranch = name
	if err := git.CheckBranch(ctx, name); err != nil {
		return project, err
	}
	repo, _, err := p.asNoted(ctx, renamed)
	if err == nil {
		err = repo.Fetch(ctx)
	}
	if err != nil {
		return project, err
	}
	there, err := p.DefaultBranch(ctx, renamed)
	if err == nil && !there {
		err = task.Notef(task.ErrUsage, "cannot make %q the default branch of project %q: there is no such branch in "+
			"%q, nor on origin", name, project.Name, project.Path)
	}
	if err != nil {
		return project, err
	}
	return renamed, nil
}

// Holds reports whether the task's workspace is here, and is the task's.
func (p *Pool) Holds(ctx context.Context, t task.Task) (bool, error) {
	slot, err := p.slot(t)
	if err != nil {
		return false, err
	}
	return slot.Holds(ctx, t.ID, t.Branch)
}

// Missing says what is not there any more of a task's worktree, or of its branch; empty where both are there, and where
// the task has no workspace.
func (p *Pool) Missing(ctx context.Context, t task.Task) (string, error) {
	what, _, err := p.MissingOf(ctx, t)
	return what, err
}

// MissingOf is Missing. left reports that agents which lived in the worktree have no folder any more.
func (p *Pool) MissingOf(ctx context.Context, t task.Task) (what string, left bool, err error) {
	found := p.missing(ctx, []task.Task{t})[t.ID]
	return found.What, found.Left, found.Err
}

// MissingOfAll is Missing for many tasks, by their ids. Those of which nothing is missing, or which cannot be looked
// at, are not in it. It asks git once for each project.
func (p *Pool) MissingOfAll(ctx context.Context, tasks []task.Task) map[string]string {
	found := map[string]string{}
	for id, one := range p.missing(ctx, tasks) {
		if one.Err == nil && one.What != "" {
			found[id] = one.What
		}
	}
	return found
}

func (p *Pool) missing(ctx context.Context, tasks []task.Task) map[string]worktree.Missing {
	found, branches := map[string]worktree.Missing{}, map[string]map[string]string{}
	for i := range tasks {
		if t := &tasks[i]; t.Workspace != "" {
			if branches[t.Project] == nil {
				branches[t.Project] = map[string]string{}
			}
			branches[t.Project][p.Dir(t.Workspace)] = t.Branch
		}
	}
	for name, wanted := range branches { // each by itself
		project, err := p.Setup.Project(name)
		var missing map[string]worktree.Missing
		if err == nil {
			missing = worktree.Worktrees{Repo: p.repoOf(project)}.Missing(ctx, wanted)
		}
		for i := range tasks {
			if t := &tasks[i]; t.Project == name && t.Workspace != "" {
				found[t.ID] = missing[p.Dir(t.Workspace)]
				if err != nil {
					found[t.ID] = worktree.Missing{Err: err}
				}
			}
		}
	}
	return found
}

// HasBranch reports whether the repository has the task's branch, here or on origin, or the commit at which it was
// last.
func (p *Pool) HasBranch(ctx context.Context, t task.Task) (bool, error) {
	repo, err := p.repo(t)
	if err != nil {
		return false, err
	}
	if there, err := repo.HasBranch(ctx, t.Branch); err != nil || there {
		return there, err
	}
	return repo.HasCommit(ctx, t.Subject.Commit)
}

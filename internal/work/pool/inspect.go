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
	"time"

	"orange/internal/rules/diff"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// Snapshot is what the task's worktree has checked out; there is false where it has none.
func (p *Pool) Snapshot(ctx context.Context, t task.Task) (at worktree.Snapshot, there bool, err error) {
	if _, left, err := p.MissingOf(ctx, t); err == nil && left {
		return worktree.Snapshot{}, false, nil
	}
	slot, err := p.slot(t)
	if err != nil {
		return worktree.Snapshot{}, false, err
	}
	return slot.Files().Snapshot(ctx)
}

// Between counts the commits that one commit has and the other does not have, both ways.
func (p *Pool) Between(ctx context.Context, t task.Task, from, to string) (more, fewer int, err error) {
	repo, err := p.repo(t)
	if err != nil {
		return 0, 0, err
	}
	return repo.Between(ctx, from, to)
}

// ChangedSince lists the files of the worktree that are not what they were when the task's Subject was noted.
func (p *Pool) ChangedSince(ctx context.Context, t task.Task) ([]string, error) {
	slot, err := p.slot(t)
	if err != nil {
		return nil, err
	}
	return slot.Files().ChangedSince(ctx, t.Subject.Tree)
}

// Differs lists the files by which a commit is not what the worktree was when the task's Subject was noted.
func (p *Pool) Differs(ctx context.Context, t task.Task, commit string) ([]string, error) {
	repo, err := p.repo(t)
	if err != nil {
		return nil, err
	}
	return worktree.Judged{Repo: repo}.Differs(ctx, worktree.Trees{Whole: t.Subject.Tree, Tracked: t.Subject.Tracked},
		commit)
}

// Commits counts those of the head that the base, which it names, does not have.
func (p *Pool) Commits(ctx context.Context, t task.Task, head string) (base string, count int, err error) {
	repo, from, err := p.base(ctx, t)
	if err != nil {
		return "", 0, err
	}
	count, _, err = repo.Between(ctx, from.Commit, head)
	return from.Ref, count, err
}

// Changed lists the paths that differ between the head and where it left its base.
func (p *Pool) Changed(ctx context.Context, t task.Task, head string) (paths, added []string, err error) {
	repo, base, err := p.base(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	return repo.Changed(ctx, base.Commit, head)
}

// OtherThanBase are those of the paths that differ between a commit of the task's branch and its base.
func (p *Pool) OtherThanBase(ctx context.Context, t task.Task, head string, paths []string) ([]string, error) {
	repo, base, err := p.base(ctx, t)
	if err != nil {
		return nil, err
	}
	return repo.Differing(ctx, base.Commit, head, paths)
}

func (p *Pool) base(ctx context.Context, t task.Task) (git.Repo, git.Base, error) {
	repo, err := p.repo(t)
	if err != nil {
		return repo, git.Base{}, err
	}
	base, err := repo.Base(ctx)
	return repo, base, err
}

// Work is how much the task's branch has that the default branch does not have.
func (p *Pool) Work(ctx context.Context, t task.Task) (worktree.Work, error) {
	slot, err := p.slot(t)
	if err != nil {
		return worktree.Work{}, err
	}
	return slot.Files().Work(ctx)
}

// Diff is the work of a task as a patch: of its worktree, or of its branch where it has none.
func (p *Pool) Diff(ctx context.Context, t task.Task) (string, error) {
	t, err := p.shown(ctx, t)
	if err != nil {
		return "", err
	}
	if t.Workspace != "" {
		slot, err := p.slot(t)
		if err != nil {
			return "", err
		}
		return slot.Files().Diff(ctx)
	}
	repo, err := p.repo(t)
	if err != nil {
		return "", err
	}
	text, err := repo.BranchDiff(ctx, t.Branch)
	if p.notBegun(ctx, t, err) {
		return "", nil
	}
	return text, err
}

// shown is the task as its work is shown: without its workspace where the worktree is gone, and the branch is there.
func (p *Pool) shown(ctx context.Context, t task.Task) (task.Task, error) {
	missing, left, err := p.MissingOf(ctx, t)
	if err != nil || !left {
		return t, nil // what cannot be looked at, git names
	}
	repo, err := p.repo(t)
	if err != nil {
		return t, err
	}
	there, err := repo.BranchExists(ctx, t.Branch)
	if err == nil && !there {
		err = goneError(t, missing)
	}
	t.Workspace = ""
	return t, err
}

// notBegun reports whether there is no branch because the task has not begun yet.
func (p *Pool) notBegun(ctx context.Context, t task.Task, err error) bool {
	if !errors.Is(err, git.ErrNoBranch) {
		return false
	}
	def, unread := p.Setup.Pinned(ctx, t.Workflow)
	return unread == nil && t.Status == def.Initial
}

// Patch is the work of a task since a commit, or all of it where none is named, with what it is compared with.
func (p *Pool) Patch(ctx context.Context, t task.Task, from string) (diff.Patch, error) {
	t, err := p.shown(ctx, t)
	if err != nil {
		return diff.Patch{}, err
	}
	if t.Workspace != "" {
		slot, err := p.slot(t)
		if err != nil {
			return diff.Patch{}, err
		}
		return slot.Files().Patch(ctx, from)
	}
	repo, err := p.repo(t)
	if err != nil {
		return diff.Patch{}, err
	}
	patch, err := repo.BranchPatch(ctx, t.Branch, from)
	if p.notBegun(ctx, t, err) {
		return diff.Patch{}, nil
	}
	return patch, err
}

// Touched is when the task's document or branch last changed.
func (p *Pool) Touched(_ context.Context, t task.Task) (time.Time, error) {
	slot, err := p.slot(t)
	if err != nil {
		return time.Time{}, err
	}
	last, err := slot.Touched()
	if err != nil {
		return time.Time{}, err
	}
	if info, err := os.Stat(p.document(t)); err == nil && info.ModTime().After(last) {
		last = info.ModTime()
	}
	return last, nil
}

// Rescues lists the work that was kept for a task.
func (p *Pool) Rescues(ctx context.Context, t task.Task) ([]task.Rescued, error) {
	repo, err := p.repo(t)
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
func (p *Pool) Judged(ctx context.Context, project task.Project) ([]string, error) {
	return worktree.Judged{Repo: p.repoOf(project)}.Tasks(ctx)
}

// ForgetJudged lets go of what was judged of a task, and keeps what is nowhere else.
func (p *Pool) ForgetJudged(ctx context.Context, project task.Project, id, branch string) error {
	kept, err := worktree.Judged{Repo: p.repoOf(project)}.Forget(ctx, id, branch, false)
	for _, one := range kept {
		p.Log.Info("what was judged and is nowhere else is kept", "component", "doctor", "task", id, "ref", one.Ref)
	}
	return err
}

// Scratch makes a checkout of a commit of the task's repository, in a folder whose name no one knows before. Its Away
// removes it; a process that is killed leaves it there until the next, or until the task gives its workspace back. A
// set-up that leaves other files there than the commit's is an error: what runs there tells of the commit.
func (p *Pool) Scratch(ctx context.Context, t task.Task, name, commit string) (c worktree.Checkout, err error) {
	project, err := p.Setup.Project(t.Project)
	if err != nil {
		return c, err
	}
	repo := p.repoOf(project)
	c.Away = func(ctx context.Context) error { return p.unscratch(ctx, repo, name) }
	if err = c.Away(ctx); err != nil { // what an earlier one has left
		return c, err
	}
	slot := worktree.Slot{Repo: repo, Dir: filepath.Join(p.scratchDir(), name, rand.Text())}
	if err = (worktree.Worktrees{Repo: repo}).Scratch(ctx, slot.Dir, commit); err == nil {
		err = p.asOwn(ctx, t, false, func(task.Project) error { return p.makeReadyOnce(ctx, t, slot, name) })
	}
	if err == nil {
		c.Stamps, err = slot.Files().Stamps(ctx)
	}
	if err != nil {
		return c, err
	}
	at, _, err := slot.Files().Snapshot(ctx)
	if changed := append(at.Modified, c.Stamps.Differ...); err == nil && len(changed) > 0 {
		slices.Sort(changed)
		err = fmt.Errorf("files of the commit were changed when its checkout was set up: %s; leave them as they are "+
			"there, or run the check without scratch", strings.Join(slices.Compact(changed), ", "))
	}
	if err == nil {
		c.Dir, c.Env, err = p.startIn(ctx, t, project.Worktree, slot.Dir)
	}
	return c, err
}

// Stamps notes how the files of its commit lie in the task's workspace.
func (p *Pool) Stamps(ctx context.Context, t task.Task) (worktree.Stamps, error) {
	slot, err := p.slot(t)
	if err != nil {
		return worktree.Stamps{}, err
	}
	return slot.Files().Stamps(ctx)
}

// unscratch takes away what is in the folder of a check's checkouts, and the folder.
func (p *Pool) unscratch(ctx context.Context, repo git.Repo, name string) error {
	folder := filepath.Join(p.scratchDir(), name)
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

// Scratches are the names of the checkouts that are there.
func (p *Pool) Scratches() ([]string, error) {
	entries, err := os.ReadDir(p.scratchDir())
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
func (p *Pool) RemoveScratch(ctx context.Context, name string) error {
	projects, err := p.Setup.Projects()
	if err != nil {
		return err
	}
	folder := filepath.Join(p.scratchDir(), name)
	for _, project := range projects {
		repo := p.repoOf(project)
		if known, err := (worktree.Worktrees{Repo: repo}).KnowsBelow(ctx, folder); err == nil && known {
			return p.unscratch(ctx, repo, name)
		}
	}
	return worktree.Discard(folder)
}

// Held tells which commits a project's repository does not have, and which no ref there holds.
func (p *Pool) Held(ctx context.Context, project string, commits []string) (gone, loose []string, err error) {
	found, err := p.Setup.Project(project)
	if err != nil {
		return nil, nil, err
	}
	return p.repoOf(found).Held(ctx, commits)
}

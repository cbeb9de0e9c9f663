package pool

import (
	"context"
	"fmt"
	"path"

	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// leastSpace is how many bytes have to be free so that a task starts. No one knows beforehand what its files take; with
// less, not even the record can be written. The doctor warns much earlier.
const leastSpace = 1 << 20

// Ready asks what a task needs before it can start in its project, all of it, and changes nothing. It leaves out what
// its branch and its agents need. Origin is asked by the start itself, which goes on without an answer.
func (p *Pool) Ready(ctx context.Context, t task.Task) ([]rejection.Readiness, error) {
	project, err := p.Setup.Project(t.Project)
	if err != nil {
		return nil, err
	}
	all, err := p.Usable(ctx, project, t.Branch)
	if err != nil {
		return nil, err
	}
	free, err := proc.Space(p.Home)
	if err != nil {
		return nil, err
	}
	disk := rejection.Readiness{What: "disk", Found: fmt.Sprintf("%d MB are free", free>>20)}
	if free < leastSpace {
		disk.Want = "make room: a worktree needs it, and so does the record"
	}
	holders, err := p.Record.Holders(ctx, project.Name)
	if err != nil {
		return nil, err
	}
	slots := rejection.Readiness{What: "worktrees", Found: fmt.Sprintf("%d of %d are free",
		max(0, project.PoolSize-len(holders)), project.PoolSize)}
	if len(holders) >= project.PoolSize {
		slots.Found += ": it waits in line"
	}
	all = append(all, disk, slots)
	if p.Terminal != nil {
		terminal := rejection.Readiness{What: "terminal", Found: "tmux can start"}
		if err := p.Terminal(ctx); err != nil {
			terminal.Found, terminal.Want = err.Error(), "mend that: no agent can start without it"
		}
		all = append(all, terminal)
	}
	return all, nil
}

// Usable is what each task of a project needs of its repository: its base, whether commits can be signed, where they
// are, whether hooks of git run at them, and whether a worktree of the branch, or of the base where there is none,
// could be made ready. It asks nothing of the record.
func (p *Pool) Usable(ctx context.Context, project task.Project, branch string) ([]rejection.Readiness, error) {
	repo := p.repoOf(project)
	does, err := worktree.Needs{Repo: repo}.Committing(ctx)
	if err != nil {
		return nil, err
	}
	commits := rejection.Readiness{What: "commits", Found: "not signed", Want: does.Trouble}
	if does.How != "" {
		commits.Found = "signed " + does.How
	}
	if !project.Worktree.Brings(does.HooksPath) {
		hidden, err := worktree.Main{Repo: repo}.HiddenHooks(ctx, does.HooksPath)
		if err != nil {
			return nil, err
		}
		if hidden {
			commits.Note = fmt.Sprintf("git runs the hooks in %q, and no commit has that folder: none runs in a "+
				"worktree, unless the set-up makes them; have them brought along: %s", does.HooksPath,
				bringHooks(project, does.HooksPath))
		}
	}
	base, err := repo.Base(ctx)
	if err != nil {
		return []rejection.Readiness{{What: "base", Found: err.Error(),
			Want: "mend that, or say where work is merged: orange project update --default-branch NAME"}, commits}, nil
	}
	all := []rejection.Readiness{{What: "base", Found: fmt.Sprintf("%s at %.12s", base.Ref, base.Commit)}, commits}
	folder := project.Worktree.Subdir
	if project.Worktree.Brings(folder) {
		folder = ""
	}
	if tip := (worktree.Worktrees{Repo: repo}).ReadTip(ctx, "", branch); tip.Commit != "" {
		base = git.Base{Ref: branch, Commit: tip.Commit}
	}
	misfits, err := worktree.Needs{Repo: repo}.Misfits(ctx, base, folder, does.Missing)
	if err != nil {
		return nil, err
	}
	for _, one := range misfits {
		files := rejection.Readiness{What: "files", Found: one.Found, Want: one.Want}
		if one.Maybe {
			files = rejection.Readiness{What: "files", Found: "a filter is missing", Note: one.Found + "; " + one.Want}
		}
		all = append(all, files)
	}
	return all, nil
}

// bringHooks is the command that has a folder of hooks brought into a project's worktrees.
func bringHooks(project task.Project, hooksPath string) string {
	return fmt.Sprintf("orange project update %q --copy %q", project.Name, "/"+path.Clean(hooksPath))
}

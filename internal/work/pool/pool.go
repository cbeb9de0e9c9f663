// Package pool has the workspaces of all projects: which there are, and the work of a task in the one that it holds.
//
// It finds the worktree and the repository of a task; what git does there is package worktree.
package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// Setup has the projects that a person has registered, and the workflows of tasks.
type Setup interface {
	Project(name string) (task.Project, error)
	Projects() ([]task.Project, error)
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
}

// Record is what the pool reads of it.
type Record interface {
	Load(ctx context.Context, id string) (record.Snapshot, error)
	Holders(ctx context.Context, project string) ([]record.Holder, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
}

// Files has the folders of tasks, and the locks that all processes of a home share.
type Files interface {
	Document(project, id string) string
	Lock(ctx context.Context, name string) (release func(), err error)
}

// Pool has the workspaces of a home.
type Pool struct {
	Home   string // $ORANGE_HOME
	Setup  Setup
	Record Record
	Files  Files
	Log    *slog.Logger
	// Environment is what a task's programs run in. Where it is nil, a set-up is refused.
	Environment func(ctx context.Context, t task.Task) ([]string, error)
	// Own is what checks of a merge run in: the environment of the person who asks for it. Where it is nil, a merge
	// that is to be checked is refused.
	Own      func(ctx context.Context, project, id string) ([]string, error)
	Terminal func(ctx context.Context) error // why no agent's terminal could start; nil is no reason
	patience time.Duration                   // how long origin has to answer when a task starts; 0 is fetchLimit
}

const fetchLimit = time.Minute

// Project finds a project by its name.
func (p *Pool) Project(name string) (task.Project, error) { return p.Setup.Project(name) }

// Dir is the worktree of a workspace.
func (p *Pool) Dir(workspace string) string { return filepath.Join(p.Home, "workspaces", workspace) }

// scratchDir has the checkouts in which checks run that want none of a worktree.
func (p *Pool) scratchDir() string { return p.Dir(".scratch") }

func (p *Pool) repoOf(project task.Project) git.Repo {
	return git.Repo{Path: project.Path, DefaultBranch: project.DefaultBranch}
}

func (p *Pool) repo(t task.Task) (git.Repo, error) {
	project, err := p.Setup.Project(t.Project)
	return p.repoOf(project), err
}

func (p *Pool) slot(t task.Task) (worktree.Slot, error) {
	project, err := p.Setup.Project(t.Project)
	if err == nil && t.Workspace == "" {
		err = fmt.Errorf("task %s has no workspace", t.ID)
	}
	return worktree.Slot{Repo: p.repoOf(project), Dir: p.Dir(t.Workspace), Generated: project.Generated,
		CleanIgnored: project.Worktree.Clean != ""}, err
}

func (p *Pool) document(t task.Task) string { return p.Files.Document(t.Project, t.ID) }

// Replaced checks whether a program put a file where the link to the document was, and answers its content. Where it
// was git, with a TASK.md of the repository's own, the link is made next to that one.
func (p *Pool) Replaced(ctx context.Context, t task.Task) ([]byte, bool, error) {
	slot := worktree.Slot{Dir: p.Dir(t.Workspace)} // whose repository it is does not matter for that
	if info, err := os.Lstat(filepath.Join(slot.Dir, ".git")); err != nil || !info.Mode().IsRegular() {
		return nil, false, nil // its workspace is not there, or is no worktree of git's any more: a look at it says so
	}
	content, replaced, err := slot.Document().Replaced()
	if err != nil || !replaced {
		return nil, false, err
	}
	if slot, err = p.slot(t); err != nil {
		return nil, false, err
	}
	own, err := slot.Document().Overtaken(ctx)
	if err == nil && own {
		_, err = p.link(ctx, t, slot)
	}
	if err != nil || own {
		return nil, false, err
	}
	return content, true, nil
}

// Relink puts the link to the document back.
func (p *Pool) Relink(ctx context.Context, t task.Task) error {
	slot, err := p.slot(t)
	if err != nil {
		return err
	}
	_, err = p.link(ctx, t, slot)
	return err
}

// link makes the link to the task's document.
func (p *Pool) link(ctx context.Context, t task.Task, slot worktree.Slot) (file string, err error) {
	err = p.asOwn(ctx, t, false, func(task.Project) (err error) {
		file, err = slot.Document().Link(ctx, p.document(t))
		return err
	})
	return file, err
}

// CheckBranch refuses a task's branch that git does not take for one, or for which its repository has no room.
func (p *Pool) CheckBranch(ctx context.Context, t task.Task) error {
	if err := git.CheckBranch(ctx, t.Branch); err != nil {
		return err
	}
	repo, err := p.repo(t)
	if err != nil {
		return err
	}
	own := ""
	if t.Workspace != "" {
		own = p.Dir(t.Workspace)
	}
	return repo.CheckRoom(ctx, t.Branch, own)
}

// SetBranch renames or switches the workspace's branch; with an empty name it answers the present one.
func (p *Pool) SetBranch(ctx context.Context, t task.Task, name string) (string, error) {
	slot, err := p.slot(t)
	if err != nil {
		return "", err
	}
	present, err := p.branchOf(ctx, t, slot)
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
func (p *Pool) Ahead(ctx context.Context, t task.Task, commit string) (bool, error) {
	repo, err := p.onBranch(ctx, t)
	if err != nil {
		return false, err
	}
	return repo.Ahead(ctx, t.Branch, commit)
}

// Tip is the branch's newest commit; empty where there is no such branch.
func (p *Pool) Tip(ctx context.Context, t task.Task) (string, error) {
	repo, err := p.onBranch(ctx, t)
	if err != nil {
		return "", err
	}
	return repo.Tip(ctx, t.Branch)
}

// Subject reads what a task's evidence is about now: the tip of its branch and, with tree, the trees of what lies
// in the worktree, which are kept. The answer holds the error for what cannot be read.
func (p *Pool) Subject(ctx context.Context, t task.Task, tree bool) task.Subject {
	repo, err := p.repo(t)
	if err != nil {
		return task.Subject{Trouble: err.Error()}
	}
	dir := ""
	if t.Workspace != "" {
		dir = p.Dir(t.Workspace)
	}
	tip := worktree.Worktrees{Repo: repo}.ReadTip(ctx, dir, t.Branch)
	s := task.Subject{Commit: tip.Commit, Branch: tip.Branch, Trouble: tip.Trouble}
	if !tree || dir == "" {
		return s
	}
	trees, err := worktree.Slot{Repo: repo, Dir: dir}.Files().Trees(ctx, t.ID)
	if err != nil {
		s.Trouble = err.Error()
	}
	s.Tree, s.Tracked = trees.Whole, trees.Tracked
	return s
}

// Within reports whether a commit holds all that the branch has.
func (p *Pool) Within(ctx context.Context, t task.Task, commit string) (bool, error) {
	repo, err := p.onBranch(ctx, t)
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

// onBranch is the repository of a task. It refuses a workspace that is on another branch than its task: what was done
// there is not where anyone looks for it.
func (p *Pool) onBranch(ctx context.Context, t task.Task) (git.Repo, error) {
	repo, err := p.repo(t)
	if err != nil || t.Workspace == "" {
		return repo, err
	}
	present, err := p.branchOf(ctx, t, worktree.Slot{Repo: repo, Dir: p.Dir(t.Workspace)})
	if err == nil && present != t.Branch {
		on := "no branch"
		if present != "" {
			on = fmt.Sprintf("branch %q", present)
		}
		err = fmt.Errorf("cannot use the branch of task %s: its workspace %q is on %s and the task on %q; run %q "+
			"there, or switch back", t.ID, t.Workspace, on, t.Branch, "orange task update --branch")
	}
	return repo, err
}

// branchOf is the branch that a task's workspace is on, and "" where it is on none.
func (p *Pool) branchOf(ctx context.Context, t task.Task, slot worktree.Slot) (string, error) {
	if missing, left, err := p.MissingOf(ctx, t); err == nil && left {
		return "", goneError(t, missing)
	}
	return slot.Branch(ctx)
}

// goneError refuses what needs something that is not there any more.
func goneError(t task.Task, missing string) error {
	return fmt.Errorf("cannot use the workspace %q of task %s: %s; have it made again: orange task respawn %s",
		t.Workspace, t.ID, missing, t.ID)
}

// Push brings the task's branch to origin, or the wanted one of its commits. moved reports whether origin had another
// commit.
func (p *Pool) Push(ctx context.Context, t task.Task, wanted string) (commit string, moved bool, err error) {
	if _, err := p.onBranch(ctx, t); err != nil {
		return "", false, err
	}
	repo, err := p.outward(ctx, t)
	if err != nil {
		return "", false, err
	}
	return repo.PushBranch(ctx, t.Branch, wanted)
}

// Slot is the repository of a task, and its worktree there; the worktree has no place where the task has none.
func (p *Pool) Slot(t task.Task) (worktree.Slot, error) {
	repo, err := p.repo(t)
	if err != nil || t.Workspace == "" {
		return worktree.Slot{Repo: repo}, err
	}
	return p.slot(t)
}

// report is what was found in a workspace, as far as it concerns a person. Commits that are on a branch are kept too,
// for the day on which the branch is deleted; that is no rescue. What was taken back is in the log too: a step after it
// may fail, and another try has nothing to take back any more.
func (p *Pool) report(t task.Task, found worktree.Cleared) worktree.Cleared {
	found.Rescued = slices.DeleteFunc(found.Rescued, func(r worktree.Rescue) bool { return r.Held })
	for _, what := range found.TakenBack {
		p.Log.Warn("what was changed in a worktree's own git configuration was taken back",
			"component", "worktree", "task", t.ID, "workspace", t.Workspace, "what", what)
	}
	for _, one := range found.Aside {
		p.Log.Warn("what no commit can hold was set aside", "component", "worktree", "task", one.Task, "workspace",
			t.Workspace, "what", one.String(), "at", one.At)
	}
	return found
}

// View is the workspace as an agent sees it.
func (p *Pool) View(ctx context.Context, t task.Task) (worktree.View, error) {
	slot, err := p.slot(t)
	if err != nil {
		return worktree.View{}, err
	}
	base, err := slot.Repo.Base(ctx)
	if err != nil {
		return worktree.View{}, err
	}
	// An agent is started in a worktree, on its branch, or not at all.
	if missing, err := p.Missing(ctx, t); err != nil {
		return worktree.View{}, err
	} else if missing != "" {
		return worktree.View{}, goneError(t, missing)
	}
	file, err := p.link(ctx, t, slot)
	if err != nil {
		return worktree.View{}, err
	}
	own, shared, err := slot.GitDirs(ctx)
	if err != nil {
		return worktree.View{}, err
	}
	start, env, err := p.Place(ctx, t)
	if err == nil {
		file, err = filepath.Rel(start, filepath.Join(slot.Dir, file))
	}
	return worktree.View{Dir: slot.Dir, Start: start, Env: env, GitDir: shared, OwnGitDir: own, Base: base.Ref,
		TaskFile: file}, err
}

// Equip writes the files that a harness wants into the worktree.
func (p *Pool) Equip(ctx context.Context, t task.Task, files []harness.File, exclude []string) error {
	slot, err := p.slot(t)
	if err != nil {
		return err
	}
	if len(exclude) > 0 {
		err := p.asOwn(ctx, t, false, func(task.Project) error { return slot.Exclude(ctx, exclude...) })
		if err != nil {
			return err
		}
	}
	for _, f := range files {
		path := filepath.Join(slot.Dir, filepath.FromSlash(f.Path))
		if err := writeNew(path, f.Content); err != nil {
			return fmt.Errorf("write %q for the harness: %w", f.Path, err)
		}
	}
	return nil
}

// writeNew writes a file that is not there; what the repository or the agent put there stays.
func writeNew(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := proc.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}

// Release gives the worktree back, and answers what was found in it.
func (p *Pool) Release(ctx context.Context, t task.Task) (worktree.Cleared, error) {
	slot, err := p.slot(t)
	if err != nil {
		return worktree.Cleared{}, err
	}
	if slot.Noted, err = p.noted(ctx, slot.Repo, t); err != nil {
		return worktree.Cleared{}, err
	}
	if err := p.seeShared(ctx, t); err != nil {
		return worktree.Cleared{}, err
	}
	done, err := slot.Release(ctx, t.ID)
	if err == nil {
		err = letGo(slot)
	}
	if err == nil {
		err = p.forgetOthers(t.ID)
	}
	if err == nil {
		err = p.unscratchAll(ctx, slot.Repo, t)
	}
	if err == nil && !t.Live {
		var kept []worktree.Rescue
		kept, err = p.forgetJudged(ctx, slot.Repo, t)
		done.Rescued = append(done.Rescued, kept...)
	}
	return p.report(t, done), err
}

// noted is the last commit of a task's branch that its history tells of since a person had it begin again last, where
// the branch has none any more.
func (p *Pool) noted(ctx context.Context, repo git.Repo, t task.Task) (string, error) {
	if (worktree.Worktrees{Repo: repo}).ReadTip(ctx, p.Dir(t.Workspace), t.Branch).Trouble == "" {
		return "", nil
	}
	events, err := p.Record.Events(ctx, t.ID, 0)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(events) {
		if _, again := e.Data[history.DataRedo]; e.Subject.Commit != "" || again {
			return e.Subject.Commit, nil
		}
	}
	return "", nil
}

// forgetJudged lets go of what was judged of a task that is over: nothing asks for it any more.
func (p *Pool) forgetJudged(ctx context.Context, repo git.Repo, t task.Task) ([]worktree.Rescue, error) {
	def, err := p.Setup.Pinned(ctx, t.Workflow)
	if err != nil {
		return nil, err
	}
	return worktree.Judged{Repo: repo}.Forget(ctx, t.ID, t.Branch, decide.Marks(def, t.Status).Well)
}

// unscratchAll takes away what checks of the task have left that were killed.
func (p *Pool) unscratchAll(ctx context.Context, repo git.Repo, t task.Task) error {
	names, err := p.Scratches()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, t.ID+"-") {
			if err := p.unscratch(ctx, repo, name); err != nil {
				return err
			}
		}
	}
	return nil
}

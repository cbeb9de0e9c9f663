package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// workspaces are those of a home: which there are, who has them, and whose repository they are of.
type workspaces struct {
	*places
	record Record
}

// Workspaces lists the workspaces of a project, or those of all.
func (w *workspaces) Workspaces(ctx context.Context, project string) ([]record.Holding, error) {
	projects, err := w.setup.Projects()
	if err != nil {
		return nil, err
	}
	held, err := w.record.Holders(ctx, project)
	if err != nil {
		return nil, err
	}
	holders := map[string]record.Holder{}
	for _, one := range held {
		holders[one.Workspace] = one
	}
	var out []record.Holding
	for _, one := range projects {
		if project != "" && one.Name != project {
			continue
		}
		for _, name := range w.names(one) {
			holder := holders[name]
			out = append(out, record.Holding{
				Project: one.Name, Workspace: name, Path: w.Dir(name), Exists: isThere(w.Dir(name)),
				Task: holder.Task, Branch: holder.Branch, Status: holder.Status, SetUp: w.SetUpOutput(name),
				Left: w.Left(name),
			})
		}
	}
	return out, nil
}

// nameOf is the name of a project's workspace.
func nameOf(project string, number int) string { return fmt.Sprintf("%s--%d", project, number) }

// names are those of a project's workspaces: those that it may have, and those beyond that are still there.
func (w *workspaces) names(project task.Project) []string {
	var out []string
	for n := 1; ; n++ {
		name := nameOf(project.Name, n)
		if n > project.PoolSize && !isThere(w.Dir(name)) {
			return out
		}
		out = append(out, name)
	}
}

// InitWorkspaces makes the worktrees of a project that are missing.
func (w *workspaces) InitWorkspaces(ctx context.Context, project task.Project) ([]record.Holding, error) {
	if err := os.MkdirAll(filepath.Join(w.home, "workspaces"), task.PrivateFolder); err != nil {
		return nil, fmt.Errorf("make the folder of workspaces: %w", err)
	}
	for n := 1; n <= project.PoolSize; n++ {
		slot := worktree.Slot{Repo: repoOf(project), Dir: w.Dir(nameOf(project.Name, n))}
		if err := slot.Make(ctx); err != nil {
			return nil, err
		}
	}
	return w.Workspaces(ctx, project.Name)
}

// CollectWorkspaces removes the worktrees that no task holds. One that holds anything is an error that names it;
// the others go.
func (w *workspaces) CollectWorkspaces(ctx context.Context, project string) ([]string, error) {
	all, err := w.Workspaces(ctx, project)
	if err != nil {
		return nil, err
	}
	var removed []string
	var left []error
	for _, one := range all {
		if one.Task != "" || !one.Exists {
			continue
		}
		project, err := w.setup.Project(one.Project)
		if err == nil {
			err = worktree.Worktrees{Repo: repoOf(project)}.Remove(ctx, one.Path)
		}
		if err != nil {
			left = append(left, err)
			continue
		}
		removed = append(removed, one.Workspace)
	}
	return removed, errors.Join(left...)
}

// Worktrees are the names of the workspaces that are there.
func (w *workspaces) Worktrees() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(w.home, "workspaces"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the worktrees: %w", err)
	}
	var out []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") { // what Orange keeps next to them
			out = append(out, entry.Name())
		}
	}
	return out, nil
}

// Locate finds the task whose worktree a folder is in, and its project; outside of every worktree of a task the project
// whose repository it is in, or of whose repository it is a linked worktree. Both are empty where there is none.
func (w *workspaces) Locate(ctx context.Context, dir string) (id, project string, err error) {
	holders, err := w.record.Holders(ctx, "")
	if err != nil {
		return "", "", err
	}
	name, linked, err := w.workspaceOf(dir)
	if err != nil {
		return "", "", err
	}
	for _, held := range holders {
		if name != "" && held.Workspace == name || linked[held.Workspace] && inside(dir, w.Dir(held.Workspace)) {
			s, err := w.record.Load(ctx, held.Task)
			return held.Task, s.Task.Project, err
		}
	}
	all, err := w.setup.Projects()
	if err != nil {
		return "", "", err
	}
	if project = projectAt(all, dir); project == "" { // a person's own worktree may lie anywhere
		shared := git.SharedOf(dir)
		owns := func(one task.Project) bool { return repoOf(one).Has(shared) }
		if at := slices.IndexFunc(all, owns); at >= 0 {
			project = all[at].Name
		}
	}
	return "", project, nil
}

// projectAt is the project in whose repository a folder is; the innermost where one lies inside of another.
func projectAt(all []task.Project, dir string) (name string) {
	longest := ""
	for _, one := range all {
		if dir != "" && inside(dir, one.Path) && len(one.Path) > len(longest) {
			longest, name = one.Path, one.Name
		}
	}
	return name
}

// workspaceOf is the workspace by whose name a folder's path leads below the workspaces, empty where it does not; and
// all workspaces that are links, where a path does not tell. The path of each of 1,000 is not followed for that.
func (w *workspaces) workspaceOf(dir string) (name string, linked map[string]bool, err error) {
	parent := w.Dir("")
	linked = map[string]bool{}
	entries, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", nil, fmt.Errorf("list the workspaces: %w", err)
	}
	for _, entry := range entries {
		if entry.Type()&os.ModeSymlink != 0 {
			linked[entry.Name()] = true
		}
	}
	if real, err := filepath.EvalSymlinks(parent); err == nil {
		parent = real
	}
	if below, is := strings.CutPrefix(dir, parent+string(filepath.Separator)); is {
		name, _, _ = strings.Cut(below, string(filepath.Separator))
	}
	return name, linked, nil
}

// inside reports whether a folder is another one or below it. Links in the path of the other are followed.
func inside(dir, parent string) bool {
	if real, err := filepath.EvalSymlinks(parent); err == nil {
		parent = real
	}
	return dir == parent || strings.HasPrefix(dir, parent+string(filepath.Separator))
}

// Left tells what git ignores in a workspace, and which task left it; empty where that is not known.
func (w *workspaces) Left(workspace string) string {
	left, err := worktree.Slot{Dir: w.Dir(workspace)}.Left()
	if err != nil {
		return err.Error()
	}
	return left
}

// SetUpOutput is the file that has the output of a workspace's last set-up; empty where there was none.
func (w *workspaces) SetUpOutput(workspace string) string {
	file := worktree.Slot{Dir: w.Dir(workspace)}.Companion(worktree.SetUpOutput)
	if !isThere(file) {
		return ""
	}
	return file
}

// Relocate joins the worktrees of a project with its repository again, which was moved to another path, and answers
// the project as it is to be registered. A repository that is not known to be the same is refused.
func (w *workspaces) Relocate(ctx context.Context, project task.Project, path string) (task.Project, error) {
	to, err := git.Inspect(ctx, path)
	if err != nil {
		return project, err
	}
	all, err := w.setup.Projects()
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
	slots, err := w.movableSlots(ctx, project, to)
	if err == nil {
		err = worktree.Worktrees{Repo: to}.Repair(ctx, project.Path, slots)
	}
	if err == nil {
		project.Path = to.Path
	}
	return project, err
}

// movableSlots are the worktrees of a project that go along with its repository. It is an error where one cannot, or
// where the repository is another one.
func (w *workspaces) movableSlots(ctx context.Context, project task.Project, to git.Repo) ([]worktree.Slot, error) {
	refused := func(why string) error {
		return task.Notef(task.ErrUsage, "cannot move the project %q to %q: %s", project.Name, to.Path, why)
	}
	var slots []worktree.Slot
	for _, name := range w.names(project) {
		slot := worktree.Slot{Repo: to, Dir: w.Dir(name)}
		there, whole := slot.IsThere()
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
		case whole && project.Path != to.Path && isThere(project.Path):
			return nil, refused(fmt.Sprintf("the worktree %q belongs to %q, which is still there; move that one away "+
				"first, as two repositories cannot have the same worktrees", slot.Dir, project.Path))
		}
		slots = append(slots, slot)
	}
	if len(slots) > 0 {
		return slots, nil
	}
	same, err := w.sameBy(ctx, project, to)
	if err == nil && !same {
		err = refused("it has none of the commits that are known of the project, so it is another repository; " +
			"register it under another name with orange project add PATH --name NAME")
	}
	return nil, err
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sameBy compares by commits: that which the project had when it was registered, or, where it is not known, those that
// its tasks have on record. Where nothing is known of the project there is nothing that could be another one's.
func (w *workspaces) sameBy(ctx context.Context, project task.Project, to git.Repo) (bool, error) {
	tasks, err := w.record.List(ctx, record.Filter{Project: project.Name})
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

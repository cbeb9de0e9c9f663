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

// Workspaces lists the workspaces of a project, or those of all.
func (p *Pool) Workspaces(ctx context.Context, project string) ([]record.Holding, error) {
	projects, err := p.Setup.Projects()
	if err != nil {
		return nil, err
	}
	held, err := p.Record.Holders(ctx, project)
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
		for _, name := range p.names(one) {
			holder := holders[name]
			_, err := os.Stat(p.Dir(name))
			out = append(out, record.Holding{
				Project: one.Name, Workspace: name, Path: p.Dir(name), Exists: err == nil,
				Task: holder.Task, Branch: holder.Branch, Status: holder.Status, SetUp: p.SetUpOutput(name),
				Left: p.Left(name),
			})
		}
	}
	return out, nil
}

// nameOf is the name of a project's workspace.
func nameOf(project string, number int) string { return fmt.Sprintf("%s--%d", project, number) }

// names are those of a project's workspaces: those that it may have, and those beyond that are still there.
func (p *Pool) names(project task.Project) []string {
	var out []string
	for n := 1; ; n++ {
		name := nameOf(project.Name, n)
		if _, err := os.Stat(p.Dir(name)); err != nil && n > project.PoolSize {
			return out
		}
		out = append(out, name)
	}
}

// InitWorkspaces makes the worktrees of a project that are missing.
func (p *Pool) InitWorkspaces(ctx context.Context, project task.Project) ([]record.Holding, error) {
	if err := os.MkdirAll(filepath.Join(p.Home, "workspaces"), task.PrivateFolder); err != nil {
		return nil, fmt.Errorf("make the folder of workspaces: %w", err)
	}
	for n := 1; n <= project.PoolSize; n++ {
		slot := worktree.Slot{Repo: p.repoOf(project), Dir: p.Dir(nameOf(project.Name, n))}
		if err := slot.Make(ctx); err != nil {
			return nil, err
		}
	}
	return p.Workspaces(ctx, project.Name)
}

// CollectWorkspaces removes the worktrees that no task holds. One that holds anything is an error that names it;
// the others go.
func (p *Pool) CollectWorkspaces(ctx context.Context, project string) ([]string, error) {
	all, err := p.Workspaces(ctx, project)
	if err != nil {
		return nil, err
	}
	var removed []string
	var left []error
	for _, one := range all {
		if one.Task != "" || !one.Exists {
			continue
		}
		project, err := p.Setup.Project(one.Project)
		if err == nil {
			err = worktree.Worktrees{Repo: p.repoOf(project)}.Remove(ctx, one.Path)
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
func (p *Pool) Worktrees() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(p.Home, "workspaces"))
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

// DefaultBranch reports whether a repository has the branch that work is merged into.
func (p *Pool) DefaultBranch(ctx context.Context, project task.Project) (bool, error) {
	there, err := p.repoOf(project).BranchExists(ctx, project.DefaultBranch)
	if err != nil || there {
		return there, err
	}
	_, err = p.repoOf(project).Base(ctx) // it may be on origin alone
	return err == nil, nil
}

// HasIdentity reports whether git knows, in a folder and with these variables, whose commits are made there.
func (p *Pool) HasIdentity(ctx context.Context, dir string, env []string) (bool, error) {
	return worktree.HasIdentity(ctx, dir, env)
}

// Locate finds the task whose worktree a folder is in, and its project; outside of every worktree of a task the project
// whose repository it is in, or of whose repository it is a linked worktree. Both are empty where there is none.
func (p *Pool) Locate(ctx context.Context, dir string) (id, project string, err error) {
	holders, err := p.Record.Holders(ctx, "")
	if err != nil {
		return "", "", err
	}
	name, linked, err := p.workspaceOf(dir)
	if err != nil {
		return "", "", err
	}
	for _, held := range holders {
		if name != "" && held.Workspace == name || linked[held.Workspace] && inside(dir, p.Dir(held.Workspace)) {
			s, err := p.Record.Load(ctx, held.Task)
			return held.Task, s.Task.Project, err
		}
	}
	all, err := p.Setup.Projects()
	if err != nil {
		return "", "", err
	}
	if project = projectAt(all, dir); project == "" { // a person's own worktree may lie anywhere
		shared := git.SharedOf(dir)
		owns := func(one task.Project) bool { return p.repoOf(one).Has(shared) }
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
func (p *Pool) workspaceOf(dir string) (name string, linked map[string]bool, err error) {
	parent := p.Dir("")
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

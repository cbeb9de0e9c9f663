// Package pool has the workspaces of all projects: which there are, and the work of a task in the one that it holds.
//
// It finds the worktree and the repository of a task; what git does there is package worktree.
package pool

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
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

// Surroundings is what a pool needs of the rest of the program.
type Surroundings struct {
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

// Pool has the workspaces of a home, in parts: each is about one thing, and names those of the others that it needs.
type Pool struct {
	*places
	*settings
	*setups
	*branches
	*changes
	*documents
	*checkouts
	*leftovers
	*losses
	*conflicts
	*merges
	*slots
	*workspaces
	*requests
}

// New is the pool of a home.
func New(o Surroundings) *Pool {
	p := &Pool{places: &places{home: o.Home, setup: o.Setup}}
	p.settings = &settings{places: p.places, record: o.Record, files: o.Files}
	p.setups = &setups{places: p.places, record: o.Record, files: o.Files, log: o.Log, environment: o.Environment}
	p.branches = &branches{places: p.places}
	p.changes = &changes{places: p.places, branches: p.branches}
	p.documents = &documents{places: p.places, settings: p.settings, files: o.Files}
	p.checkouts = &checkouts{places: p.places, settings: p.settings, setups: p.setups}
	p.leftovers = &leftovers{places: p.places, record: o.Record, log: o.Log}
	p.losses = &losses{places: p.places, branches: p.branches, record: o.Record, log: o.Log}
	p.conflicts = &conflicts{places: p.places, record: o.Record}
	p.merges = &merges{places: p.places, settings: p.settings, setups: p.setups, branches: p.branches,
		record: o.Record, files: o.Files, own: o.Own}
	p.slots = &slots{places: p.places, settings: p.settings, setups: p.setups, branches: p.branches,
		documents: p.documents, checkouts: p.checkouts, losses: p.losses, record: o.Record, log: o.Log,
		terminal: o.Terminal, patience: cmp.Or(o.patience, fetchLimit)}
	p.workspaces = &workspaces{places: p.places, record: o.Record}
	p.requests = &requests{places: p.places, settings: p.settings, log: o.Log}
	return p
}

// places are where the repositories of projects and the worktrees of tasks are.
type places struct {
	home  string
	setup Setup
}

// Project finds a project by its name.
func (p *places) Project(name string) (task.Project, error) { return p.setup.Project(name) }

// Dir is the worktree of a workspace.
func (p *places) Dir(workspace string) string { return filepath.Join(p.home, "workspaces", workspace) }

func repoOf(project task.Project) git.Repo {
	return git.Repo{Path: project.Path, DefaultBranch: project.DefaultBranch}
}

// repo is the repository of a task.
func (p *places) repo(t task.Task) (git.Repo, error) {
	project, err := p.setup.Project(t.Project)
	return repoOf(project), err
}

// Slot is the repository of a task, and its worktree there; the worktree has no place where the task has none.
func (p *places) Slot(t task.Task) (worktree.Slot, error) {
	project, err := p.setup.Project(t.Project)
	slot := worktree.Slot{Repo: repoOf(project), Generated: project.Generated,
		CleanIgnored: project.Worktree.Clean != ""}
	if t.Workspace != "" {
		slot.Dir = p.Dir(t.Workspace)
	}
	return slot, err
}

// slot is Slot of a task that has a worktree.
func (p *places) slot(t task.Task) (worktree.Slot, error) {
	slot, err := p.Slot(t)
	if err == nil && t.Workspace == "" {
		err = fmt.Errorf("task %s has no workspace", t.ID)
	}
	return slot, err
}

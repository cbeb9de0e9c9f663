// Package engine is the only writer of the record: load, look at the evidence, decide, commit, perform, settle.
//
// It owns the order of these steps and what happens when one of them is cut short.
// It does not own the rules (decide), what hooks do (hook), nor where anything is kept (sqlite, mirror).
package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Store is the record as the corridor needs it.
type Store interface {
	Load(ctx context.Context, id string) (record.Snapshot, error)
	Commit(ctx context.Context, c record.Change) (task.Task, error)
	Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error)
	BeginHook(ctx context.Context, hook int64, now time.Time) error
	Delete(ctx context.Context, id string) error
}

// Index finds tasks in the record and tells their past.
type Index interface {
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Holders(ctx context.Context, project string) ([]record.Holder, error)
	PendingTasks(ctx context.Context, now time.Time) ([]string, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
	Lines(ctx context.Context, id string) ([]string, error)
	WasRendered(ctx context.Context, id, field, value string) (bool, error)
}

// Seats finds out who a caller is.
type Seats interface {
	Seat(ctx context.Context, hash string) (record.Seat, error)
	SeatOf(ctx context.Context, pid int, began string) (record.Seat, error)
	OpenSeats(ctx context.Context, id string) ([]record.Seat, error)
}

// Documents is the task's folder.
type Documents interface {
	Create(t task.Task, body string) error
	Read(project, id string, whole bool) ([]byte, error)
	Append(project, id, text string) error
	Adopt(t task.Task, content []byte) (before []byte, err error)
	// Keep stores a text; harden makes it outlive a power cut.
	Keep(project, id, digest, text string) (harden func() error, err error)
	Trash(project, id string) (string, error)
}

// Mirror makes the files equal to the record, and has the locks beside them.
type Mirror interface {
	// Sync gives task.ErrConflict, and leaves the document alone, where its header is no longer the one that was
	// compared.
	Sync(t task.Task, lines []string, header string) error
	Lock(ctx context.Context, name string) (release func(), err error)
	TryLock(name string) (release func(), free bool, err error)
}

// Rules finds workflows.
type Rules interface {
	// Named is the workflow of that name as it stands now, kept for the tasks that it is pinned by.
	Named(ctx context.Context, name string) (*workflow.Definition, error)
	// Pinned is the very workflow that a task was created under.
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
}

// Workspaces is a task's workspace and repository, as far as the engine itself touches them.
type Workspaces interface {
	// Replaced looks whether a program put a file where the link to the document was, and answers its content.
	Replaced(ctx context.Context, t task.Task) (content []byte, replaced bool, err error)
	// Relink puts the link back.
	Relink(ctx context.Context, t task.Task) error
	CheckBranch(ctx context.Context, name string) error
	// SetBranch renames or switches the workspace's branch; with an empty name it answers the present one.
	SetBranch(ctx context.Context, t task.Task, name string) (string, error)
	Project(name string) (task.Project, error)
	// Subject is what evidence of the task is about at this moment: the tip of its branch, and with tree what
	// lies in its worktree too. What could not be read is told in it.
	Subject(ctx context.Context, t task.Task, tree bool) task.Subject
}

// Merger merges a task's branch into the project's default branch.
type Merger interface {
	// Ahead says whether a commit of the branch, or its tip where none is named, holds anything that the default
	// branch has not. A workspace that is on another branch is an error: what the agent did is not where the
	// merge would look for it.
	Ahead(ctx context.Context, t task.Task, commit string) (bool, error)
	// Merge merges a commit of the branch, or its tip where none is named. What the branch has beyond it is kept,
	// and told in how. It asks still right before it moves or pushes the default branch; an error of that ends it
	// with nothing changed.
	Merge(ctx context.Context, t task.Task, commit, strategy string, still func(context.Context) error) (merged,
		how string, err error)
	// Tip is the branch's newest commit; empty where there is no such branch.
	Tip(ctx context.Context, t task.Task) (string, error)
	// Within says whether a commit holds all that the branch has. It may be one that is not here: then it holds
	// what was pushed.
	Within(ctx context.Context, t task.Task, commit string) (bool, error)
}

// PullRequests knows those of a project.
type PullRequests interface {
	// Find lists those of a branch, the newest first; none where there is no program to ask, or origin is not
	// where pull requests are.
	Find(ctx context.Context, project, branch string) ([]record.PullRequest, error)
	// States tells how those with these addresses stand.
	States(ctx context.Context, project string, addresses []string) ([]record.PullRequest, error)
}

// Facts looks at what a gate asks for outside of the task's document: files, checks, git.
type Facts interface {
	// Look answers a fact for every part, by its Key. An error says that it could not be looked at all.
	Look(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part) (
		map[string]decide.Fact, error)
}

// Performer performs one hook. It may be asked again for one that it has performed: it looks first.
type Performer interface {
	Perform(ctx context.Context, job record.Job) (record.Effect, error)
}

// Runner sees to it that a task's owed hooks are performed by a process that none of them can end.
type Runner interface {
	// Run runs what needs a person's own keys, such as a push, with those of this process where a person asked.
	Run(ctx context.Context, id string, person bool) error
}

// Terminal is where the agents of tasks are.
type Terminal interface {
	// Rename gives the session of a task the name that goes with its branch, and answers the one that it has
	// then; empty where it has no session.
	Rename(ctx context.Context, t task.Task) (string, error)
}

// Environments has, for each task, the environment of the person who started it: its agents, checks and hooks run
// in that one, whoever asks for them.
type Environments interface {
	// Keep keeps the environment of this process for the task, in the place of an earlier one.
	Keep(ctx context.Context, id string) error
	Drop(ctx context.Context, id string) error
}

// Engine is the corridor. Every field but Terminal and Warn is required.
type Engine struct {
	Store      Store
	Index      Index
	Seats      Seats
	Documents  Documents
	Mirror     Mirror
	Rules      Rules
	Workspaces Workspaces
	Merger     Merger
	Forge      PullRequests
	Facts      Facts
	Performer  Performer
	Runner     Runner
	Witness    Witness
	Now        func() time.Time
	Random     io.Reader
	Log        *slog.Logger
	Patience   time.Duration // how long a request waits for its hooks

	Environments Environments
	Terminal     Terminal // nil where sessions have no names

	Projections Projections // asked only for tasks whose workflow projects files
	// tells whoever waits for this process what a person should know; nil where nobody does
	Warn func(text string)
}

// maxConflicts bounds how often a decision is made anew because somebody else was faster.
const maxConflicts = 100

// change decides and commits until nobody else was faster. A nil change commits nothing.
func (e *Engine) change(ctx context.Context, id string, build func(record.Snapshot) (*record.Change, error)) (
	task.Task, error) {
	for range maxConflicts {
		s, err := e.Store.Load(ctx, id)
		if err != nil {
			return task.Task{}, err
		}
		c, err := build(s)
		if err != nil || c == nil {
			return s.Task, err
		}
		t, err := e.Store.Commit(ctx, *c)
		if !errors.Is(err, task.ErrConflict) {
			return t, err
		}
	}
	return task.Task{}, task.Notef(task.ErrConflict,
		"cannot change task %s: others change it all the time; try again", id)
}

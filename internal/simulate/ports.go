package simulate

import (
	"context"

	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Files is the task's folder with its locks and projections.
type Files interface {
	Document
	Mirror
	Projections
}

// Document is TASK.md and the texts that are kept beside it.
type Document interface {
	Create(t task.Task, body string) error
	Read(project, id string, whole bool) ([]byte, error)
	Append(project, id, text string) error
	Adopt(t task.Task, content []byte) (before []byte, err error)
	Keep(project, id, digest, text string) (harden func() error, err error)
	Trash(project, id string) (string, error)
}

// Mirror is the files that follow the record, and locks.
type Mirror interface {
	Sync(t task.Task, lines []string, header string) error
	Lock(ctx context.Context, name string) (release func(), err error)
	TryLock(name string) (release func(), free bool, err error)
}

// Projections are the files in a workflow's own form.
type Projections interface {
	Projection(t task.Task, file string) (record.ProjectionFile, error)
	Project(t task.Task, file string, text []byte) error
}

// Desk is workspaces, the repository and its pull requests.
type Desk interface {
	Workspaces
	Merger
	Requests
}

// Workspaces are a task's workspace and project.
type Workspaces interface {
	Replaced(ctx context.Context, t task.Task) (content []byte, replaced bool, err error)
	Relink(ctx context.Context, t task.Task) error
	CheckBranch(ctx context.Context, name string) error
	SetBranch(ctx context.Context, t task.Task, name string) (string, error)
	Project(name string) (task.Project, error)
	Subject(ctx context.Context, t task.Task, tree bool) task.Subject
}

// Merger merges the one branch there is.
type Merger interface {
	Ahead(ctx context.Context, t task.Task, commit string) (bool, error)
	Merge(ctx context.Context, t task.Task, commit, strategy string, still func(context.Context) error) (merged,
		how string, err error)
	Tip(ctx context.Context, t task.Task) (string, error)
	Within(ctx context.Context, t task.Task, commit string) (bool, error)
}

// Requests are pull requests, and what dead agents said last.
type Requests interface {
	Find(ctx context.Context, project, branch string) ([]record.PullRequest, error)
	Standing(ctx context.Context, project string, addresses []string) ([]record.PullRequest, error)
	LastWords(ctx context.Context, death task.Death) (string, error)
}

// Looker looks at files, checks and git.
type Looker interface {
	Look(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part) (
		map[string]decide.Fact, error)
}

// Hands perform hooks.
type Hands interface {
	Perform(ctx context.Context, job record.Job) (record.Effect, error)
	Run(ctx context.Context, id string, person bool) error
}

// Tower is what there is to be seen of agents.
type Tower interface {
	// Agents are all that were ever started, the oldest first.
	Agents() ([]Agent, error)
	// Stamp changes whenever a mirror does.
	Stamp() string
}

// Rules finds the one workflow there is, and the project's word on time, which says nothing.
type Rules interface {
	Named(ctx context.Context, name string) (*workflow.Definition, error)
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	Timeouts(project string) (task.Timeouts, error)
}

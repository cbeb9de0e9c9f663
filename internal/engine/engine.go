package engine

import (
	"context"
	"io"
	"log/slog"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Record is what is true of every task, and who asks about it. The database has it; a simulation counts its steps.
type Record interface {
	Load(ctx context.Context, id string) (record.Snapshot, error)
	Commit(ctx context.Context, c record.Change) (task.Task, error)
	// Adopt takes whole tasks into the record, all that it is given at once or none of them.
	Adopt(ctx context.Context, all []record.Adoption) ([]task.Task, error)
	Delete(ctx context.Context, id string) error
	Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error)
	BeginHook(ctx context.Context, hook int64, now time.Time) error
	// Refusals are those of a task's agents in its present stay; NoteRefusals keeps others in their place.
	Refusals(ctx context.Context, id string) (record.Refusals, error)
	NoteRefusals(ctx context.Context, id string, r record.Refusals) error

	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Holders(ctx context.Context, project string) ([]record.Holder, error)
	PendingTasks(ctx context.Context, now time.Time) ([]string, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
	// Called are the numbers of the events of a task that a call has asked for a moment ago.
	Called(ctx context.Context, call, id string) (seqs []int, err error)
	Tail(ctx context.Context, id string, after int) (lines []string, bytes int64, err error)
	WasRendered(ctx context.Context, id, field, value string) (bool, error)

	Seat(ctx context.Context, hash string) (record.Seat, error)
	SeatOf(ctx context.Context, processes ...task.Process) (record.Seat, error)
	OpenSeats(ctx context.Context, id string) ([]record.Seat, error)

	// Wait notes that a process waits for a task on behalf of a role, and Unwait that it does no more.
	Wait(ctx context.Context, id, role string, w task.Process) error
	Unwait(ctx context.Context, id, role string, w task.Process) error
	Notice(ctx context.Context, id, role string) (record.Notice, error)
	// DataVersion changes when another process has written the record.
	DataVersion(ctx context.Context) (int64, error)
}

// Folder is the folders of tasks: the document, the mirror of the history, projections, kept texts, and the locks next
// to them.
type Folder interface {
	Create(t task.Task, body string) error
	Read(project, id string, whole bool) ([]byte, error)
	// ReadHistory is the mirror of the history; no text where there is none.
	ReadHistory(project, id string) ([]byte, error)
	Append(project, id, text string) error
	Adopt(t task.Task, content []byte) (before []byte, err error)
	// Keep stores a text, and reports whether it was not there before; Harden makes kept texts outlive a power cut.
	Keep(project, id, digest, text string) (fresh bool, err error)
	Harden(project, id string, digests ...string) error
	Trash(project, id string) (string, error)
	// SetAside moves the folder of a task that leaves this home to where no rebuild finds it.
	SetAside(project, id string) (string, error)

	// Sync makes the files equal to the record. It returns task.ErrConflict, and leaves the document alone, if its
	// header is no longer the one that was compared.
	Sync(t task.Task, past record.HistoryLines, header string) error
	// Projection is a file that a workflow projects of a task, and Project writes it.
	Projection(t task.Task, file string) (record.ProjectionFile, error)
	Project(t task.Task, file string, text []byte) error

	Lock(ctx context.Context, name string) (release func(), err error)
	TryLock(name string) (release func(), free bool, err error)
}

// Rules finds workflows.
type Rules interface {
	// Named is the present workflow of that name, kept for the tasks of a project that pin it. News are what a person
	// should hear of it.
	Named(ctx context.Context, name string, of task.Project) (def *workflow.Definition, news []string, err error)
	// Present is the workflow that Named would keep; it keeps nothing.
	Present(name string) (*workflow.Definition, error)
	// Tried is the workflow that Named would keep, or the error of Named; it keeps and notes nothing.
	Tried(name string, of task.Project) (*workflow.Definition, error)
	// Pinned is the exact workflow that a task was created under.
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
}

// Work is the work of tasks: workspaces, branches, merges and pull requests.
type Work interface {
	// Replaced reports whether a program put a file where the link to the document was, and returns its content.
	Replaced(ctx context.Context, t task.Task) (content []byte, replaced bool, err error)
	// Relink puts the link back.
	Relink(ctx context.Context, t task.Task) error
	CheckBranch(ctx context.Context, t task.Task) error
	// SetBranch renames or switches the workspace's branch; with an empty name it returns the present one.
	SetBranch(ctx context.Context, t task.Task, name string) (string, error)
	Project(name string) (task.Project, error)
	// Holds reports whether the task's workspace is here, and is the task's.
	Holds(ctx context.Context, t task.Task) (bool, error)
	// Missing says what is not there any more of the task's worktree, or of its branch; empty where both are there.
	Missing(ctx context.Context, t task.Task) (string, error)
	// HasBranch reports whether the repository has the task's branch, here or on origin, or where it was last.
	HasBranch(ctx context.Context, t task.Task) (bool, error)
	// Subject is what evidence of the task is about at this moment: the tip of its branch and, with tree, the
	// content of its worktree too. It names what it could not read.
	Subject(ctx context.Context, t task.Task, tree bool) task.Subject

	// Ahead reports whether a commit of the branch, or its tip if none is named, holds anything that the default
	// branch lacks. A workspace that is on another branch is an error: the merge would not look for the agent's
	// work there.
	Ahead(ctx context.Context, t task.Task, commit string) (bool, error)
	// Merge merges a commit of the branch. It keeps what the branch has beyond that commit, and mentions it in the
	// result. It calls begin with the commit that the default branch gets, right before that moves, here or on origin,
	// and again if it has moved meanwhile; an error of begin ends the merge with nothing changed. Where the work does
	// not go together with the default branch the error is a *record.Unmerged.
	Merge(ctx context.Context, t task.Task, order record.MergeOrder,
		begin func(ctx context.Context, result string) error) (record.MergeResult, error)
	// Rehearse merges commits, one on top of the other, and moves nothing. last is the last result.
	Rehearse(ctx context.Context, t task.Task, commits []string) (all []record.Rehearsal, last string, err error)
	// CheckResult runs the checks of a merge on a commit. The error is a *record.Unmerged where one of them fails.
	CheckResult(ctx context.Context, t task.Task, commit string, checks []record.MergeCheck) error
	// Landed reports whether the default branch, here or on origin, has one of the commits.
	Landed(ctx context.Context, t task.Task, commits []string) (bool, error)
	// Lacks returns which of some commits a new task would start without, and the name of what it would start from,
	// as far as is known without a fetch.
	Lacks(ctx context.Context, t task.Task, commits []string) (base string, lacks []string, err error)
	// Fetch learns from origin where its default branch is; without an origin it does nothing.
	Fetch(ctx context.Context, t task.Task) error
	// EndPush ends the push of an earlier merge of the task, whose process was killed. No merge of it is under way.
	EndPush(ctx context.Context, t task.Task) error
	// Unpushed is how many commits only the local default branch has, and the newest of them in words.
	Unpushed(ctx context.Context, t task.Task) (count int, newest []string, err error)
	// Forge reports whether the repository has a remote called origin, and where its pull requests are.
	Forge(ctx context.Context, t task.Task) (origin bool, forge string, err error)
	// Tip is the branch's newest commit; empty where there is no such branch.
	Tip(ctx context.Context, t task.Task) (string, error)
	// Within reports whether a commit holds all that the branch has. The commit may be missing here: then Within
	// compares it with what was pushed.
	Within(ctx context.Context, t task.Task, commit string) (bool, error)

	// Find lists the pull requests of a branch, the newest first; none if there is no program to ask, or if origin is
	// not where pull requests are.
	Find(ctx context.Context, project, branch string) ([]record.PullRequest, error)
	// States returns the present state of the pull requests with these addresses.
	States(ctx context.Context, project string, addresses []string) ([]record.PullRequest, error)
	// Log is the end of the log of a check, as a look at the pull request with this address named it.
	Log(ctx context.Context, project, address, log string, most int) (string, error)
}

// Agents are the agents of tasks, in their windows.
type Agents interface {
	// Living finds the living agents of tasks by the tasks' ids, as the seats that they had, as far as that is known.
	// The hash is empty where it is not known. An error means that it could not look.
	Living(ctx context.Context) (map[string][]record.Seat, error)
	// LastWords are the last lines of the dead agent's window; empty when the window is gone.
	LastWords(ctx context.Context, death task.Death) (string, error)
	// Limit is what those lines say of the limit of the agent's provider; zero where they say nothing of one. Events
	// are the task's whole history.
	Limit(t task.Task, death task.Death, events []history.Event, now time.Time) (task.Limit, error)
	// Lost is with what the dead agent ended, if all that it ran in has ended since its start, and what the person
	// wants with those who ended so; empty where it ended by itself.
	Lost(ctx context.Context, death task.Death, started time.Time) (with, resume string, _ error)
	// Rename gives the session of a task the name that belongs to its branch, and returns the resulting name;
	// empty if the task has no session.
	Rename(ctx context.Context, t task.Task) (string, error)
	// Waits reports whether a living command waits for a task on behalf of a role.
	Waits(ctx context.Context, t task.Task, role string) (bool, error)
	// Say types a text for the living agent of a role, at once or not at all; agent is its harness. A *tmux.NotSafe
	// says why not now, task.ErrNotFound that no agent of that role lives. It calls begin right before it types.
	Say(ctx context.Context, t task.Task, role, agent, text string, begin func(context.Context) error) error
}

// Environments has, for each task, the environment of the person who started it. Its agents, checks and hooks run
// in that environment, no matter who asks for them.
type Environments interface {
	// Keep keeps the environment of this process for the task and replaces an earlier one.
	Keep(ctx context.Context, id string) error
	Drop(ctx context.Context, id string) error
	// Give sets variables for the programs of one task alone, and Forget forgets them.
	Give(ctx context.Context, id string, variables []string) error
	Forget(ctx context.Context, id string) error
}

// Facts looks at what gates ask for outside of the task's document: files, checks, git. It returns a fact for every
// part, by its Key. An error means that it could not look at all.
type Facts func(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error)

// Ports are what an engine works with. Every one but Ready, SharedNews, Needs and HoldBack is required.
//
// What is outside comes in by five ports, one for each neighbour that a simulation fakes, and not by one with all of
// their methods: a program would have to join them again, and a test could not fake one of them alone.
type Ports struct {
	Record Record
	Folder Folder
	Rules  Rules
	Work   Work
	Agents Agents

	// Facts may start a check and wait for it; Peek starts nothing and waits for nothing.
	Facts, Peek Facts
	// Perform may be asked again for a hook that it has performed: it looks first.
	Perform Perform
	// RunHooks has a task's owed hooks performed by a process that none of them can end. It performs what needs a
	// person's own keys, such as a push, with those of this process if a person asked.
	RunHooks func(ctx context.Context, id string, person bool) error

	Now      func() time.Time
	Random   io.Reader
	Log      *slog.Logger
	Patience time.Duration // how long a request waits for its hooks

	Environments Environments

	// Ready is what a task needs of its repository and this machine to start; nil if no one looks.
	Ready func(ctx context.Context, t task.Task) ([]rejection.Readiness, error)
	// SharedNews are changes of what all worktrees of a task's repository share, each once; nil if no one looks.
	SharedNews func(ctx context.Context, t task.Task) ([]string, error)
	// Needs says why a person should look after a task now, as far as its agents' terminals say; nil if no one knows.
	Needs func(ctx context.Context, t task.Task) (record.Need, error)

	// HoldBack keeps the caller waiting for so long, or until the context ends; nil where no one has to wait.
	HoldBack func(ctx context.Context, wait time.Duration)
}

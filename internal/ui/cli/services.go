package cli

import (
	"context"
	"io"
	"time"

	"orange/internal/api/socket"
	"orange/internal/proof/replay"
	"orange/internal/proof/simulate"
	"orange/internal/rules/conflict"
	"orange/internal/rules/decide"
	"orange/internal/rules/diff"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/environment"
	"orange/internal/store/home"
	"orange/internal/work/pool"
)

// Services is what the commands ask, by resource. Every field is required.
type Services struct {
	Commands  Commands
	Queries   Queries
	Identity  Identity
	Home      *home.Home // the projects and the agent programs
	Workflows Workflows
	Prober    Prober
	Pool      *pool.Pool
	Monitor   Monitor
	Variables environment.Variables
	Skills    Skills
	Turns     Turns
	Snapshots Snapshots
	Fleet     Fleet
}

// Commands change tasks.
type Commands interface {
	// Fill gives a new task what the person left out: workflow and harnesses. The error says what is wrong with
	// what they gave.
	Fill(ctx context.Context, n task.New) (task.New, error)
	// OnWait has what a request waits for told: a hook's action, and for how long; an empty action is the end.
	OnWait(tell func(action string, waited time.Duration))
	// OnWarn has a person hear what is no part of an answer.
	OnWarn(tell func(text string))
	Create(ctx context.Context, n task.New) (record.Outcome, error)
	// DryRun is what a new task needs so that it can start, and whether that is so.
	DryRun(ctx context.Context, n task.New) ([]rejection.Readiness, error)
	Request(ctx context.Context, req task.Request) (record.Outcome, error)
	// Answered is the answer to a request that was done under the actor's key before, with how a merge was made.
	Answered(ctx context.Context, id string, actor task.Actor) (
		out record.Outcome, how string, answered bool, err error)
	Command(ctx context.Context, id, command string, actor task.Actor, reason string) (record.Outcome, error)
	RequestChanges(ctx context.Context, id, text string, actor task.Actor) (record.Outcome, error)
	RequestPR(ctx context.Context, id string, actor task.Actor) (record.Outcome, error)
	Merge(ctx context.Context, id string, m task.Merge, actor task.Actor) (record.Outcome, string, error)
	// MergeMany merges several tasks, and tells at once what became of each. The error is of what concerns all.
	MergeMany(ctx context.Context, in record.MergeMany, actor task.Actor, told func(record.MergedOne)) error
	Next(ctx context.Context, id string, actor task.Actor, override bool, to task.Status, reason string) (
		record.Outcome, error)
	Redo(ctx context.Context, id string, to task.Status, actor task.Actor, reason string) (record.Outcome, error)
	Migrate(ctx context.Context, id, workflow string, status map[task.Status]task.Status, actor task.Actor) (
		record.Outcome, error)
	// WouldMigrate is what Migrate would do, or its refusal. It changes nothing.
	WouldMigrate(ctx context.Context, id, workflow string, status map[task.Status]task.Status, actor task.Actor) (
		record.Outcome, error)
	Update(ctx context.Context, id string, u task.Update) (task.Task, error)
	Respawn(ctx context.Context, id string, actor task.Actor) (record.Outcome, error)
	Retry(ctx context.Context, id string, actor task.Actor) (record.Outcome, error)
	// Drop dismisses the failed hooks of a task that nothing waits for.
	Drop(ctx context.Context, id string, actor task.Actor) (record.Outcome, error)
	Delete(ctx context.Context, id string, actor task.Actor) (record.DeletedTask, error)
	// BeginToLeave ends the agents of a task that is about to leave.
	BeginToLeave(ctx context.Context, id, reason string, actor task.Actor) error
	// Leave lets a task go, and answers where its folder is now and the refs under which work is kept.
	Leave(ctx context.Context, id, reason string, actor task.Actor) (folder string, refs []string, err error)
	Wait(ctx context.Context, id string, actor task.Actor, timeout time.Duration) (record.Waited, error)
	Settle(ctx context.Context, id string, person bool) error
	Attach(ctx context.Context, id, role string, run bool) ([]string, error)
	// Say says something to the agent of a role, or of the present status if none is named.
	Say(ctx context.Context, id, role, text string, actor task.Actor) (to, how string, err error)
	// RunCheck runs a check of a task. Unless again is set, a result that counts already is the answer.
	RunCheck(ctx context.Context, id, check string, again bool) (task.CheckResult, error)
}

// Queries read tasks, their pasts and what happens to them, and change nothing.
type Queries interface {
	Tasks(ctx context.Context, f record.Filter) ([]task.Task, error)
	// All are the ids of all tasks, or of a project's where one is named, also of those that cannot be read.
	All(ctx context.Context, project string) ([]string, error)
	// Unrecorded is how many tasks have a folder and are not on record, and how many of them an earlier Orange left.
	Unrecorded(ctx context.Context) (all, older int, err error)
	// Pinned is a task with the very workflow that it was created under.
	Pinned(ctx context.Context, id string) (task.Task, *workflow.Definition, error)
	Report(ctx context.Context, id string, actor task.Actor) (record.Report, error)
	Why(ctx context.Context, id string) (decide.Explanation, error)
	// Before looks at the tasks that a task waits for. With look it finds out whether a new task would start with their
	// commits.
	Before(ctx context.Context, t task.Task, look bool) ([]record.Before, error)
	Checks(ctx context.Context, id string) ([]task.CheckState, error)
	// Patch is what a task's branch and its workspace changed, the list of files first; with since only what changed
	// since another commit was judged.
	Patch(ctx context.Context, t task.Task, since bool) (diff.Patch, error)
	// Screens are what the windows of a task's agents show now, without colours.
	Screens(ctx context.Context, id string) ([]record.AgentScreen, error)
	Sessions(ctx context.Context, tasks []task.Task) (map[string]string, error)
	// Needs are the states of agents, and why people should look after tasks now. It has what it could look at.
	Needs(ctx context.Context, tasks []task.Task) (map[string]string, map[string]record.Need, error)
	// Timings leaves out the tasks whose times cannot be computed; the error says why.
	Timings(ctx context.Context, tasks []task.Task) (map[string]task.Timing, error)
	// Stats are the numbers of tasks; in a window only of those to which something happened then.
	Stats(ctx context.Context, tasks []task.Task, w stats.Window) ([]stats.Stats, error)
	History(ctx context.Context, id string) ([]history.Event, error)
	// Older are the events that an earlier Orange wrote of a task that was taken over from it, a line each.
	Older(ctx context.Context, id string, events []history.Event) []string
	LogEntries(ctx context.Context, id string) ([]stats.LogEntry, error)
	Verify(ctx context.Context, ids []string) ([]record.Finding, error)
	// VerifyAll looks at all tasks, or a project's where one is named, and whether one is gone.
	// It reports how far it is.
	VerifyAll(ctx context.Context, project string, progress func(what string, done, of int)) ([]record.Finding, error)
	// Replay makes every decision of some tasks again. It reports how far it is.
	Replay(ctx context.Context, ids []string, by replay.Rules, progress func(what string, done, of int)) (
		replay.Replays, error)

	// Conflicts is what was found last in a project. It asks git nothing.
	Conflicts(ctx context.Context, project string) (conflict.Overview, error)
	// ConflictsOf finds out what a task's branch conflicts with now. With an error it has what was found before.
	ConflictsOf(ctx context.Context, t task.Task) (conflict.Overview, error)

	// Changed is the cursor after everything that has happened.
	Changed(ctx context.Context) (int64, error)
	// TasksSince are the tasks that changed after a cursor, as they are now, those that are gone, and the cursor
	// to go on with.
	TasksSince(ctx context.Context, cursor int64) (changed []task.Task, gone []string, next int64, err error)
	// Follow calls report with what happens to all tasks after a cursor, each event once and in order, until ctx
	// ends or report answers an error. A call without events means that everything so far was reported. Its error
	// is syscall.EPIPE where the output has no reader any more.
	Follow(ctx context.Context, cursor int64, report func([]history.Happening) error) error
}

// Identity finds out who and where the caller is.
type Identity interface {
	Actor(ctx context.Context, id, as string) (task.Actor, error)
	// Looker is who looks on: that needs no person, and no name.
	Looker(ctx context.Context, id string) (task.Actor, error)
	// Person refuses what is about the whole home to a caller that is no person; what says it in words, as
	// "add a project".
	Person(ctx context.Context, what string) error
	// Here is the task and the project of the working directory; empty where it is in neither.
	Here(ctx context.Context) (id, project string, err error)
}

// Workflows are the workflows that a task can be created under.
type Workflows interface {
	Workflows() ([]WorkflowFile, error)
	Workflow(name string) (*workflow.Definition, error)
	// CheckWorkflow reads a file, or a workflow by name; the error is all that is wrong with it.
	CheckWorkflow(fileOrName string) (*workflow.Definition, error)
	// Passed is what a task has passed at each good end of a workflow. It is empty where there was too much to follow.
	Passed(def *workflow.Definition) ([]guarantee.GoodEnd, error)
	// PassedBy is the same of the workflow that a task is pinned to.
	PassedBy(ctx context.Context, ref task.WorkflowRef) ([]guarantee.GoodEnd, error)
	// Promises refuses a workflow that leads around its own promise, or that cannot keep a project's.
	Promises(def *workflow.Definition, promise []string) error
	// WorkflowFolder is where the person's own files are. It may not be there yet.
	WorkflowFolder() string
	// CopyWorkflow makes a file of the person's own from a workflow that can be had.
	CopyWorkflow(name, from string) (WorkflowFile, error)
	// Simulate lets tasks live whole lives in a simulated world. It reports how many of the runs are over as it
	// goes, from several goroutines.
	Simulate(ctx context.Context, def *workflow.Definition, s simulate.Setup) (simulate.Report, error)
}

// Skills are what coding agents are taught about Orange.
type Skills interface {
	// Plan says what there is to write, and changes nothing.
	Plan(ctx context.Context, w harness.SkillsWanted) (harness.SkillPlan, error)
	// Install writes what was shown of a plan, as far as it is still as it was then, and answers what it wrote.
	Install(ctx context.Context, w harness.SkillsWanted, shown harness.SkillPlan) ([]harness.SkillFile, error)
	// Installed are the files that Orange has written and that are still there.
	Installed(ctx context.Context) ([]harness.SkillFile, error)
	// Uninstall removes those that no one has changed, and answers which.
	Uninstall(ctx context.Context) ([]harness.SkillFile, error)
}

// Turns answer whose act is next.
type Turns interface {
	// Next says whose act is next, for an agent of a role: the ways are its own moves; if there are none, awaits says
	// whose act is next.
	Next(ctx context.Context, id, role string) (own decide.Explanation, awaits string, err error)
	// End is Next for an agent that wants to end its turn now: it is kept only so often without new evidence.
	End(ctx context.Context, id, role string) (own decide.Explanation, awaits string, err error)
}

// Prober asks agent programs whether they are what their harness files describe.
type Prober interface {
	// Test asks the program for its version and its help.
	Test(ctx context.Context, name string) (harness.Probed, error)
	// Start starts the program once in a repository that is kept for that, and waits so long for its work.
	Start(ctx context.Context, name string, patience time.Duration) (harness.Started, error)
	// Toy makes the repository of toy tasks where it is missing, and answers its path.
	Toy(ctx context.Context) (string, error)
}

// Monitor watches over the agents, and has the log.
type Monitor interface {
	Run(ctx context.Context, say func(string)) error
	Once(ctx context.Context, say func(string)) error
	// Serve does the command lines of others as long as it is needed, and watches meanwhile, if no other process does.
	// It calls ready when it does them, or another process does, or the configuration forbids it.
	Serve(ctx context.Context, ready func() error) error
	// Server is how the server of the home is; socket.ErrNoServer where there is none.
	Server(ctx context.Context) (socket.Health, error)
	// EndServer ends it, and waits until it has ended the calls under way.
	EndServer(ctx context.Context) error
	// RestartServer ends it, kills it where it does not answer, and starts another one.
	RestartServer(ctx context.Context) error
	// Unit is the file with which the system's supervisor keeps a monitor running: "systemd", "launchd", or "all".
	Unit(kind string) (string, error)
	Log(keep func(line []byte) bool, lines int, out io.Writer) error
}

// Package action holds the table of actions: what a hook of a workflow may do, one row an action.
//
// The workflow's reader takes from it which keys a hook has, decide which hooks hold up others, explore and simulate
// what a hook does to agents and workspace, the engine which hooks need their event, and the dashboard what people
// read of a hook. Package hook performs the actions; this package performs nothing. It implements the table of hooks
// in docs/workflow-file.md.
package action

import "time"

// Names of the actions, as a workflow file has them.
const (
	AcquireWorkspace     = "acquire_workspace"
	ReleaseWorkspace     = "release_workspace"
	SpawnAgent           = "spawn_agent"
	SpawnReviewer        = "spawn_reviewer"
	KillSession          = "kill_session"
	KillReviewer         = "kill_reviewer"
	NotifyWorker         = "notify_worker"
	SpawnNext            = "spawn_next"
	DeleteRemoteBranch   = "delete_remote_branch"
	IncrementReviewRound = "increment_review_round"
	Increment            = "increment"
	SetField             = "set_field"
	KillAgent            = "kill_agent"
	SetAside             = "set_aside"
	PushBranch           = "push_branch"
	CreatePR             = "create_pr"
	UpdatePR             = "update_pr"
	Notify               = "notify"
	RunCommand           = "run_command"
)

// Values of the key "via" of notify.
const (
	ViaDesktop = "desktop"
	ViaWebhook = "webhook"
	ViaCommand = "command"
)

// Class groups actions by what becomes of them when a later transition overtakes them, and by what they hold up.
//
//	class   performed             if a later move overtakes it   if it fails
//	Record  with the decision     -                              it cannot
//	Start   after the commit      superseded                     the hooks behind it wait
//	End     after the commit      still performed                the hooks behind it wait
//	Apart   after the commit      still performed                nothing waits
type Class int

const (
	// ClassRecord changes only the record; it is done with the decision itself.
	ClassRecord Class = iota
	// ClassStart brings an agent or its workspace to life. Overtaken, it is superseded; a workspace that the task
	// keeps is made ready all the same.
	ClassStart
	// ClassEnd ends an agent or gives a workspace back. It is never dropped.
	ClassEnd
	// ClassApart touches neither session nor workspace: its failure holds up nothing behind it. It is never dropped,
	// but for pushes and pull requests of a task that ends.
	ClassApart
)

// Keys is a set of keys of a hook in a workflow file.
type Keys uint

// The keys that only some actions take. Every hook has the key "action".
const (
	KeyPrompt Keys = 1 << iota
	KeyHarness
	KeyPermissions
	KeyField
	KeyValue
	KeyRole
	KeyFolder
	KeyVia
	KeyMessage
	KeyURL
	KeyRun
	KeyTimeout
)

// Has reports whether the set has all of some keys.
func (k Keys) Has(some Keys) bool { return k&some == some }

// Scope is where an action has its effect.
type Scope int

const (
	// Local actions change nothing outside of this machine.
	Local Scope = iota
	// Remote actions change what other machines or people see.
	Remote
)

// Input is what an action gets besides its hook and its task.
type Input int

const (
	// TaskAlone actions get the task.
	TaskAlone Input = iota
	// WithEvent actions get the event that queued them too: they report it.
	WithEvent
)

// Meaning is what an action does, as far as a later event of the task can depend on it.
type Meaning int

const (
	// MeansNothing actions touch neither agents nor workspace, nor what evidence is about.
	MeansNothing Meaning = iota
	// MakesWorkspace makes the workspace ready that the decision has reserved.
	MakesWorkspace
	// FreesWorkspace gives the workspace back.
	FreesWorkspace
	// StartsAgent starts the agent of a role, and ends an earlier one of that role.
	StartsAgent
	// NotifiesWorker notifies the worker, and starts one if none is alive.
	NotifiesWorker
	// EndsAgent ends the agent of a role.
	EndsAgent
	// EndsAll ends every agent of the task.
	EndsAll
	// SetsAside moves a folder of artifacts away, so that it is no longer evidence.
	SetsAside
	// Pushes pushes the branch.
	Pushes
	// OpensPR opens a pull request.
	OpensPR
)

// Spec is a row of the table. Rows have no field names, so that one without a field does not compile.
type Spec struct {
	Name  string
	Class Class
	Takes Keys // the keys that it has a use for
	Needs Keys // the keys without which a workflow is refused; the usual prompt and counter of an action count too
	Scope Scope
	Input Input
	Means Meaning
	Then  string // what follows from a move with it, for people; empty if only the record changes
}

// table has a row for each action, in the order in which the documentation has them.
func table() [19]Spec {
	const spawn, message = KeyPrompt | KeyHarness | KeyPermissions | KeyRole, KeyVia | KeyMessage
	return [...]Spec{
		{AcquireWorkspace, ClassStart, 0, 0, Local, TaskAlone, MakesWorkspace, "it gets a workspace"},
		{ReleaseWorkspace, ClassEnd, 0, 0, Local, TaskAlone, FreesWorkspace, "its workspace is free again"},
		{SpawnAgent, ClassStart, spawn, KeyPrompt, Local, TaskAlone, StartsAgent, "an agent starts"},
		{SpawnReviewer, ClassStart, spawn, KeyPrompt, Local, TaskAlone, StartsAgent, "a reviewer starts"},
		{KillSession, ClassEnd, 0, 0, Local, TaskAlone, EndsAll, "its agents are ended"},
		{KillReviewer, ClassEnd, 0, 0, Local, TaskAlone, EndsAgent, "the reviewer is ended"},
		{NotifyWorker, ClassStart, KeyPrompt, 0, Local, TaskAlone, NotifiesWorker, "Orange tells the worker"},
		{SpawnNext, ClassApart, 0, 0, Local, TaskAlone, MeansNothing, "the next task that waits starts"},
		{DeleteRemoteBranch, ClassApart, 0, 0, Remote, TaskAlone, MeansNothing, "its branch on origin is deleted"},
		{IncrementReviewRound, ClassRecord, 0, 0, Local, TaskAlone, MeansNothing, ""},
		{Increment, ClassRecord, KeyField, KeyField, Local, TaskAlone, MeansNothing, ""},
		{SetField, ClassRecord, KeyField | KeyValue, KeyField, Local, TaskAlone, MeansNothing, ""},
		{KillAgent, ClassEnd, KeyRole, KeyRole, Local, TaskAlone, EndsAgent, "an agent is ended"},
		{SetAside, ClassStart, KeyFolder, KeyFolder, Local, TaskAlone, SetsAside, "its earlier files are set aside"},
		{PushBranch, ClassApart, 0, 0, Remote, TaskAlone, Pushes, "its branch is pushed"},
		{CreatePR, ClassApart, 0, 0, Remote, TaskAlone, OpensPR, "a pull request is opened"},
		{UpdatePR, ClassApart, 0, 0, Remote, WithEvent, Pushes, "its pull request gets the judged commit"},
		{Notify, ClassApart, message | KeyURL | KeyRun | KeyTimeout, message, Remote, WithEvent, MeansNothing,
			"a message is sent"},
		{RunCommand, ClassStart, KeyRun | KeyTimeout, KeyRun, Local, WithEvent, MeansNothing,
			"a command of the workflow runs"},
	}
}

// Slow is after how long people hear what an attempt at an action waits for.
const Slow = 20 * time.Second

// UnderWay says how long an attempt at an action has taken and, where that is long, what it waits for.
func UnderWay(name string, took time.Duration) string {
	words := "it has run for " + took.Truncate(time.Second).String()
	if took >= Slow {
		words += ", and waits for " + waitsFor(name)
	}
	return words
}

// waitsFor is what an attempt at an action may have to wait for, for people.
func waitsFor(name string) string {
	switch row, _ := Of(name); {
	case row.Means == MakesWorkspace:
		return "origin, a minute at most, and then the project's set-up"
	case row.Means == OpensPR:
		return "origin and the forge"
	case row.Scope == Remote:
		return "what is not on this machine"
	case row.Name == RunCommand:
		return "its command"
	case row.Means == FreesWorkspace:
		return "git, which looks at all files of the worktree"
	}
	return "the terminal server"
}

// WorksThere reports whether the action works in the task's worktree, or on its branch. Where others have removed one
// of them, Orange ends the agents that sat there, and makes both again first.
func (s Spec) WorksThere() bool {
	switch s.Means {
	case MakesWorkspace, StartsAgent, NotifiesWorker, Pushes, OpensPR:
		return true
	}
	return s.Name == RunCommand
}

// Of gives the row of an action; ok is false for an action that this program does not know.
func Of(name string) (spec Spec, ok bool) {
	rows := table()
	for i := range rows { // in place: the proof of a workflow asks millions of times
		if rows[i].Name == name {
			return rows[i], true
		}
	}
	return Spec{}, false
}

// ClassOf reports the class of an action; ok is false for one that this program does not know.
func ClassOf(name string) (class Class, ok bool) {
	row, ok := Of(name)
	return row.Class, ok
}

// Names lists every action.
func Names() []string { return With(func(Spec) bool { return true }) }

// With lists the actions whose rows have a property.
func With(has func(Spec) bool) []string {
	var out []string
	for _, row := range table() {
		if has(row) {
			out = append(out, row.Name)
		}
	}
	return out
}

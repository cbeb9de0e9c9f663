package record

import (
	"fmt"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

// Holder is a task that has a workspace.
type Holder struct {
	Workspace string      `json:"workspace"`
	Task      string      `json:"task"`
	Branch    string      `json:"branch"`
	Status    task.Status `json:"status"`
}

// Outcome is what became of a request.
type Outcome struct {
	Task     task.Task
	Moved    bool // false when the task was there already, or was queued
	Event    history.Event
	Hooks    []task.OwedHook // those of Event, as they are when the caller is answered
	Queued   bool
	Holders  []Holder // who has the workspaces, when Queued
	Before   []Before // those that it waits for, where it was not started because of them
	Asks     string   // what a person should know because of it; empty when nothing new
	LostWith string   // with what the agent ended that is to be started again; empty where it ended by itself
	Warning  string   // what went wrong besides the move; empty when nothing did
	Stayed   []string // what stayed behind of the work when the workspace was given back
	Changes  []string // what other rules ask for and do, where the task got some
}

// DeletedTask is what is left of a task that was deleted.
type DeletedTask struct {
	Folder string   // where its folder is now
	Stayed []string // what ever stayed behind of its work, as Outcome has it: its history, which tells it, is gone
}

// HookFailures says of each hook that failed which one it is and why, and where the task is in spite of that: the move
// was done before its hooks.
func (o Outcome) HookFailures() (failures []string, then string) {
	for _, h := range o.Hooks {
		if h.State == task.HookFailed {
			failures = append(failures, h.Action+": "+h.Error)
		}
	}
	if o.Event.IsMove() {
		return failures, fmt.Sprintf("the task has moved, and is %s", o.Task.Status)
	}
	return failures, fmt.Sprintf("the task stays %s", o.Task.Status)
}

// TakenSnapshot is a snapshot of a task, as the two commits that were pushed, or why there is none.
type TakenSnapshot struct {
	Task   string   `json:"task"`
	Record string   `json:"record"`
	Work   string   `json:"work,omitempty"` // empty where the task has no branch yet
	Event  int      `json:"event"`          // the newest event in it
	Left   []string `json:"left_out"`       // new files that are not in it
	// Unchanged says that nothing was pushed, because the last snapshot there has the same.
	Unchanged bool  `json:"unchanged,omitempty"`
	Err       error `json:"-"`
}

// SnapshotOrder is what a snapshot is to have, and where it goes.
type SnapshotOrder struct {
	To        string   // a remote or an address
	Include   []string // new files that would be left out
	IfChanged bool     // push nothing where the last snapshot there has the same
	Biggest   int64    // bytes of a new file that is taken in; 0 for the usual ones
}

// Waited is how a task stands for someone who waited for it.
type Waited struct {
	Task    task.Task
	Blocked bool     // the time was up: wait again
	About   string   // what the present status means
	Notice  string   // the message that came with it
	Said    []Said   // by people, while the waiter waited
	Need    Need     // why a person need not wait any longer, if it is not the task's own turn
	MayAsk  []string // states that the waiter may ask for, whether or not it is time
	Before  []Before // the tasks that it waits for before it starts
}

// Said is what a person said to an agent.
type Said struct {
	By   string `json:"by"`
	Text string `json:"text"`
}

// Holding is a workspace of the pool and who has it.
type Holding struct {
	Project   string      `json:"project"`
	Workspace string      `json:"workspace"`
	Path      string      `json:"path"`
	Exists    bool        `json:"exists"`
	Task      string      `json:"task"`
	Branch    string      `json:"branch"`
	Status    task.Status `json:"status"`
	SetUp     string      `json:"setup_output,omitempty"` // the file that has the output of its set-up
	Left      string      `json:"ignored,omitempty"`      // what git ignores there, and which task left it
}

// Aside is what no commit can hold, moved out of a task's workspace as a whole.
type Aside struct {
	Task   string    `json:"task"`
	Path   string    `json:"path"`  // where it lay in the worktree, with slashes; "." is the worktree itself
	Why    string    `json:"why"`   // what it is, in words
	Files  int       `json:"files"` // and Bytes: as far as they could be seen
	Bytes  int64     `json:"bytes"`
	Linked bool      `json:"linked,omitempty"` // git knows it as a worktree of the repository
	Since  time.Time `json:"since"`
	At     string    `json:"at,omitempty"` // where it lies
}

// String tells what is set aside, in the words of a list.
func (a Aside) String() string {
	where, files := a.Path, "files"
	if a.Path == "." {
		where = "the whole workspace"
	}
	if a.Files == 1 {
		files = "file"
	}
	return fmt.Sprintf("%s (%s; %d %s, %s)", where, a.Why, a.Files, files, printable.Size(a.Bytes))
}

// How the agent of a task's status is. "Could not look" is AgentUnknown, never AgentDead.
const (
	AgentAlive   = "alive"
	AgentDead    = "dead"
	AgentNone    = "none"
	AgentUnknown = "unknown"
)

// AgentScreen is what an agent's window shows now.
type AgentScreen struct {
	Role   string `json:"role"`
	Window string `json:"window"`
	Ended  bool   `json:"ended"` // its program has ended
	Text   string `json:"text"`
}

// Need is why a person should look after a task now: what is found of it, and what to do. One without a kind needs no
// person: what is found is what the task waits for.
type Need struct {
	Kind string `json:"kind"` // one of the Needs
	// Reason is the need in one line, whole, and the same wherever people read of it.
	Reason string `json:"reason"`
	// Text is all of it, where that is more than Reason: what the agent asks, or its last words.
	Text  string `json:"text,omitempty"`
	Waits string `json:"waits"` // who waits for whom
	Found string `json:"found"`
	Want  string `json:"to_do"`
	// Commands are those that people use there, ready to be copied, and Actions what the dashboard calls the same.
	Commands []string `json:"commands"`
	Actions  []string `json:"actions"`
	// Conflicts are the branches that the task's own cannot be merged with; Apart: it was not compared with all others.
	Conflicts []string `json:"conflicts,omitempty"`
	Apart     bool     `json:"not_compared,omitempty"`
	// Since is when it began, as far as that is known; the oldest comes first.
	Since time.Time `json:"since,omitzero"`
	// Until is when a limit is over, if anyone has said so; zero for other needs.
	Until time.Time `json:"until,omitzero"`
	// Rest is of an agent that lives and rests at the limit; nil of one that has ended there, and for other needs.
	Rest *Rest `json:"-"`
}

// Rest is the rest of a living agent at the limit of its provider.
type Rest struct {
	Role     string
	Harness  string
	Provider string
	Line     string    // of its screen, which tells of the limit
	Since    time.Time // when its screen last changed
	Until    time.Time // as the line says; zero where it does not
}

// String is the need in words for people; empty if there is none.
func (n Need) String() string {
	if n.Kind == "" {
		return ""
	}
	return n.Found + "; " + n.Want
}

// OnScreen reports whether the screen of the task's agent says why a person should look.
func (n Need) OnScreen() bool {
	switch n.Kind {
	case NeedsAnswer, NeedsLimit, NeedsStart, NeedsModel, NeedsWord:
		return true
	}
	return false
}

// The kinds of a Need. What a screen shows is one for people: no status ever depends on it.
const (
	NeedsAttention = "attention" // a hook failed, an agent crashed: the task's own mark says what
	NeedsRefused   = "refused"   // its agent was refused too often
	NeedsAgent     = "dead"      // the agent of its status has died
	NeedsAnswer    = "dialog"    // its agent is at a dialog
	NeedsLimit     = "limit"     // its agent is at a limit of its provider
	NeedsStart     = "start"     // its agent has done nothing since its start, and shows what no one knows
	NeedsModel     = "model"     // its agent's model refuses it
	NeedsWord      = "rest"      // its agent rests at its prompt and has not moved the task
	NeedsPerson    = "status"    // its status waits for a person
	NeedsDocument  = "document"  // its TASK.md is gone or cannot be read, so that no agent can go on with it
	NeedsWorktree  = "worktree"  // its worktree or its branch is gone
)

// AtWork is what a task that waits for its agent says of one that lives, as far as the record knows.
const AtWork = "it is at work"

// Report is everything that a person wants to see of one task.
type Report struct {
	Task     task.Task
	Session  string // AgentAlive, AgentDead, AgentNone or AgentUnknown
	About    string
	Path     string // of the document
	Worktree string // empty when there is none
	SetUp    string // the file that has the output of the worktree's set-up; empty where there was none
	Left     string // what git ignores in the worktree, and which task left it there before this one
	// how the branch is to the commit that the status's evidence is about; empty where nothing asks for that
	Work      string
	Problems  []string // of the document
	MayAsk    []string // states that the caller may ask for, whether or not it is time
	Owed      []task.OwedHook
	Rescued   []task.Rescued
	Asides    []Aside
	Shared    []string // settings that all worktrees of its project share, and that neither Orange nor a person changed
	Lost      []string // what is gone since the task got its worktree: that, its branch, what others had
	LastWords string   // of the agent that died last, while no other has been started
	Reviewers int      // that were started in its last review: one that is started again is in the same round
	Variables []string // the names of those that are set for this task alone
	Checks    string   // what those of the pull request came to; empty where no one has looked
}

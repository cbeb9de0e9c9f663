package record

import (
	"fmt"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// Snapshot is everything that the record knows of one task at one moment.
type Snapshot struct {
	Task  task.Task
	Owed  []task.OwedHook // pending and failed hooks, in order
	Spent []task.Spent    // evidence that earlier transitions rested on
	Entry []task.Evidence // evidence that was there when the present status began
	Start []task.Evidence // verdicts that were there when the present status's agent was started last
}

// Whole is all that the record has of one task.
type Whole struct {
	Snapshot
	Lines []string        // the history, one event each
	Hooks []task.OwedHook // all that its events have set going, whatever became of them
	Shown []Shown         // what the header of its document shows, and what it showed before
	Roles []string        // those of its seats, notices and waiters
}

// HistoryLines is a task's history for those who copy it: they ask for as much of it as they need.
type HistoryLines struct {
	// Tail is the lines after an event, and how many bytes the whole history has as a file, one line feed a line.
	Tail func(after int) (lines []string, bytes int64, err error)
	// Whole asks to compare all of the copy; else a copy counts as right whose length and last line are.
	Whole bool
}

// LinesOf is a history whose lines are all at hand.
func LinesOf(lines []string, whole bool) HistoryLines {
	bytes := 0
	for _, line := range lines {
		bytes += len(line) + 1
	}
	return HistoryLines{Whole: whole, Tail: func(after int) ([]string, int64, error) {
		return lines[min(max(0, after), len(lines)):], int64(bytes), nil
	}}
}

// Lease is what a change does with the task's workspace.
type Lease int

// Leases.
const (
	LeaseKeep    Lease = iota // nothing
	LeaseReserve              // take a free workspace of the project, or fail with ErrPoolFull
	LeaseFree                 // give the task's workspace back
)

// Settled is the end of one attempt to perform a hook.
type Settled struct {
	ID      int64
	State   task.HookState // HookDone or HookFailed or HookSuperseded
	Error   string
	NextTry time.Time
}

// EveryRole stands for all roles of a task where seats are ended.
const EveryRole = "*"

// Seat is the credential of one agent: the right to speak as its role for its task. Only the hash of its secret is
// kept.
//
//	issued                  before the hook starts its agent: Hash and Hook, no PID yet
//	  |  \
//	  |   +--> lost         the attempt started no one, or found the agent of an earlier attempt
//	  v
//	taken                   PID and Began are those of the agent's process: now it can ask
//	  |
//	  +--> ended            its agent died, a hook ended it, or a later agent of the role was started
//
// Dropped marks a seat, issued or taken, whose hook a later step superseded. An issued one is ended as soon as no
// process performs that hook any more.
type Seat struct {
	Hash  string // sha256 of the secret, hex
	Task  string
	Role  string
	Hook  int64 // the hook that spawned the agent
	Event int   // what queued the hook, of a seat that was looked up; 0 where that is not known
	PID   int   // the pane's process, 0 while it is being started
	Began string
	Ended bool
	Start task.Start // what its agent finds; of a seat that is being issued, and of one that was looked up
	// Dropped says that a later step dropped the hook. Without a process too, it may never have started anyone.
	Dropped bool
}

// Notice is a message to a role's agent.
type Notice struct {
	Seq  int // the event that it belongs to
	Role string
	Text string
}

// Change is one step of a task's record: everything in it is committed together or not at all.
type Change struct {
	// Hurried says that Orange tells no one of the change before another one follows: it does not wait for the disk. A
	// power cut may take it back, and Orange then does again what it notes. A later change that waits brings it to the
	// disk too.
	Hurried bool
	Task    task.Task // the task as it must be, Version and Seq apart: the store counts them
	Expect  int64     // the version that the change was decided on; 0 makes a new task
	Events  []history.Event
	Hooks   []task.Hook // queued by the last of Events; those of ClassRecord are kept as done
	Spent   []task.Evidence
	// what was looked at and rested upon by nothing: its texts are kept, so that the decision can be made again
	Seen      []task.Evidence
	Entry     []task.Evidence
	Entered   bool // the status began again: Entry replaces what was noted before, and no agent of it was started yet
	Begun     bool // the status's agent was started: Start replaces what was noted before
	Start     []task.Evidence
	Lease     Lease
	PoolSize  int // for LeaseReserve
	Settled   []Settled
	NewSeat   *Seat
	TakenSeat *Seat    // its agent runs as this process: the seat lives, and every other seat of the role ends
	LostSeat  string   // the hash of a seat that no agent got
	EndSeats  []string // roles whose seats end
	// the agent that this hook started is dead: its seats end; with none open the change is task.ErrNobody
	DeadHook  int64
	NewNotice *Notice
}

// LateNotice is the notice to people about how late a task is, of a change that says so. It names the highest level
// only; empty if there is nothing to report.
func (c Change) LateNotice() string {
	text, move := "", ""
	for i := range c.Events {
		e := &c.Events[i]
		switch {
		case e.IsMove():
			move = fmt.Sprintf("; it was moved to %q", e.To)
		case e.Data[history.DataLevel] != "":
			text = e.Reason
		}
	}
	if text == "" || move != "" {
		return text + move
	}
	return text + fmt.Sprintf("; look at it with %q", "orange task show "+c.Task.ID)
}

// Filter chooses tasks for a list. Its zero value chooses all.
type Filter struct {
	Project  string
	Status   task.Status
	Live     bool   // only those that are not in a terminal state
	Queued   bool   // only those that wait for a workspace, the longest waiting first
	WaitsFor string // only those that wait for the task with this id
	Over     bool   // only those that are over and still have a workspace
	Limited  bool   // only live ones of which an agent may have ended at its provider's limit in the present status
	Branch   string
	Prefix   string // of the id
	Most     int    // how many are wanted at most; 0 is all
	// Brief asks for what a list shows alone: ID, Project, Branch, Summary, Status, Session, Workspace, Attention,
	// QueuedFor, After, Workflow, StalledAt, UpdatedAt and Overdue. All else of the tasks is left empty, and reading
	// them takes a third of the time.
	Brief      bool
	EndedSince time.Time // only those that are over and were changed then or later, as far as the newest changes tell
}

// Job is one hook to perform, with all that its performer needs to know.
type Job struct {
	Task    task.Task
	Hook    task.OwedHook
	Project task.Project
	Prompt  string        // the text of the hook's prompt, its variables not yet put in
	Respawn string        // the text of the present state's respawn prompt, for a notice that finds no one
	Role    string        // the role of the agent that the hook starts or speaks to
	Agent   string        // the harness of that agent; empty means the one of the task that Hook.Harness says
	Event   history.Event // what queued the hook; only for those that tell of it or run a program
	Start   task.Start    // what an agent that the hook starts finds
	// Conversation is that of the agent before, which an agent that is started again goes on with; empty where it
	// begins a new one.
	Conversation string
	// Again says that the agent takes the place of an earlier one of its role.
	Again  bool
	Held   string // what kept the move of that one, where files or the size of its document alone did
	Secret string // the seat's secret, for hooks that may start an agent
	Seat   string // the hash under which the seat is kept
}

// Harness is the name of the harness of the agent that the hook starts or speaks to.
func (j Job) Harness() string {
	switch {
	case j.Agent != "":
		return j.Agent
	case j.Hook.Harness == task.HarnessReview:
		return j.Task.ReviewHarness
	}
	return j.Task.Harness
}

// Effect is what performing a hook did.
type Effect struct {
	Events    []history.Event // type, reason and data; the rest is filled in when they are committed
	Session   *string         // the session's name from now on
	Lease     Lease
	EndSeats  []string
	NewNotice *Notice
	Pushed    *string      // the commit that is now at the task's remote branch
	PR        *PullRequest // the task's pull request as it is
	// of the agent that was started or found started: its hash, and its process unless it is gone already
	Seat *Seat
	Said string // one line for people
}

// PullRequest is what is known of one pull request.
type PullRequest struct {
	URL     string
	State   string // PROpen, PRMerged or PRClosed
	Commit  string // the tip of its branch
	Base    string // the branch that it is merged into; empty where the host did not say
	Merge   string // the commit that it was merged as; empty while it is not
	Checks  string // how its checks stand together; empty where no one looked
	Foreign bool   // its branch is in another repository, which may only have a branch of the same name
}

// Ended describes how a pull request ended.
func (pr PullRequest) Ended() string {
	if pr.State == PRClosed {
		return "closed without a merge: pull request " + pr.URL
	}
	return "merged as pull request " + pr.URL
}

// States of pull requests.
const (
	PROpen   = "OPEN"
	PRMerged = "MERGED"
	PRClosed = "CLOSED"
)

// What the checks of a pull request come to: one that failed outweighs one that runs, and that one those that passed.
const (
	ChecksFail    = "fail"
	ChecksPending = "pending"
	ChecksPass    = "pass"
	ChecksNone    = "none"
)

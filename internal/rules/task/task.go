// Package task holds the nouns of the program: task, status, counters, owed hook, request, project.
//
// It owns what these things are and the few facts that are true of them alone. It does not own the rules by which a
// task moves (decide), its events (history), what is kept of it (record), nor where it is kept (sqlite, mirror).
package task

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Status is the name of a workflow's state that a task is in.
type Status string

// Roles that every workflow knows. A workflow may name more.
const (
	RoleWorker   = "worker"
	RoleReviewer = "reviewer"
	RoleHuman    = "human"
)

// Counters that every task has, whether or not its workflow speaks of them.
const (
	ReviewRound = "review_round"
	CrashCount  = "crash_count"
)

// WorkflowRef pins the workflow under which a task was created.
type WorkflowRef struct {
	Name    string
	Version int
	Digest  string // sha256 of the file's bytes, hex
}

// lettersOfDigest tell texts apart that have the same version.
const lettersOfDigest = 6

// String is how people are shown which text of a workflow is meant: "default 5 (3fa9c2)". What is not known is left
// out.
func (w WorkflowRef) String() string {
	words := []string{w.Name}
	if w.Version > 0 {
		words = append(words, strconv.Itoa(w.Version))
	}
	if w.Digest != "" {
		words = append(words, "("+w.Digest[:min(lettersOfDigest, len(w.Digest))]+")")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// Task is one piece of work in one project: the present record of it.
type Task struct {
	ID      string
	Project string
	Branch  string
	Summary string

	Harness       string
	ReviewHarness string
	Effort        string
	ReviewEffort  string
	Model         string
	ReviewModel   string

	Status   Status
	Previous Status // the status before the present one; empty at first
	Counters Counters
	// Subject is what the evidence in the present status is about: the work as it stood when the status began, or
	// when its agent was started last.
	Subject Subject

	Workspace string    // the leased worktree of the pool; empty when none
	Session   string    // the tmux session's name; empty when none
	Pushed    string    // the commit that Orange pushed to the task's remote branch; empty when none
	Attention string    // why a person should look; empty when nothing is wrong
	StalledAt time.Time // since when its agent lives and does nothing; zero when it works or no one looked
	QueuedFor Status    // the status that it will be moved to once a workspace is free; empty when not queued
	After     []string  // the tasks that it waits for before it starts by itself; empty when it waits for none

	Workflow WorkflowRef
	Live     bool // not in a terminal state

	PRURL   string
	PRState string

	CreatedAt time.Time
	UpdatedAt time.Time
	EnteredAt time.Time // when the present status began
	Overdue   int       // the highest level of lateness that was reported since then; 0 when none was

	Version int64 // grows by one with every change; a change names the version that it was decided on
	Seq     int   // the sequence number of the newest event
	Hash    string
}

// SessionName is the name that the task's session should have. The one that it has may differ: not every text is
// a name, another session may have it, and it may be the one of the branch that the task had when its first agent
// was started.
func (t Task) SessionName() string { return t.Project + "/" + t.Branch }

// Queued reports whether the task waits for a free workspace.
func (t Task) Queued() bool { return t.QueuedFor != "" }

// Displaced reports whether the task waits for a workspace in the status that it is in, because the one that it had is
// gone.
func (t Task) Displaced() bool { return t.Queued() && t.QueuedFor == t.Status && t.Workspace == "" }

// WaitsForTasks reports whether the task starts by itself once other tasks are done.
func (t Task) WaitsForTasks() bool { return len(t.After) > 0 }

// idAlphabet has no dash, so that an id is safe as an argument.
const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// IDLength is the number of characters of a task's id.
const IDLength = 21

// NewID makes an id from random bytes, of which it needs at least IDLength.
// Bytes come in as an argument, so that this package has no randomness.
func NewID(random []byte) (string, error) {
	if len(random) < IDLength {
		return "", fmt.Errorf("cannot make a task id from %d random bytes: %d are needed", len(random), IDLength)
	}
	var b strings.Builder
	for _, r := range random[:IDLength] {
		b.WriteByte(idAlphabet[int(r)%len(idAlphabet)])
	}
	return b.String(), nil
}

// DefaultBranch is the branch of a task that was created without one.
func DefaultBranch(id string) string { return "orange-tasks/" + id }

// JoinStatuses lists statuses for a message.
func JoinStatuses(all []Status) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return strings.Join(names, ", ")
}

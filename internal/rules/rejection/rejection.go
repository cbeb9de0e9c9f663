// Package rejection is the answer no: which rule a request breaks, what was found, and what to do next.
//
// It owns the codes, which scripts and agents branch on, and the text for people. It decides nothing: package decide
// makes rejections.
package rejection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/task"
)

// Codes of rejections. They are part of the program's promise: scripts and agents branch on them.
const (
	IllegalTransition = "illegal_transition"
	ActorDenied       = "actor_denied"
	GuardFailed       = "guard_failed"
	GateUnmet         = "gate_unmet"
	NoMove            = "no_move"
	ReasonMissing     = "reason_missing"
	OverrideDenied    = "override_denied"
	NoNext            = "no_next"
	RedoRefused       = "redo_refused"
	MigrateRefused    = "migrate_refused"
	RespawnRefused    = "respawn_refused"
	SayRefused        = "say_refused"
	PRRefused         = "pr_refused"
	PROpen            = "pr_open"
	PRMissing         = "pr_missing"
	DropRefused       = "drop_refused"
	SharedChanged     = "shared_changed"
	NotReady          = "not_ready"
	PushUnanswered    = "push_unanswered"
	UnpushedCommits   = "unpushed_commits"
	InUse             = "in_use" // a live task needs what was to go
)

// Rejection is the answer no. Nothing changed; Details say what is missing, MayAsk what may be asked for instead.
type Rejection struct {
	Code    string
	Task    string
	From    task.Status
	To      task.Status
	Message string
	Details []Detail
	Moved   bool // nothing speaks against it but that the tip of the branch moved
	Owed    bool // nothing speaks against it but what was promised of the task's end, or skipped by force
	Files   int  // nothing speaks against it but so many new or changed files
	// Override is the command with which the person who asked makes the move all the same; empty where they may not.
	Override string
	// Repeated is what follows from an agent being refused again and again, in one line; empty where nothing does.
	Repeated string
	Wait     time.Duration // how long the answer is held back from an agent that asks in a loop
	MayAsk   []task.Status // where the same actor may ask to go from here; where a task may be born, when From is empty
}

// Readiness is one thing that a task needs to start.
type Readiness struct {
	What  string `json:"what"`
	Found string `json:"found"`
	Want  string `json:"want,omitempty"` // what to do so that it is there; empty where it is
	Note  string `json:"note,omitempty"` // what a person should know all the same: it holds nothing up
}

// Detail is one unmet condition.
type Detail struct {
	Condition string `json:"condition"`       // what had to hold
	Found     string `json:"found"`           // what was there
	Where     string `json:"where,omitempty"` // where it was looked for
	Want      string `json:"want"`            // what would do

	// Why a condition about the work does not hold. Rejections do not show these; the hints of what to do next do.
	OtherWork  bool `json:"-"` // the work is not what was judged
	NewVerdict bool `json:"-"` // that, and a verdict on the work as it is now would do too
	MovedTip   bool `json:"-"` // that, and nothing but the tip of the branch differs

	// Idle is of what a task waits for: there is nothing to say of it now. People do not read it.
	Idle bool `json:"-"`
}

func (r *Rejection) Error() string {
	var b strings.Builder
	b.WriteString(r.Message)
	for _, d := range r.Details {
		fmt.Fprintf(&b, "\n  %s: found %s", d.Condition, d.Found)
		if d.Where != "" {
			fmt.Fprintf(&b, " (%s)", d.Where)
		}
		fmt.Fprintf(&b, "\n    to do: %s", d.Want)
	}
	if r.Override != "" {
		b.WriteString("\n  you may make it all the same, and answer for it by name: " + r.Override)
	}
	if r.Repeated != "" {
		b.WriteString("\n  " + r.Repeated)
	}
	if instead := r.instead(); instead != "" {
		b.WriteString("\n  " + instead)
	}
	return b.String()
}

// Lacks says in one line which conditions do not hold; empty where that is not why.
func (r *Rejection) Lacks() string { return Reasons(r.Details) }

// Reason says in one line what was asked for and why it was refused, with the document's own headings.
func (r *Rejection) Reason() string {
	details := slices.Clone(r.Details)
	for i := range details {
		if heading, is := strings.CutPrefix(details[i].Condition, `section "## `); is {
			details[i].Condition = strings.Replace(heading, `"`, "", 1)
		}
	}
	reason := cmp.Or(Reasons(details), r.Message)
	if r.To != "" {
		reason = string(r.To) + ": " + reason
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(reason, "\uFFFD")), " ")
}

func (r *Rejection) instead() string {
	if len(r.MayAsk) == 0 && r.From == "" {
		return "" // there is no task yet, and so nowhere to go
	}
	if len(r.MayAsk) == 0 {
		return fmt.Sprintf("there is no other move out of %q that you may ask for", r.From)
	}
	list := task.JoinStatuses(r.MayAsk)
	if r.From == "" { // the task was not born yet
		return "a task may be created in: " + list
	}
	return fmt.Sprintf("moves out of %q that you may ask for: %s", r.From, list)
}

// Reasons says in one line which conditions do not hold, and what was found.
func Reasons(details []Detail) string {
	out := make([]string, len(details))
	for i, d := range details {
		out[i] = d.Condition + ": " + d.Found
	}
	return strings.Join(out, ", ")
}

// Denied is the refusal of a caller who may not ask about a task. An empty id means that the request is about no task
// in particular.
func Denied(id, found, want string) *Rejection {
	message := "cannot act here"
	if id != "" {
		message = fmt.Sprintf("cannot act on task %s", id)
	}
	return &Rejection{Code: ActorDenied, Task: id, Message: message, Details: []Detail{
		{Condition: "who asks", Found: found, Want: want}}}
}

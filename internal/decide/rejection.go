package decide

import (
	"fmt"
	"strings"

	"orange/internal/task"
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
	PRRefused         = "pr_refused"
	PROpen            = "pr_open"
)

// Rejection is the answer no. Nothing changed; Details say what is missing, Open what is possible instead.
type Rejection struct {
	Code    string
	Task    string
	From    task.Status
	To      task.Status
	Message string
	Details []Detail
	Moved   bool // nothing speaks against it but that the tip of the branch moved
	// Override is the command with which the person who asked makes the move all the same; empty where they may not.
	Override string
	Open     []task.Status // where the same actor may ask to go from here; where a task may be born, when From is empty
}

// Detail is one unmet condition.
type Detail struct {
	Condition string `json:"condition"`       // what had to hold
	Found     string `json:"found"`           // what was there
	Where     string `json:"where,omitempty"` // where it was looked for
	Want      string `json:"want"`            // what would do

	other, anew, moved bool // as the Fact says
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
	if instead := r.instead(); instead != "" {
		b.WriteString("\n  " + instead)
	}
	return b.String()
}

// Lacks says in one line which conditions do not hold; empty where that is not why.
func (r *Rejection) Lacks() string { return reasons(r.Details) }

func (r *Rejection) instead() string {
	if len(r.Open) == 0 && r.From == "" {
		return "" // there is no task yet, and so nowhere to go
	}
	if len(r.Open) == 0 {
		return fmt.Sprintf("no other move out of %q is open to you", r.From)
	}
	list := joined(r.Open)
	if r.From == "" { // the task was not born yet
		return "a task may be created in: " + list
	}
	return fmt.Sprintf("moves out of %q that you may ask for: %s", r.From, list)
}

func joined(all []task.Status) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return strings.Join(names, ", ")
}

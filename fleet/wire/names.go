// Package wire is what the programs of a fleet say to each other: the messages, and the names under which the server
// of the fleet keeps them.
//
// It owns the fields of each message with their limits and their version, how strictly one is read, and the names of
// queues, workflows, updates, signals and activities. It sends nothing, and does not judge who may say what: packages
// sign and custody do.
package wire

import (
	"net/url"
	"strings"

	"orange/internal/rules/task"
)

// The names that a server of the fleet knows. A change of one is a change of every program of the fleet.
const (
	CoreQueue    = "core" // where the core workers work
	TaskWorkflow = "task" // the type of the workflow that has the custody of one task
	HostWorkflow = "host" // the type of the workflow that knows whether one host lives

	AskUpdate     = "ask"
	RescueUpdate  = "rescue"
	CancelUpdate  = "cancel" // of a task that no host has had
	TrustUpdate   = "trust"
	HereUpdate    = "here"
	ReleaseUpdate = "release"
	DrainUpdate   = "drain"
	ReportSignal  = "report"
	ToldSignal    = "told" // a host says again what it is, and keeps its lease
	CustodyQuery  = "custody"
	HostQuery     = "host"

	AcceptActivity  = "accept"
	TakeActivity    = "take"
	AnswerActivity  = "answer"
	LookActivity    = "look"
	LeaveActivity   = "leave"
	HoldActivity    = "hold"
	DrainActivity   = "drain"
	ReleaseActivity = "release"
)

// The names of the fleet's registry at its server: one workflow, which has the lists of keys.
const (
	RegistryWorkflow = "fleet" // the type, and the id: there is one
	RegistryID       = "fleet"
	AuthorityQueue   = "authority" // where the key of the authority is

	TrustQuery   = "trust"
	MembersQuery = "members"
	InviteUpdate = "invite"
	JoinUpdate   = "join"
	ClockUpdate  = "clock"
	TellUpdate   = "tell" // to the workflow of a task

	AdmitActivity  = "admit"
	SpreadActivity = "spread"
)

// RowMemo is the name under which the server keeps the row of a task next to its workflow.
const RowMemo = "custody"

// AnyLabel is the label that every host has.
const AnyLabel = "any"

const (
	mostOfName   = 63
	nameAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789-"
)

// CheckName refuses what is no name of a fleet, a host or a label: a name may become a part of a command line, of a
// file's name and of a ref.
func CheckName(what, name string) error {
	if name != "" && len(name) <= mostOfName && name[0] != '-' && strings.Trim(name, nameAlphabet) == "" {
		return nil
	}
	return task.Notef(task.ErrUsage, "cannot use %q as the name of a %s: expected 1 to %d lower-case letters, digits "+
		"and dashes, and no dash at the beginning", name, what, mostOfName)
}

// TaskID is the id of the workflow that has the custody of a task.
func TaskID(id string) string { return TaskWorkflow + "/" + id }

// HostID is the id of the workflow that knows whether a host lives.
func HostID(name string) string { return HostWorkflow + "/" + name }

// PlaceQueue is where hosts with a project and a label wait for tasks.
func PlaceQueue(project, label string) string {
	return "place/" + url.PathEscape(project) + "/" + label
}

// HostQueue is where one host waits for what is meant for it.
func HostQueue(name string) string { return "host/" + name }

// HoldQueue is where one host waits for its lease.
func HoldQueue(name string) string { return "hold/" + name }

package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Errors of a fleet with a server.
var (
	// ErrLost says that a request was done, and is lost with the host that did it.
	ErrLost = errors.New("what the request did is lost")
	// ErrNotHeld says that no host has a task yet.
	ErrNotHeld = errors.New("no host has the task")
	// ErrKept says that a host is there, and keeps its task.
	ErrKept = errors.New("the host keeps the task")
)

// ServerView is what the server of a fleet knows at a time.
type ServerView struct {
	At    time.Time
	Hosts []ServerHost
	Tasks []ServerTask // the open ones
}

// ServerHost is a host as the server of a fleet knows it.
type ServerHost struct {
	Name     string
	SSH      string // where ssh finds it; empty where it says none
	Here     bool   // false where it is lost
	Since    time.Time
	Version  string // of the program
	Free     int    // workspaces
	Draining bool   // it takes no new task
	Labels   []string
	Projects []string
	Harness  []string
}

// ServerTask is a task as the server of a fleet knows it. Its row is a copy, as old as Told says.
type ServerTask struct {
	Found
	Summary   string
	Attention string
	Host      string // empty where no host has it
	Epoch     int
	Event     int       // the last of its history that the server knows of
	Told      time.Time // zero where no host has reported it
	To        string    // the host that it waits for; empty for any
	Label     string    // of the hosts that it may go to; empty for the one that a person named
	Harness   []string  // that it needs
	Unfit     map[string]string
	Apart     []Apart // of hosts that came back after a rescue
	Taking    bool    // the host is asked to take it, and has not answered
}

// Apart is what a host had of a task that was rescued meanwhile, and which the host that has the task now has not.
type Apart struct {
	Host  string
	Epoch int
	Ref   string // in the repository for snapshots
}

// NotOnRecord is how the attention of a task begins whose host has it, and not on record: its list lacks the task.
const NotOnRecord = "it is not on record at this host any more"

// Missing reports whether the host of a task has said that it is not on record there.
func (t ServerTask) Missing() bool { return strings.HasPrefix(t.Attention, NotOnRecord) }

// Placement is what a task of a fleet with a server is created from.
type Placement struct {
	ID       string
	Project  string
	On       string // a label or a host; empty for any host
	Branch   string
	Summary  string
	Harness  []string // those that the task needs, as far as the person named them
	Workflow string   // name@digest, where the person named one that is here
	Rules    string
	Call     Call // of create, without project, id and key
}

// Placed is what became of a birth. Without a reply the task waits for a place, or was there before.
type Placed struct {
	ID    string
	Host  string
	Reply *Reply
	There bool // another request has created the task before
	Task  ServerTask
}

// Host is the host of a name.
func (k ServerView) Host(name string) (ServerHost, bool) {
	at := slices.IndexFunc(k.Hosts, func(h ServerHost) bool { return h.Name == name })
	if at < 0 {
		return ServerHost{}, false
	}
	return k.Hosts[at], true
}

// Why says in words, and host by host, what a task waits for that no host has.
func (k ServerView) Why(t ServerTask) (text string, hosts map[string]string) {
	hosts = map[string]string{}
	var each []string
	for _, h := range k.Hosts {
		if t.To != "" && t.To != h.Name {
			continue
		}
		if why := h.unfit(t); why != "" {
			hosts[h.Name] = why
			each = append(each, h.Name+" "+why)
		}
	}
	place := "host with " + strings.Join(append(slices.Clone(t.Harness), "a free place for "+t.Project), " and ")
	switch _, there := k.Host(t.To); {
	case t.To != "" && !there:
		return "the fleet has no host " + t.To, hosts
	case t.To != "" && len(each) == 0:
		return t.To + " has not taken it yet", hosts
	case t.To != "":
		return strings.Join(each, ", "), hosts
	case t.Label != "" && t.Label != AnyLabel:
		place += " and the label " + t.Label
	}
	if len(each) == 0 {
		return "no " + place + " has taken it yet", hosts
	}
	return "no " + place + " (" + strings.Join(each, ", ") + ")", hosts
}

// CutShort is what is said of an answer that was too long for the server of a fleet.
const CutShort = "the answer was longer than what the fleet carries, and was cut; the host has all of it"

// AnyLabel is the label that every host has.
const AnyLabel = "any"

// unfit is why a host does not take a task; empty where it could.
func (h ServerHost) unfit(t ServerTask) string {
	missing := slices.DeleteFunc(slices.Clone(t.Harness), func(name string) bool {
		return slices.Contains(h.Harness, name)
	})
	switch {
	case !h.Here:
		return "lost since " + Clock(h.Since)
	case t.Unfit[h.Name] != "":
		return "cannot: " + t.Unfit[h.Name]
	case !slices.Contains(h.Projects, t.Project):
		return "has no project " + t.Project
	case len(missing) > 0:
		return "has no " + strings.Join(missing, " and no ")
	case t.Label != "" && t.Label != AnyLabel && !slices.Contains(h.Labels, t.Label):
		return "has not the label " + t.Label
	case h.Draining:
		return "takes no new task"
	case h.Free == 0:
		return "full"
	}
	return ""
}

// Clock is the time of day, as the list of a fleet has it.
func Clock(at time.Time) string { return at.Format("15:04:05") }

// LastTold says how old the row of a task is whose host gives no answer.
func (t ServerTask) LastTold(in *time.Location) string {
	if t.Told.IsZero() {
		return "not told of yet"
	}
	return fmt.Sprintf("last told %s (event %d)", Clock(t.Told.In(in)), t.Event)
}

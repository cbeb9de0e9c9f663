package remote

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/task"
)

// Fleet is what a host knows of the others.
type Fleet struct {
	Name      string // of this host
	Snapshots string // the repository of snapshots, a remote of each project or an address; empty where there is none
	Patience  time.Duration
	Hosts     []Host
	// Server is the address of the server of the fleet; with one, another program does what is asked here.
	Server string
}

// Host is one other host.
type Host struct {
	Name    string `json:"name"`
	SSH     string `json:"ssh"`               // where ssh finds it
	Command string `json:"command,omitempty"` // the path of orange there; empty where the PATH has it
	Here    bool   `json:"here"`              // this host itself, which is asked without ssh
}

// Pending is a call whose answer was lost, with the host that it was sent to.
type Pending struct {
	Host string `json:"host"`
	Call Call   `json:"call"`
}

// UsualPatience is how long the answer to a question may take.
const UsualPatience = 5 * time.Second

// All are the hosts, this one first. A server has this one among the others.
func (f Fleet) All() []Host {
	if f.Server != "" {
		return f.Hosts
	}
	return append([]Host{{Name: f.Name, Here: true}}, f.Hosts...)
}

// Host is the host of a name.
func (f Fleet) Host(name string) (Host, error) {
	for _, h := range f.All() {
		if h.Name == name && name != "" {
			return h, nil
		}
	}
	return Host{}, task.Notef(task.ErrNotFound, "the fleet has no host %q: it has %s", name, f.Names())
}

// Names lists the hosts for a message.
func (f Fleet) Names() string {
	var names []string
	for _, h := range f.All() {
		if h.Name != "" {
			names = append(names, h.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

var (
	hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	// what ssh takes as a destination, without anything that a shell or ssh's own configuration would read otherwise
	target = regexp.MustCompile(`^(ssh://)?([A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9._-]*(:[0-9]{1,5})?$`)
	inIPv6 = regexp.MustCompile(`^(ssh://)?([A-Za-z0-9_][A-Za-z0-9._-]*@)?\[?[0-9A-Fa-f:]+\]?(:[0-9]{1,5})?$`)
	path   = regexp.MustCompile(`^(~/|/)?[A-Za-z0-9._+][A-Za-z0-9._+/-]*$`)
	role   = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
)

// CheckName refuses what cannot be the name of a host.
func CheckName(name string) error {
	if len(name) <= 63 && hostName.MatchString(name) {
		return nil
	}
	return task.Notef(task.ErrUsage, "cannot call a host %q: expected 1 to 63 letters, digits, dots, underscores and "+
		"dashes, a letter or a digit first", name)
}

// Check refuses a host that ssh, or the shell there, could take for something else.
func (h Host) Check() error {
	if err := CheckName(h.Name); err != nil {
		return err
	}
	to := h.SSH
	if len(to) > 255 || !target.MatchString(to) && !inIPv6.MatchString(to) {
		return task.Notef(task.ErrUsage, "cannot reach a host at %q: expected [USER@]HOST, or a name of your ssh "+
			"configuration", to)
	}
	if strings.Contains(to, ":") && !strings.HasPrefix(to, "ssh://") && strings.Count(to, ":") < 2 {
		return task.Notef(task.ErrUsage, "cannot reach a host at %q: write a port as ssh://HOST:PORT", to)
	}
	if h.Command != "" && !path.MatchString(h.Command) {
		return task.Notef(task.ErrUsage, "cannot call %q at a host: expected the path of orange there, of letters, "+
			"digits, dots, dashes and slashes", h.Command)
	}
	return nil
}

// Program is the word that starts orange at the host.
func (h Host) Program() string {
	if h.Command == "" {
		return "orange"
	}
	return h.Command
}

// CheckRole refuses what cannot be the role of an agent in a command line of another shell.
func CheckRole(name string) error {
	if name == "" || role.MatchString(name) {
		return nil
	}
	return task.Notef(task.ErrUsage, "found %q as --role, expected the name of a role", name)
}

// HostProject is a project as it is compared between hosts.
type HostProject struct {
	Name    string `json:"name"`
	Origin  string `json:"origin,omitempty"`  // the place of its origin; empty where it has none
	Root    string `json:"root,omitempty"`    // its first commit; empty where that is not known
	Trouble string `json:"trouble,omitempty"` // why it cannot be looked at
}

// Compare says why the projects of two hosts are not the same under the same names, and what a person should know of
// them all the same.
func Compare(here, there []HostProject) (wrong, notes []string) {
	both := 0
	for _, a := range here {
		at := slices.IndexFunc(there, func(b HostProject) bool { return b.Name == a.Name })
		if at < 0 {
			continue
		}
		both++
		b := there[at]
		switch {
		case a.Trouble != "" || b.Trouble != "":
			notes = append(notes, fmt.Sprintf("project %q could not be compared: %s", a.Name,
				strings.TrimSpace(a.Trouble+" "+b.Trouble)))
		case a.Root != "" && b.Root != "" && a.Root != b.Root:
			wrong = append(wrong, fmt.Sprintf("project %q begins with the commit %.7s here, and with %.7s there: "+
				"these are two repositories; rename one of the projects", a.Name, a.Root, b.Root))
		case a.Origin != "" && b.Origin != "" && Place(a.Origin) != Place(b.Origin):
			wrong = append(wrong, fmt.Sprintf("the origin of project %q is %s here, and %s there: give both the same "+
				"one, or rename one of the projects", a.Name, a.Origin, b.Origin))
		case a.Origin != b.Origin && (a.Origin == "" || b.Origin == ""):
			notes = append(notes, fmt.Sprintf("project %q has an origin at one of the hosts only: commits do not get "+
				"from one to the other by it", a.Name))
		}
	}
	if both == 0 {
		notes = append(notes, "no project is registered at both hosts: a task that goes on at the other one needs its "+
			"project there, under the same name")
	}
	return wrong, notes
}

// Place is where an address leads, however it is written, and without the name and the password in it.
func Place(address string) string {
	text := strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(address), "/"), ".git")
	if at := strings.Index(text, "://"); at >= 0 {
		text = text[at+3:]
	} else if host, path, is := strings.Cut(text, ":"); is && !strings.Contains(host, "/") {
		text = host + "/" + strings.TrimPrefix(path, "/")
	}
	host, path, whole := strings.Cut(text, "/")
	if at := strings.LastIndex(host, "@"); at >= 0 {
		host = host[at+1:]
	}
	host, _, _ = strings.Cut(host, ":") // ports differ between https and ssh
	if !whole {
		return host
	}
	return strings.ToLower(host) + "/" + path
}

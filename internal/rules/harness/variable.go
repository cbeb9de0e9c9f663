package harness

import (
	"regexp"
	"strings"

	"orange/internal/rules/envfilter"
	"orange/internal/rules/task"
)

// Variable is the name of a variable that a person has set for the programs of tasks. Its value is shown to no one.
type Variable struct {
	Name    string `json:"name"`
	Project string `json:"project,omitempty"` // whose tasks have it; empty for every project
}

// For says whose tasks have the variable.
func (v Variable) For() string {
	if v.Project == "" {
		return "for every project"
	}
	return "for the project " + v.Project
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckVariable reports why a person cannot set a variable of that name; nil where they can.
func CheckVariable(name string) error {
	switch {
	case !variableName.MatchString(name):
		return task.Notef(task.ErrUsage, "cannot set a variable called %q: expected letters, digits and _, and no "+
			"digit first", name)
	case strings.HasPrefix(name, "ORANGE_"):
		return task.Notef(task.ErrUsage, "cannot set %s: names that begin with ORANGE_ tell a program which task it "+
			"works for and who it is, and Orange sets them for each program; choose another name", name)
	case name == "TMUX_TMPDIR":
		return task.Notef(task.ErrUsage, "cannot set %s: it says where the terminal server of Orange is started; set "+
			"it for your own shell, before any agent is started", name)
	case envfilter.Leads(name):
		return task.Notef(task.ErrUsage, "cannot set %s: it would lead an agent to a window or a repository that is "+
			"not its own, and Orange takes it from every program", name)
	}
	return nil
}

package harness

import (
	"slices"
	"strings"
	"unicode"

	"orange/internal/task"
)

// TakesModel reports whether Orange can choose the program's model, as a role with the given permissions.
func (h *Harness) TakesModel(role, permissions string) bool {
	return slices.ContainsFunc(h.For(role).with(permissions), func(a Arg) bool { return a.names(Model) })
}

// NoModel is the error of a task that wants a model of a program whose model Orange cannot choose.
func (h *Harness) NoModel(role, model string) error {
	return task.Notef(task.ErrUsage, "cannot use the model %q for the %s: the harness %q does not say how its program "+
		"takes a model; leave the model out, choose another harness, or write {%s} into a harness file of your own, "+
		"which can begin as a copy: orange harness show %s", model, role, h.Name, Model, h.Name)
}

// maxModel is how many bytes the name of a model may have.
const maxModel = 200

// CheckModel refuses what cannot be the name of a model. A program would take a word with a dash in front for a flag
// of its own, and the header of TASK.md, where agents write, has the name too.
func CheckModel(name string) error {
	control := strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) })
	if strings.HasPrefix(name, "-") || control || len(name) > maxModel {
		return task.Notef(task.ErrUsage, "cannot use the model %.40q: expected at most %d bytes on a line, without a "+
			"dash in front; give the name that the agent program knows the model by", name, maxModel)
	}
	return nil
}

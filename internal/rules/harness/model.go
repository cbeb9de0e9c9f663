package harness

import (
	"slices"
	"strings"
	"unicode"

	"orange/internal/rules/task"
)

// Takes reports whether Orange can choose the program's Model, or its Effort, as a role with the given permissions.
func (h *Harness) Takes(what, role, permissions string) bool {
	return slices.ContainsFunc(h.For(role).with(permissions), func(a Arg) bool { return a.names(what) })
}

// NotTaken is the error of a task that wants a Model, or an Effort, of a program for which Orange cannot choose
// it.
func (h *Harness) NotTaken(what, role, word string) error {
	return task.Notef(task.ErrUsage, "cannot use the %[1]s %[2]q for the %[3]s: the harness %[4]q does not say how "+
		"its program takes one; leave the %[1]s out, choose another harness, or write {%[1]s} into a harness file of "+
		"your own, which can begin as a copy: orange harness show %[4]s", what, word, role, h.Name)
}

// maxWord is how many bytes the name of a model or an effort may have.
const maxWord = 200

// CheckWord refuses what cannot be the name of a Model, or an Effort. A program would take a word with a dash in front
// for a flag of its own, and the header of TASK.md, where agents write, has the word too.
func CheckWord(what, word string) error {
	control := strings.ContainsFunc(word, func(r rune) bool { return unicode.IsControl(r) })
	if strings.HasPrefix(word, "-") || control || len(word) > maxWord {
		return task.Notef(task.ErrUsage, "cannot use the %s %.40q: expected at most %d bytes on a line, without a "+
			"dash in front; give the name by which the agent program knows it", what, word, maxWord)
	}
	return nil
}

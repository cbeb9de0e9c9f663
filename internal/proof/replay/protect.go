package replay

import (
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/workflow"
)

// DataMayChange is the key in the data of an event by which a person allowed the task to change protected files: the
// patterns, one a line.
const DataMayChange = "may_change"

// ownFolder is Orange's own in each worktree: no task has to change a file of it.
const ownFolder = "/.orange/"

// Protecting is a workflow as it counts for a task with this history, in a project that protects files of some
// patterns.
func Protecting(def *workflow.Definition, patterns []string, events []history.Event) *workflow.Definition {
	var may []string
	for i := range events {
		if said := events[i].Data[DataMayChange]; said != "" {
			may = append(may, strings.Split(said, "\n")...)
		}
	}
	return def.Protecting(append(slices.Clip(patterns), ownFolder), may)
}

// Package guarantee is the table of what a task has passed at the good ends of a workflow: what every way there has,
// and what leads around the rest. Package explore finds it out; this package has its form and its words.
package guarantee

import (
	"fmt"
	"strings"

	"orange/internal/rules/task"
)

// GoodEnd is what a task has passed at one good end since its work was changed last.
type GoodEnd struct {
	End    task.Status `json:"end"`
	Always []string    `json:"always"` // on every way there
	Around []Around    `json:"around"` // what some way there has not passed
}

// Around is one thing that not every way to an end has passed, with the shortest way that has not.
type Around struct {
	What string `json:"what"`
	Way  string `json:"way"`
	Line int    `json:"line"` // of what leads around it
	// Steps are all that happens on that way, from the task's birth on, a sentence each.
	Steps []string `json:"steps"`
	// By is what alone leads around it: ByMerge, ByBirth or ByOverride. It is empty where something else does.
	By string `json:"by,omitempty"`
}

// What alone may lead around something. Births and overrides are listed apart: a person decides them by name.
const (
	ByMerge    = "a merge elsewhere"
	ByBirth    = "a task that a person begins there"
	ByOverride = "an override by a person"
)

// Tell is the table in lines: what a task has passed at each good end, whatever way it came.
func Tell(all []GoodEnd) []string {
	var out []string
	width := 0
	for _, p := range all {
		width = max(width, len(p.End))
	}
	for _, p := range all {
		always := "nothing"
		if len(p.Always) > 0 {
			always = strings.Join(p.Always, "; ")
		}
		out = append(out, fmt.Sprintf("%-*s  always  %s", width, p.End, always))
		for _, a := range p.Around {
			word := "not always"
			if a.By == ByBirth || a.By == ByOverride {
				word = "by a person"
			}
			out = append(out, fmt.Sprintf("%-*s  %s  %s: %s  line %d", width, "", word, a.What, a.Way, a.Line))
		}
	}
	return out
}

package graph

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/workflow"
)

// Changes tells what one text of a workflow asks for and does that another one does not, a line each: what is gone has
// a minus before it, what is new a plus. A move on other terms is one of each.
func Changes(was, is *workflow.Definition) []string {
	before, now := linesOf(was), linesOf(is)
	var out []string
	for _, line := range before {
		if !slices.Contains(now, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range now {
		if !slices.Contains(before, line) {
			out = append(out, "+ "+line)
		}
	}
	if !slices.EqualFunc(was.Prompts, is.Prompts, func(a, b workflow.Prompt) bool {
		return a.Name == b.Name && a.Text == b.Text
	}) {
		out = append(out, "the prompts of its agents are others")
	}
	return out
}

// linesOf are the states, moves and checks of a workflow, a line each.
func linesOf(d *workflow.Definition) []string {
	var out []string
	for _, s := range d.States {
		line := "state " + clean(string(s.Name))
		for _, one := range []struct {
			is   bool
			word string
		}{
			{s.Role != "", "of the " + clean(s.Role)}, {s.Terminal, "an end"},
			{s.Respawn == workflow.RespawnAuto, "starts its agent again by itself"},
			{s.Subject != workflow.SubjectBranch, "about the " + s.Subject},
			{s.Refused.Most > 0, "asks a person after " + plural(s.Refused.Most, "refusal", "refusals")},
			{s.Timeout.After > 0, "takes at most " + workflow.Duration(time.Duration(s.Timeout.After)*time.Second)},
		} {
			if one.is {
				line += ", " + one.word
			}
		}
		out = append(out, line)
	}
	for i, m := range movesOf(d) {
		line := fmt.Sprintf("%s -> %s  %s", clean(string(m.from)), clean(string(m.to)), m.label)
		var does []string
		for _, h := range d.Transitions[i].Hooks {
			does = append(does, h.Action)
		}
		if len(does) > 0 {
			line += "; does " + strings.Join(does, ", ")
		}
		out = append(out, line)
	}
	for _, m := range automatic(d) {
		out = append(out, fmt.Sprintf("%s -> %s  by itself: %s", clean(string(m.from)), clean(string(m.to)), m.label))
	}
	for _, c := range d.Checks {
		out = append(out, fmt.Sprintf("check %s runs %s", clean(c.Name), clean(strings.Join(c.Run, " "))))
	}
	if d.Strict {
		out = append(out, "no one sets a verdict aside")
	}
	for _, line := range d.Promise {
		out = append(out, "it promises "+clean(line.Name))
	}
	return out
}

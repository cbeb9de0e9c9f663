package guarantee

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// A task has passed a person where one moved it, and two people where the transition wants another one than before. It
// has passed the reviewer where that moved it on without a verdict.
const (
	Person    = "a person"
	TwoPeople = "two people"
	Reviewer  = "the reviewer"
)

// By are the things that a task passes because of who makes a move over a transition: Person, TwoPeople, Reviewer.
func By(def *workflow.Definition, edge *workflow.Transition, speaks string, person bool) []string {
	var out []string
	if speaks == task.RoleReviewer && reviews(def, edge) {
		out = append(out, Reviewer)
	}
	if person {
		out = append(out, Person)
	}
	if person && len(edge.OtherThan) > 0 {
		out = append(out, TwoPeople)
	}
	return out
}

// reviews reports whether the reviewer passes the work on by a move alone, and not back to the worker. Where one of its
// moves asks for a verdict, that is what the work passes.
func reviews(def *workflow.Definition, edge *workflow.Transition) bool {
	to, _ := def.State(edge.To)
	byReviewer := func(edge *workflow.Transition) bool { return slices.Contains(edge.By, task.RoleReviewer) }
	if !byReviewer(edge) || edge.Failure || to.Role == task.RoleWorker || slices.Contains(edge.By, task.RoleWorker) {
		return false
	}
	return !slices.ContainsFunc(def.Transitions, func(other workflow.Transition) bool {
		return byReviewer(&other) && len(workflow.Verdicts(other.Gate)) > 0
	})
}

// Gives lists what a task may pass by a transition: what its gate asks for, and those who may take it.
func Gives(def *workflow.Definition, edge *workflow.Transition) []string {
	var out []string
	for _, p := range workflow.Leaves(edge.Gate) {
		if name := Name(&p); Good(&p) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if reviews(def, edge) {
		out = append(out, Reviewer)
	}
	if len(edge.OtherThan) > 0 {
		out = append(out, TwoPeople)
	}
	return out
}

// Good reports whether a part is something that work passes: a verdict or a check that accepts it, or what git shows of
// it. Text that an agent writes about its own work is none, and no more is what is asked only to compare the work with
// what was judged.
func Good(p *workflow.Part) bool {
	switch {
	case p.IsVerdict():
		return p.Verdict != "FAIL"
	case p.Check != "":
		return p.Result != workflow.CheckFailed
	case p.Git != "":
		return p.Git != workflow.GitUnmoved && p.Git != workflow.GitMoved && p.Git != workflow.GitAsReviewed
	}
	return false
}

// Name is what people call a part.
func Name(p *workflow.Part) string {
	switch {
	case p.Section != "":
		return fmt.Sprintf("%q %s", "## "+strings.TrimSpace(strings.TrimLeft(p.Section, "# ")), p.Verdict)
	case p.Check != "":
		return "check " + p.Check
	case p.Git == workflow.GitUntouched:
		return "git untouched " + strings.Join(p.Untouched, " ")
	case p.Git != "":
		return "git " + p.Git
	}
	return p.File + p.Glob
}

// Refuses is the name of what a part refuses the work: by a verdict that does, or a check that fails. It is empty where
// the part does not.
func Refuses(p *workflow.Part) string {
	accepts := *p
	switch {
	case p.Verdict == "FAIL":
		accepts.Verdict = "PASS"
	case p.Result == workflow.CheckFailed:
		accepts.Result = workflow.CheckPassed
	default:
		return ""
	}
	return Name(&accepts)
}

// Needs are the names of what a gate cannot be met without, and whether each of them is a verdict.
func Needs(parts []workflow.Part) map[string]bool {
	out := map[string]bool{}
	for i := range parts {
		p := &parts[i]
		switch {
		case len(p.All) > 0:
			for name, verdict := range Needs(p.All) {
				out[name] = verdict
			}
		case len(p.Any) > 0:
			common := Needs(p.Any[:1])
			for n := range p.Any {
				other := Needs(p.Any[n : n+1])
				for name := range common {
					if _, both := other[name]; !both {
						delete(common, name)
					}
				}
			}
			for name, verdict := range common {
				out[name] = verdict
			}
		case Good(p):
			out[Name(p)] = p.IsVerdict()
		}
	}
	return out
}

// Shows reports whether a gate cannot be met unless the work is what the evidence of the state is about.
func Shows(gate []workflow.Part) bool {
	return slices.ContainsFunc(workflow.Certain(gate), func(p workflow.Part) bool {
		return p.Git == workflow.GitUnmoved || p.Git == workflow.GitAsReviewed
	})
}

// Skipped are the things that a task has to pass on its way from a state to another one, if it is moved there by force:
// those of the transitions between them, or else of all that lead to the other one.
func Skipped(def *workflow.Definition, from, to task.Status) []string {
	var out []string
	for _, any := range []bool{false, true} {
		between := false
		for i := range def.Transitions {
			edge := &def.Transitions[i]
			if edge.To != to || edge.From == to || !any && edge.From != from {
				continue
			}
			between = true
			for _, p := range workflow.Leaves(edge.Gate) {
				name := Name(&p)
				if _, asked := Needs(edge.Gate)[name]; asked && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
		if between {
			break
		}
	}
	return out
}

// Things are the names of all that a task can pass under a workflow, in the order of the file, and which of them are
// verdicts.
func Things(def *workflow.Definition) (names []string, verdicts map[string]bool) {
	verdicts = map[string]bool{}
	two := false
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		for _, p := range workflow.Leaves(edge.Gate) {
			if Good(&p) {
				verdicts[Name(&p)] = p.IsVerdict()
			}
		}
		for _, name := range Gives(def, edge) {
			two = two || name == TwoPeople
			if name != TwoPeople && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if names = append(names, Person); two {
		names = append(names, TwoPeople)
	}
	return names, verdicts
}

// Authors are the states that produce what is judged in a state: those from which a move with a gate leads there.
// A gate that is a verdict passes the work of others on, and their states are the authors.
func Authors(def *workflow.Definition, judged task.Status) []workflow.State {
	var out []workflow.State
	seen, open := map[task.Status]bool{judged: true}, []task.Status{judged}
	for len(open) > 0 {
		to := open[0]
		open = open[1:]
		for n := range def.Transitions {
			edge := &def.Transitions[n]
			if edge.To != to || len(edge.Gate) == 0 || seen[edge.From] {
				continue
			}
			seen[edge.From] = true
			before, _ := def.State(edge.From)
			switch {
			case len(workflow.Verdicts(edge.Gate)) > 0:
				open = append(open, edge.From)
			case before.Role != "" && before.Role != task.RoleHuman:
				out = append(out, before)
			}
		}
	}
	return out
}

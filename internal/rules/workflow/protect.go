package workflow

import (
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

// Protecting is the workflow as it counts in a project that protects the files which the patterns name: each gate that
// asks for a check, and each hand-off, also asks that these files are as the base has them, but for those that the
// exceptions name. The workflow itself stays as it is.
func (d *Definition) Protecting(patterns, exceptions []string) *Definition {
	if len(patterns) == 0 {
		return d
	}
	part := Part{Git: GitProtected, Untouched: patterns, Except: exceptions}
	protecting := *d
	protecting.Transitions = slices.Clone(d.Transitions)
	for i := range protecting.Transitions {
		edge := &protecting.Transitions[i]
		if asksCheck(edge.Gate) || d.handsOver(edge) {
			part.Pos = edge.Pos
			edge.Gate = append(slices.Clip(edge.Gate), part)
		}
	}
	return &protecting
}

// Protected are the patterns and the exceptions with which Protecting made the workflow.
func (d *Definition) Protected() (patterns, exceptions []string) {
	for i := range d.Transitions {
		for _, p := range d.Transitions[i].Gate {
			if p.Git == GitProtected {
				return p.Untouched, p.Except
			}
		}
	}
	return nil, nil
}

func asksCheck(gate []Part) bool {
	return slices.ContainsFunc(Leaves(gate), func(p Part) bool { return p.Check != "" })
}

// Unprotected are the checks, in the order of the file, that a gate asks for without asking that files are untouched:
// an agent can change what they run, unless its project protects that.
func (d *Definition) Unprotected() []string {
	var found []string
	for i := range d.Transitions {
		gate := d.Transitions[i].Gate
		if Asks(gate, GitUntouched) {
			continue
		}
		for _, p := range Leaves(gate) {
			if p.Check != "" && !slices.Contains(found, p.Check) {
				found = append(found, p.Check)
			}
		}
	}
	return found
}

// handsOver reports whether the agent that works in a state gives its work to another one by a transition, or puts it
// up for its merge. An agent that is asked for a verdict works on nothing; one that asks for help, or helps, hands
// nothing over; and a task that only now gets its first worktree has nothing to hand over.
func (d *Definition) handsOver(edge *Transition) bool {
	from, _ := d.State(edge.From)
	to, _ := d.State(edge.To)
	mayAsk := len(edge.By) == 0 || slices.Contains(edge.By, from.Role)
	if from.Role == "" || from.Role == task.RoleHuman || !mayAsk || d.judges(edge.From) || from.Escalation ||
		to.Escalation || edge.From == d.Initial && edge.Has(action.AcquireWorkspace) {
		return false
	}
	if slices.ContainsFunc(edge.Hooks, func(h Hook) bool {
		return SpawnRole(h.Hook) != "" && RoleIn(to, h.Hook) != from.Role
	}) {
		return true
	}
	merged, mergeable := d.Move(MoveMerge)
	_, leads := d.Edge(edge.To, merged)
	return mergeable && (edge.To == merged || leads)
}

// judges reports whether a transition out of a state asks for a verdict.
func (d *Definition) judges(state task.Status) bool {
	return slices.ContainsFunc(d.Transitions, func(edge Transition) bool {
		return edge.From == state && len(Verdicts(edge.Gate)) > 0
	})
}

package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// judgeAuthors reports verdicts that are open to the role whose work they are about.
func (w *walk) judgeAuthors() {
	for n := range w.def.Transitions {
		edge := &w.def.Transitions[n]
		if len(workflow.Verdicts(edge.Gate)) == 0 {
			continue
		}
		for _, before := range guarantee.Authors(w.def, edge.From) {
			if !mayAsk(edge, before.Role) {
				continue
			}
			judges := "anyone may ask for it"
			if len(edge.By) > 0 {
				judges = "by: " + strings.Join(edge.By, ", ")
			}
			w.report(OwnWork, flaw{
				at: -1, pos: edge.Pos,
				message: fmt.Sprintf("the verdict that leads from %q to %q is open to the %s, whose work of "+
					"%q it is about (%s)",
					edge.From, edge.To, before.Role, before.Name, judges),
				suggestion: fmt.Sprintf("name in by who judges, without the %s; where both have one role give "+
					"each its own", before.Role),
			})
			break
		}
	}
}

// judgeShut warns of live states that no person can leave, and of moves that only a role may make which is never
// there.
func (w *walk) judgeShut() {
	for _, s := range w.def.States {
		if s.Terminal || w.place(s.Name) < 0 {
			continue
		}
		leaves := func(e workflow.Transition) bool { return e.From == s.Name && mayAsk(&e, task.RoleHuman) }
		if !slices.ContainsFunc(w.def.Transitions, leaves) {
			w.report(NoDeadEnd, flaw{
				at: -1, pos: s.Pos, mild: true,
				message:    fmt.Sprintf("a person cannot lead the task out of %q, not even to give it up", s.Name),
				suggestion: "give it a transition by: human, to where the task is given up at least",
			})
		}
	}
	for n := range w.def.Transitions {
		edge := &w.def.Transitions[n]
		if len(edge.By) == 0 || slices.Contains(edge.By, task.RoleHuman) {
			continue
		}
		if !w.everThere(edge) {
			w.report(RolesAct, flaw{
				at: -1, pos: edge.Pos, mild: true, suggestion: "name a role that is at work there, or a person",
				message: fmt.Sprintf("the move from %q to %q is left to the %s, and no such agent is ever there",
					edge.From, edge.To, strings.Join(edge.By, " or the ")),
			})
		}
	}
}

// everThere reports whether an agent that may ask for a move lives in some configuration with the move's status.
func (w *walk) everThere(edge *workflow.Transition) bool {
	at := w.place(edge.From)
	return slices.ContainsFunc(w.configs, func(c config) bool {
		return c.status == at && slices.ContainsFunc(w.roles, func(role string) bool {
			return c.agent(slices.Index(w.roles, role)) == alive && slices.Contains(edge.By, role)
		})
	})
}

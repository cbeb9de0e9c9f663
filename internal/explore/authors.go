package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/task"
	"orange/internal/workflow"
)

// judgeAuthors reports verdicts that are open to the role whose work they are about.
func (w *walk) judgeAuthors() {
	for n := range w.def.Transitions {
		edge := &w.def.Transitions[n]
		if len(workflow.Verdicts(edge.Gate)) == 0 {
			continue
		}
		for _, before := range w.authors(edge.From) {
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

// authors are the states that produce what is judged in a state: those from which a move with a gate leads there.
// A gate that is a verdict passes the work of others on, and their states are the authors.
func (w *walk) authors(judged task.Status) []workflow.State {
	var out []workflow.State
	seen, open := map[task.Status]bool{judged: true}, []task.Status{judged}
	for len(open) > 0 {
		to := open[0]
		open = open[1:]
		for n := range w.def.Transitions {
			edge := &w.def.Transitions[n]
			if edge.To != to || len(edge.Gate) == 0 || seen[edge.From] {
				continue
			}
			seen[edge.From] = true
			before, _ := w.def.State(edge.From)
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

package guarantee

import (
	"slices"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Plan says of a verdict whether it is about a plan: it asks git for nothing, and where it passes work begins that
// another verdict judges. That work is none of the plan's. Made are the states in which the plan is made: those that
// hand over to this verdict, and come to another one only by it.
func Plan(def *workflow.Definition, verdict string) (is bool, made []task.Status) {
	var judges, begin []task.Status
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		if is, gives := Needs(edge.Gate)[verdict]; !gives || !is || edge.To == edge.From {
			continue
		}
		if workflow.Asks(edge.Gate, workflow.GitUnmoved) || workflow.Asks(edge.Gate, workflow.GitAsReviewed) {
			return false, nil
		}
		judges, begin = append(judges, edge.From), append(begin, edge.To)
	}
	works := func(s task.Status) bool {
		state, _ := def.State(s)
		return state.Role != "" && state.Role != task.RoleHuman && !isJudged(def, s, "") &&
			comesTo(def, s, verdict, judges)
	}
	if !slices.ContainsFunc(begin, works) {
		return false, nil
	}
	for _, judge := range judges {
		for _, author := range Authors(def, judge) {
			if !comesTo(def, author.Name, verdict, judges) {
				made = append(made, author.Name)
			}
		}
	}
	return true, made
}

// isJudged reports whether a move out of a state asks for a verdict by another name.
func isJudged(def *workflow.Definition, s task.Status, name string) bool {
	return slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool {
		if edge.From != s {
			return false
		}
		for other, verdict := range Needs(edge.Gate) {
			if verdict && other != name {
				return true
			}
		}
		return false
	})
}

// comesTo reports whether a task comes from a state to another verdict than this one without passing those that judge.
func comesTo(def *workflow.Definition, from task.Status, name string, judges []task.Status) bool {
	seen, open := map[task.Status]bool{from: true}, []task.Status{from}
	for n := 0; n < len(open); n++ {
		if slices.Contains(judges, open[n]) {
			continue
		}
		if isJudged(def, open[n], name) {
			return true
		}
		for i := range def.Transitions {
			edge := &def.Transitions[i]
			if _, exists := def.State(edge.To); exists && edge.From == open[n] && !seen[edge.To] {
				seen[edge.To], open = true, append(open, edge.To)
			}
		}
	}
	return false
}

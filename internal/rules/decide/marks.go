package decide

import (
	"slices"

	"orange/internal/rules/stats"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Marks say what a status means in a workflow. A task that ended where giving up leads did not end well.
func Marks(def *workflow.Definition, status task.Status) stats.Marks {
	state, exists := def.State(status)
	if !exists {
		return stats.Marks{}
	}
	m := stats.Marks{Terminal: state.Terminal, Well: isDone(def, status), Escalation: state.Escalation}
	m.Good = m.Well
	if slices.ContainsFunc(def.States, func(s workflow.State) bool { return s.Success }) {
		m.Good = state.Success
	}
	usual := slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool {
		return edge.From == status && isDone(def, edge.To)
	})
	m.Asks = !state.Terminal && status != def.Initial && def.WaitsForPerson(status) && (state.Escalation || !usual)
	m.Human = state.Escalation && (state.Role == "" || state.Role == task.RoleHuman)
	return m
}

// isDone reports whether a task is over in a status and was not given up.
func isDone(def *workflow.Definition, status task.Status) bool {
	state, _ := def.State(status)
	for _, command := range []string{workflow.MoveCancel, workflow.MovePRClosed} {
		if to, said := def.Move(command); said && to == status {
			return false
		}
	}
	return state.Terminal
}

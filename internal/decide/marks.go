package decide

import (
	"slices"

	"orange/internal/stats"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Marks say what a status means in a workflow. A task that ended where giving up leads did not end well.
func Marks(def *workflow.Definition, status task.Status) stats.Marks {
	state, exists := def.State(status)
	if !exists {
		return stats.Marks{}
	}
	m := stats.Marks{Terminal: state.Terminal, Well: state.Terminal, Escalation: state.Escalation}
	for _, command := range []string{workflow.MoveCancel, workflow.MovePRClosed} {
		if to, said := def.Move(command); said && to == status {
			m.Well = false
		}
	}
	m.Good = m.Well
	if slices.ContainsFunc(def.States, func(s workflow.State) bool { return s.Success }) {
		m.Good = state.Success
	}
	m.Human = state.Escalation && (state.Role == "" || state.Role == task.RoleHuman)
	return m
}

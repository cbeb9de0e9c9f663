package decide

import (
	"slices"

	"orange/internal/stats"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Marks say what a status means in a workflow. A task ends well in a state with success: true; where no state says so,
// in each end but those to which giving up leads.
func Marks(def *workflow.Definition, status task.Status) stats.Marks {
	state, exists := def.State(status)
	if !exists {
		return stats.Marks{}
	}
	m := stats.Marks{Terminal: state.Terminal, Well: state.Terminal, Escalation: state.Escalation}
	if slices.ContainsFunc(def.States, func(s workflow.State) bool { return s.Success }) {
		m.Well = state.Success
	} else if givesUp(def, status) {
		m.Well = false
	}
	m.Human = state.Escalation && (state.Role == "" || state.Role == task.RoleHuman)
	return m
}

// givesUp reports whether giving up leads to a status.
func givesUp(def *workflow.Definition, status task.Status) bool {
	return slices.ContainsFunc([]string{workflow.MoveCancel, workflow.MovePRClosed}, func(command string) bool {
		to, said := def.Move(command)
		return said && to == status
	})
}

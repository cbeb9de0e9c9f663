package workflow

import "orange/internal/rules/task"

// Command is the line with which someone asks for a status over the edge.
func (t *Transition) Command(id string, to task.Status) string {
	line := "orange task update " + id + " --status " + string(to)
	if t.Reason {
		line += " --reason TEXT"
	}
	return line
}

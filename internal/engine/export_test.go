package engine

import (
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// TakenBy says that a project's workspaces are all taken, and by whom.
func TakenBy(p task.Project, holders []record.Holder) string { return takenBy(p, holders) }

package decide

import (
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// BackOff is how long a hook waits after its n-th failed attempt.
func BackOff(attempts int) time.Duration { return backOff(attempts) }

// Accepted reports whether a verdict that accepts some work is in a history.
func Accepted(def *workflow.Definition, events []history.Event, work task.Subject) bool {
	return wasAccepted(def, events, work)
}

package decide

import (
	"time"

	"orange/internal/history"
	"orange/internal/workflow"
)

// BackOff is how long a hook waits after its n-th failed attempt.
func BackOff(attempts int) time.Duration { return backOff(attempts) }

// Accepted reports whether a verdict that accepts a commit is in a history.
func Accepted(def *workflow.Definition, events []history.Event, commit string) bool {
	return accepted(def, events, commit)
}

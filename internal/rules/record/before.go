package record

import "orange/internal/rules/task"

// Before is a task that another one waits for, as far as that matters to the one that waits.
type Before struct {
	ID     string      `json:"id"`
	Status task.Status `json:"status,omitempty"` // empty where the task was deleted
	State  string      `json:"state,omitempty"`  // one of those below
	Commit string      `json:"commit,omitempty"` // what the base must have; empty where there is none
	Found  string      `json:"found,omitempty"`  // what is missing, in words; empty where nothing is
}

// How a task is that another one waits for.
const (
	BeforeLive      = "live"            // it is not over
	BeforeLost      = "lost"            // it was deleted, or is over and ended neither merged nor well
	BeforeElsewhere = "not-in-the-base" // it ended well, and a new task would start without its commit
	BeforeOver      = "over"            // it ended well, and no one has looked for its commit
	BeforeDone      = "done"            // it ended well, and a new task starts with its commit
)

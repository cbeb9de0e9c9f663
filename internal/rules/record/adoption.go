package record

import (
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// Adoption is a task as its folder tells it, to be taken into a record that does not have it.
type Adoption struct {
	Task    task.Task
	Lines   []string        // the history exactly as it is, one event each
	Events  []history.Event // what is added to it
	Spent   []task.Spent
	Entry   []task.Evidence
	Start   []task.Evidence
	Shown   []Shown // values that the header shows or showed: they are old, not new
	Seats   []Seat  // of agents that live and whose secrets are lost
	Foreign bool    // it had no history to trust: its header is all there is
	Torn    bool    // the last line of its history was cut short and is left out
	Notes   []string
	// FirstHook is a number that no hook of the lost record had: what is queued from now on gets greater ones.
	FirstHook int64
}

// Adopted is what became of an adoption.
type Adopted struct {
	Adoption // as it is on record
	// Lost are the keys of requests that another home has acknowledged, and that its last snapshot does not have.
	Lost []string
	Err  error // why the task did not come back; nil where it did
}

// Shown is a value that a task's header shows.
type Shown struct{ Field, Value string }

// ProjectionFile is a projection as it is in the task's folder.
type ProjectionFile struct {
	There   bool
	Text    []byte
	Written time.Time
	Mark    string // differs from one writing of the file to the next
}

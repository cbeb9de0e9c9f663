package task

import (
	"time"
)

// DataUnstarted is the key in an event's data that says why an agent could not be started at all.
const DataUnstarted = "unstarted"

// Evidence names one thing that a decision rested on, and its digest at that moment.
type Evidence struct {
	Source string `json:"source"` // "## Handoff"
	Digest string `json:"digest"` // sha256 of the normalised text, hex
}

// Spent is evidence that moved the task once, with the event at which it did.
type Spent struct {
	Evidence
	Seq int
}

// TimeFormat is how times are written everywhere: ISO 8601, UTC, milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// FormatTime writes a time as the record and the mirrors have it.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeFormat) }

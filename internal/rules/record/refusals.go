package record

import (
	"fmt"
	"time"

	"orange/internal/rules/task"
)

// Refusals are how often agents of a task were refused since it entered its status. The record keeps those of the
// present stay alone, outside the history: an agent that asks in a loop would fill that.
type Refusals struct {
	Status  task.Status `json:"status"`
	Entered time.Time   `json:"entered"` // when the task entered the status
	Count   int         `json:"count"`   // in all
	Same    int         `json:"same"`    // the last ones in a row that have the last one's reason
	Reason  string      `json:"reason"`  // of the last one, in one line
	Told    int         `json:"told"`    // what Count was when a person was last asked to look; 0 if no one was
	Minute  time.Time   `json:"minute"`  // when the first of the equal ones was that Within counts
	Within  int         `json:"within"`  // the equal ones in a minute from then on
}

// Of reports whether they are of a task's present stay.
func (r Refusals) Of(t task.Task) bool { return r.Status == t.Status && r.Entered.Equal(t.EnteredAt) }

// Again counts one more refusal, for a reason in one line. The count begins again with each stay in a status.
func (r Refusals) Again(t task.Task, reason string, now time.Time) Refusals {
	if !r.Of(t) {
		r = Refusals{Status: t.Status, Entered: t.EnteredAt}
	}
	r.Count++
	if reason != r.Reason {
		r.Reason, r.Same, r.Minute, r.Within = reason, 0, now, 0
	}
	if past := now.Sub(r.Minute); past >= time.Minute || past < 0 { // or the clock was set back
		r.Minute, r.Within = now, 0
	}
	r.Same, r.Within = r.Same+1, r.Within+1
	return r
}

// patientWithin is how many equal refusals within a minute are answered at once.
const patientWithin = 9

// Wait is how long the answer to the last of the refusals is held back: an agent that asks the same again and again
// gets no more than so many answers a minute.
func (r Refusals) Wait(now time.Time) time.Duration {
	if r.Within <= patientWithin {
		return 0
	}
	return min(max(r.Minute.Add(time.Minute).Sub(now), 0), time.Minute)
}

// String says how often and why, in one line.
func (r Refusals) String() string {
	text := "once"
	if r.Count > 1 {
		text = fmt.Sprintf("%d times", r.Count)
	}
	if r.Same < r.Count {
		return text + ", the last time: " + r.Reason
	}
	return text + ": " + r.Reason
}

// Package fencing is which home has a task, what that home may do for it outside of its machine, and how a task leaves
// a home that is no longer its own.
//
// A task that moves from one home to another gets a new epoch there, a number that only grows. The package owns when
// an act that others see is held back, what another home may adopt, and which requests are lost when it does; who may
// ask for a task to leave, and what has to end before. It reads no file and no clock, and ends and moves nothing:
// package snapshots reads, and package engine asks before the act, and has the hooks that Leave names performed.
package fencing

import (
	"errors"
	"fmt"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

// ErrHeldBack says that an act is not done, or was cut short, because another home may have the task.
var ErrHeldBack = errors.New("the act is held back")

// ErrWaits says that an act is held back by what may pass: who has the task could not be looked up, or the fleet has
// not answered. What becomes of the act says who wanted to do it.
var ErrWaits = errors.New("the act is held back for now")

// waiting is an ErrHeldBack and an ErrWaits.
type waiting struct{ text string }

func (w *waiting) Error() string   { return w.text }
func (w *waiting) Unwrap() []error { return []error{ErrHeldBack, ErrWaits} }

// Waits is the refusal of an act that may be done later.
func Waits(format string, args ...any) error { return &waiting{fmt.Sprintf(format, args...)} }

// Reaches reports whether a hook changes what is seen outside of this machine.
func Reaches(h task.Hook) bool {
	row, known := action.Of(h.Action)
	here := h.Action == action.Notify && h.Via == action.ViaDesktop // that is the desktop of this machine
	return known && row.Scope == action.Remote && !here
}

// SnapshotPlace is what the newest snapshot of a task in a repository says.
type SnapshotPlace struct {
	Repository string
	Epoch      int
	Trouble    string // why that could not be read; empty where it could
}

// Mine refuses an act for a task where a snapshot has a later epoch than this home, or where one cannot be read. The
// error is an ErrHeldBack.
func Mine(id string, epoch int, places []SnapshotPlace) error {
	for _, p := range places {
		if p.Epoch > epoch {
			return task.Notef(ErrHeldBack, "task %s is at another home since epoch %d, and this home had it in epoch "+
				"%d (its snapshot at %q says so): nothing was done; let it go here: orange task leave %s", id, p.Epoch,
				epoch, p.Repository, id)
		}
	}
	for _, p := range places {
		if p.Trouble != "" {
			return Waits("cannot read which home has task %s: %s", id, p.Trouble)
		}
	}
	return nil
}

// HomeLease is until when a home may act outside of its machine for the tasks that it holds.
type HomeLease struct {
	Boot     string        `json:"boot"`     // the start of the machine that Until is counted from
	Until    time.Duration `json:"until"`    // in nanoseconds since then, sleep included
	Answered time.Time     `json:"answered"` // when the fleet answered last, for people; zero where that is not known
}

// Clock is the time as a machine has it.
type Clock struct {
	Boot string        // which start of the machine it is
	Up   time.Duration // how long that is ago, sleep included
	Wall time.Time     // for people: nothing is decided by it
}

// Left is for how long a lease holds yet. One of another start of the machine does not hold.
func (l HomeLease) Left(now Clock) time.Duration {
	if l.Boot == "" || l.Boot != now.Boot {
		return 0
	}
	return max(0, l.Until-now.Up)
}

// Over is the refusal of an act without a lease that holds.
func (l HomeLease) Over(now Clock) error {
	const day = 24 * time.Hour
	since := "since " + l.Answered.In(now.Wall.Location()).Format("15:04")
	switch {
	case l.Answered.IsZero():
		since = "in time"
	case now.Wall.Sub(l.Answered) >= day:
		since = "since " + l.Answered.In(now.Wall.Location()).Format("2006-01-02 15:04")
	}
	return Waits("the fleet has not answered %s", since)
}

package task

import (
	"fmt"
	"sort"
	"time"
)

// Levels of lateness, in per cent of the time that a status should take.
const (
	LateWarning   = 80
	LateAlert     = 100
	LateEscalated = 150
)

// NoTimeout is the word with which a project takes a status's timeout away.
const NoTimeout = "none"

// MaxTimeout is the longest time that a status may be given.
const MaxTimeout = 365 * 24 * time.Hour

// Timeouts are how long statuses should take by one project's own word; 0 means that the status may take any time.
// A status that is not there has the workflow's timeout.
type Timeouts map[Status]time.Duration

// ReadTimeout reads a length of time such as "90s", "30m" or "6h", or NoTimeout, which is 0.
func ReadTimeout(word string) (time.Duration, error) {
	if word == NoTimeout {
		return 0, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d%time.Second != 0 || d < time.Second || d > MaxTimeout {
		return 0, Notef(ErrUsage, "found %q as a timeout, expected whole seconds from 1s to %s, such as %q, "+
			"or %q for no timeout at all", word, MaxTimeout, "6h", NoTimeout)
	}
	return d, nil
}

// ReadTimeouts reads the timeouts that a project was given. The error names the first one that is none.
func (p Project) ReadTimeouts() (Timeouts, error) {
	if len(p.Timeouts) == 0 {
		return nil, nil
	}
	names := make([]string, 0, len(p.Timeouts))
	for name := range p.Timeouts {
		names = append(names, name)
	}
	sort.Strings(names) // so that the same fault is reported every time
	out := make(Timeouts, len(names))
	for _, name := range names {
		after, err := ReadTimeout(p.Timeouts[name])
		if err != nil {
			return nil, fmt.Errorf("cannot read the timeouts of project %q: %q: %w; set it with %q", p.Name, name, err,
				"orange project update "+p.Name+" --timeout "+name+"=6h")
		}
		out[Status(name)] = after
	}
	return out, nil
}

// Timing is how a task is in time, at one moment.
type Timing struct {
	InState   time.Duration // since the present status began
	Total     time.Duration // since the task was made, or until it was over
	Timeout   time.Duration // how long the status should take; 0 when it may take any time
	Overdue   int           // the level of lateness: 0, LateWarning, LateAlert or LateEscalated
	Escalated bool          // the status is one that tasks are taken to out of their usual way
	Role      string        // who is at work in the status; empty when no one is
}

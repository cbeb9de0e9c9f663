package record

import (
	"fmt"
	"strings"
	"time"
)

// LimitCount is a counter that no workflow names: how often in a row the agent of the present status has ended at its
// provider's limit and left nothing new. MostLimits is how often a task waits for such a limit to pass; the next such
// end is a crash.
const (
	LimitCount = "limit_count"
	MostLimits = 5
)

// LossCount is a counter that no workflow names: how often the agent of the present status has ended with its terminal
// server or its machine and was to be started again.
const LossCount = "loss_count"

// What becomes of agents that have ended with their machine: they are started again, a person is asked, or nothing.
const (
	ResumeAlways = "always"
	ResumeAsk    = "ask"
	ResumeNever  = "never"
)

// HookMark is the start of the attention mark that a failed hook leaves, so that its success can remove the mark.
const HookMark = "hook "

const (
	limitMark = "limit until "
	limitTime = "2006-01-02 15:04 MST"
)

// LimitMark is the attention mark of a task whose agent ended at a limit of its provider. The limit is over at the
// full minute after until.
func LimitMark(role, provider string, until time.Time) string {
	return fmt.Sprintf("%s%s: the %s has ended at one of %q, and the monitor starts it again then", limitMark,
		LimitText(until), role, provider)
}

// LimitText is when a limit is over, for people: the full minute after it.
func LimitText(until time.Time) string {
	return until.UTC().Add(time.Minute - time.Nanosecond).Format(limitTime)
}

// LimitOf is until when a task waits by its attention mark for its provider's limit to be over; false where the mark
// speaks of something else.
func LimitOf(mark string) (until time.Time, is bool) {
	rest, is := strings.CutPrefix(mark, limitMark)
	if !is {
		return until, false
	}
	until, err := time.Parse(limitTime, rest[:min(len(rest), len(limitTime))])
	return until, err == nil
}

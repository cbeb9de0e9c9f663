package forge

import (
	"errors"
	"fmt"
	"time"

	"orange/internal/rules/record"
)

// How long a host is left alone that could not be asked: first, and at most.
const (
	firstPause = 2 * time.Minute
	mostPause  = time.Hour
)

// reserve is the part of the quota, as one of so many, that the monitor leaves to people and their programs.
const reserve = 5

// Pause is what follows for the next look from what the last one met: after an error the monitor waits twice as long
// each time, and it leaves a fifth of the quota to people. before is the pause before the look; answered reports
// whether it learned anything.
func Pause(before record.ForgePause, q Quota, answered bool, met error, now time.Time) record.ForgePause {
	next := record.ForgePause{Host: before.Host}
	limit, limited := errors.AsType[*Limited](met)
	switch {
	case limited && limit.Until.After(now):
		next.Until, next.Why = limit.Until, "its quota of calls is used up"
	case met != nil && !answered:
		next.Failures = before.Failures + 1
		wait := firstPause
		for i := 1; i < next.Failures && wait < mostPause; i++ {
			wait *= 2
		}
		next.Until, next.Why = now.Add(min(wait, mostPause)), met.Error()
	case q.Limit > 0 && q.Remaining < q.Limit/reserve && q.Reset.After(now):
		next.Until = q.Reset
		next.Why = fmt.Sprintf("%d of its %d calls are left, and the last fifth is for you", q.Remaining, q.Limit)
	}
	return next
}

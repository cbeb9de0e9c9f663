package query

import "orange/internal/rules/history"

// reviewers counts those that were started in the review that a task is in, or was in last: those of one round. A
// reviewer that is started again, after a crash or because the branch has moved, is in the same round.
func reviewers(events []history.Event) int {
	n := 0
	for i := range events {
		switch e := &events[i]; {
		case e.IsMove() && e.From != e.To && startsReview(events[i+1:]):
			n = 0
		case e.Type == history.ReviewStarted:
			n++
		}
	}
	return n
}

// startsReview reports whether a reviewer is started before the task moves on.
func startsReview(events []history.Event) bool {
	for i := range events {
		if e := &events[i]; e.Type == history.ReviewStarted || e.IsMove() && e.From != e.To {
			return e.Type == history.ReviewStarted
		}
	}
	return false
}

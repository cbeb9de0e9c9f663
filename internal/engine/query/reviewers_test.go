package query

import (
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func TestReviewers_countsThoseOfOneRound(t *testing.T) {
	t.Parallel()
	move := func(from, to task.Status) history.Event {
		return history.Event{Type: history.StatusChanged, From: from, To: to}
	}
	started, crashed := history.Event{Type: history.ReviewStarted}, history.Event{Type: history.AgentCrashed}
	for want, events := range map[int][]history.Event{
		0: {move("pending", "working")},
		1: {move("working", "agent-review"), started},
		2: {move("working", "agent-review"), started, crashed, started, move("agent-review", "reviewing")},
		3: {move("working", "agent-review"), started, move("agent-review", "working"), move("working", "agent-review"),
			started, crashed, started, move("agent-review", "agent-review"), started},
	} {
		if got := reviewers(events); got != want {
			t.Errorf("found %d reviewers, want %d, in %+v", got, want, events)
		}
	}
}

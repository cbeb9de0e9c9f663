package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

const (
	// mergesEvery is how often tasks are looked at whose merge may have been cut short.
	mergesEvery = 30 * time.Second
	// mergesAtMost is the longest that a merge is left alone which could not be made good: each look waits twice as
	// long as the one before, for it may ask origin.
	mergesAtMost = time.Hour
)

// merge is how the merge of a task was found last.
type merge struct {
	seq   int // the last event of the task then
	open  bool
	rest  time.Duration // from that look to the next one
	again time.Time
}

// goOnMerging has the engine look at each task that can be merged, where something has happened to it since the last
// look. A merge that could not be made good is looked at again, less and less often.
func (m *Monitor) goOnMerging(ctx context.Context, live []task.Task) error {
	before := m.merges
	m.merges = map[string]merge{}
	var all error
	for i := range live {
		t := &live[i]
		def, err := m.Rules.Pinned(ctx, t.Workflow)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		if !canMerge(def, t.Status) {
			continue
		}
		last, known := before[t.ID]
		if known && last.seq == t.Seq && (!last.open || m.Now().Before(last.again)) {
			m.merges[t.ID] = last
			continue
		}
		rest := mergesEvery
		if known && last.open {
			rest = min(2*last.rest, mergesAtMost)
		}
		told, open, err := m.Engine.GoOnMerging(ctx, t.ID)
		if err != nil {
			all = errors.Join(all, fmt.Errorf("go on with the merge of task %s: %w", t.ID, err))
		}
		if told != "" {
			m.tell(ctx, *t, told)
		}
		m.merges[t.ID] = merge{seq: t.Seq, open: open, rest: rest, again: m.Now().Add(rest)}
	}
	return all
}

// canMerge reports whether a merge leads on from a status.
func canMerge(def *workflow.Definition, status task.Status) bool {
	merged, known := def.Move(workflow.MoveMerge)
	return known && slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool {
		return edge.From == status && edge.To == merged
	})
}

package monitor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orange/internal/rules/task"
)

const (
	// waitingEvery is how often tasks are looked at that wait for others. The end of a task starts those that wait for
	// it at once: this look finds what others did, and what a killed process left.
	waitingEvery = 30 * time.Second
	// waitingAgain is how long a task is left alone whose others are all over and that still cannot start: only the
	// repository may have changed meanwhile.
	waitingAgain = time.Minute
)

// waits is how a task that waits for others was found last.
type waits struct {
	over  string    // those of the others that were over or deleted
	again time.Time // when to look again where all are
}

// waiting has the engine look at each task that waits for others, where another one of those is over by now. A task
// whose others all live costs nothing.
func (m *Monitor) waiting(ctx context.Context, live []task.Task) error {
	before := m.waits
	m.waits = map[string]waits{}
	var alive map[string]bool
	var all error
	for i := range live {
		t := &live[i]
		if !t.WaitsForTasks() {
			continue
		}
		if alive == nil {
			alive = make(map[string]bool, len(live))
			for j := range live {
				alive[live[j].ID] = true
			}
		}
		var over []string
		for _, id := range t.After {
			if !alive[id] {
				over = append(over, id)
			}
		}
		found, every := waits{over: strings.Join(over, ",")}, len(over) == len(t.After)
		switch known := before[t.ID]; {
		case len(over) == 0:
		case known.over == found.over && (!every || m.Now().Before(known.again)):
			m.waits[t.ID] = known
		default:
			if err := m.startWaiting(ctx, t, every); err != nil {
				all = errors.Join(all, err)
				continue
			}
			found.again = m.Now().Add(waitingAgain)
			m.waits[t.ID] = found
		}
	}
	return all
}

// startWaiting has one task started if nothing is missing, and tells people if something will not come. Origin is asked
// once in a while for all tasks of a project.
func (m *Monitor) startWaiting(ctx context.Context, t *task.Task, every bool) error {
	last, asked := m.fetched[t.Project]
	fetch := every && (!asked || m.Now().Sub(last) >= waitingAgain)
	if fetch {
		if m.fetched == nil {
			m.fetched = map[string]time.Time{}
		}
		m.fetched[t.Project] = m.Now()
	}
	out, err := m.Engine.StartWaiting(ctx, t.ID, fetch)
	if err != nil {
		return fmt.Errorf("start task %s: %w", t.ID, err)
	}
	if mark := out.Task.Attention; mark != "" && mark != t.Attention && !out.Moved {
		m.tell(ctx, out.Task, mark)
	}
	return nil
}

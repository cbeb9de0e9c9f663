package monitor

import (
	"context"
	"fmt"
	"time"

	"orange/internal/rules/task"
)

// lostRest is how long no other agent must have been found lost before people hear of all of them in one line.
const lostRest = 2 * time.Second

// lost is what people will hear of agents that ended with their terminal server or the machine.
type lost struct {
	with   string // which
	agents int    // how many are started again
	since  time.Time
	last   time.Time
}

// noteLost counts an agent that has ended with its machine and is started again.
func (m *Monitor) noteLost(with string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Now()
	if m.lost.agents == 0 {
		m.lost = lost{with: with, since: now}
	}
	m.lost.agents++
	m.lost.last = now
}

// tellLost tells people in one line of all agents that ended with their machine, once that is all of them.
func (m *Monitor) tellLost(ctx context.Context, rest time.Duration) {
	m.mu.Lock()
	told := m.lost
	if told.agents == 0 || m.Now().Sub(told.last) < rest {
		m.mu.Unlock()
		return
	}
	m.lost = lost{}
	m.mu.Unlock()
	agents := "1 agent"
	if told.agents > 1 {
		agents = fmt.Sprintf("%d agents", told.agents)
	}
	after := told.with
	if after != "a reboot" {
		after = "the loss of " + after
	}
	at := told.since.Local().Format("15:04")
	m.Log.Info("agents were lost", "component", "monitor", "with", told.with, "agents", told.agents)
	m.tell(ctx, task.Task{}, fmt.Sprintf("restarted %s after %s, found at %s", agents, after, at))
}

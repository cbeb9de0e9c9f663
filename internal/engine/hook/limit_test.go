package hook_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func TestNoAgentStartsWhileItsProviderLimitsAnotherTask(t *testing.T) {
	t.Parallel()
	now := time.Now()
	limited := func(provider string, since, until time.Time) history.Event {
		return history.Event{Type: history.AgentLimited, Time: since, Data: map[string]string{
			"provider": provider, history.DataUntil: task.FormatTime(until)}}
	}
	const longestHold = time.Hour
	hour := now.Add(time.Hour)
	for _, tt := range []struct {
		name   string
		events []history.Event
		held   bool
	}{
		{"no task waits", nil, false},
		{"one waits for the same provider", []history.Event{limited("claude", now, hour)}, true},
		{"one waits for another provider", []history.Event{limited("openai", now, hour)}, false},
		{"the limit is over", []history.Event{limited("claude", now.Add(-time.Hour), now)}, false},
		{"a person has started that agent again", []history.Event{limited("claude", now, hour),
			{Type: history.AgentRespawned}}, false},
		{"a person tries this start again", []history.Event{limited("claude", now, hour),
			{Type: history.HooksRetried, Actor: task.RoleHuman}}, false},
		{"Orange tries this start again", []history.Event{limited("claude", now, hour),
			{Type: history.HooksRetried, Actor: task.ActorEngine}}, true},
		{"it is waited for long already", []history.Event{limited("claude", now.Add(-longestHold), hour)}, false},
		{"the clock was set back", []history.Event{limited("claude", hour, hour.Add(time.Hour))}, false},
	} {
		h, p := newExecutor(t)
		p.parked = tt.events
		_, err := h.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
		held := err != nil && strings.Contains(err.Error(), "task other waits for it") &&
			strings.Contains(err.Error(), "orange task retry abc")
		if held != tt.held || err != nil && !held {
			t.Errorf("%s: %v", tt.name, err)
		}
		if started := strings.Contains(strings.Join(p.calls, "\n"), "start"); started == tt.held {
			t.Errorf("%s: it did %q", tt.name, p.calls)
		}
	}
}

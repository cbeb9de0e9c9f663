package monitor

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"orange/internal/rules/task"
)

// People hear of all agents that ended with one machine in one line, when no more of them are found.
func TestTellLost_reportsAllAgentsOfALostMachineInOneLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 3, 12, 0, 0, time.Local)
	var told []string
	m := &Monitor{Now: func() time.Time { return now },
		Log: slog.New(slog.DiscardHandler), Tell: func(_ context.Context, _ task.Task, text string) {
			told = append(told, text)
		}}
	m.tellLost(t.Context(), 0)
	for range 5 {
		m.noteLost("a reboot")
		now = now.Add(lostRest - 1)
		m.tellLost(t.Context(), lostRest)
	}
	now = now.Add(1)
	m.tellLost(t.Context(), lostRest)
	m.tellLost(t.Context(), lostRest)
	now = now.Add(time.Hour)
	m.noteLost("the terminal server")
	m.tellLost(t.Context(), 0)
	want := []string{"restarted 5 agents after a reboot, found at 03:12",
		"restarted 1 agent after the loss of the terminal server, found at 04:12"}
	if !slices.Equal(told, want) {
		t.Errorf("people hear %q, want %q", told, want)
	}
}

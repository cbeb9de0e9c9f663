package monitor_test

import (
	"slices"
	"testing"
	"time"

	"orange/internal/rules/task"
)

func TestOnce_checksAWaitingTaskWhenAPredecessorIsOver(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	now := noon
	m.Now = func() time.Time { return now }
	w.tasks = []task.Task{
		{ID: "first", Live: true, Status: "build"},
		{ID: "waits", Live: true, Status: "build", After: []string{"first"}},
		{ID: "half", Live: true, Status: "build", After: []string{"first", "gone"}},
		{ID: "all", Live: true, Status: "build", After: []string{"gone"}},
		{ID: "too", Live: true, Status: "build", After: []string{"gone"}},
	}
	w.broken = "it will not come"
	once := func(want ...string) {
		t.Helper()
		w.waited = nil
		must(t, m.Once(t.Context()))
		if !slices.Equal(w.waited, want) {
			t.Errorf("looked at %q, want %q", w.waited, want)
		}
	}
	// One whose others all live costs nothing, and origin is asked once for all tasks of a project.
	once("half false", "all true", "too false")
	if want := "half: it will not come; orange task why half"; !slices.Contains(w.told, want) {
		t.Errorf("told was %q, want %q", w.told, want)
	}
	once()
	now = now.Add(time.Minute) // what was missing in the repository may be there by now
	once("all true", "too false")
	w.tasks = w.tasks[1:] // the first one is over
	once("waits false", "half false")
}

package monitor_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"orange/internal/rules/task"
)

func TestOnce_goesOnWithMergesThatWereCutShort(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	now := noon
	m.Now = func() time.Time { return now }
	w.tasks = []task.Task{
		{ID: "cut", Live: true, Status: "ready", Seq: 7},
		{ID: "whole", Live: true, Status: "ready", Seq: 7},
		{ID: "early", Live: true, Status: "build", Seq: 7},
	}
	w.cut = map[string]string{"cut": "nothing was merged"}
	once := func(want ...string) {
		t.Helper()
		w.merges = nil
		must(t, m.Once(t.Context()))
		if !slices.Equal(w.merges, want) {
			t.Errorf("looked at %q, want %q", w.merges, want)
		}
	}
	// One without such a merge is looked at again only after something has happened to it.
	once("cut", "whole")
	if want := "cut: nothing was merged; orange task why cut"; !slices.Contains(w.told, want) {
		t.Errorf("told was %q, want %q", w.told, want)
	}
	once()
	w.tasks[1].Seq++
	once("whole")
	// One that could not be made good is looked at less and less often: origin may be asked.
	for _, rest := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		now = now.Add(rest - time.Second)
		once()
		now = now.Add(time.Second)
		once("cut")
	}
	now = now.Add(time.Hour)
	for range 10 {
		once("cut")
		now = now.Add(time.Hour)
	}
	w.fails["merge cut"] = errors.New("no route to origin")
	if err := m.Once(t.Context()); err == nil || err.Error() != "go on with the merge of task cut: no route to origin" {
		t.Errorf("the error is %v", err)
	}
}

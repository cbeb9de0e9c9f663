package task_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/rules/task"
)

func TestTrouble_namesAWatcherThatIsStoppedOrDoesNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for name, tt := range map[string]struct {
		watcher       task.Watcher
		found, advice string
	}{
		"one that watches":         {task.Watcher{PID: 7, Heard: now.Add(-task.MostSilent)}, "", ""},
		"one that was heard later": {task.Watcher{PID: 7, Heard: now.Add(time.Hour)}, "", ""},
		"one that is not known":    {task.Watcher{}, "", ""},
		"one that is stopped": {task.Watcher{PID: 7, Heard: now, Stopped: true},
			"process 7 has the lease of the monitor and is stopped", `"kill -CONT 7"`},
		"one that does nothing": {task.Watcher{PID: 7, Heard: now.Add(-task.MostSilent - time.Second)},
			"process 7 has the lease of the monitor and has done nothing since 2024-05-06 07:07:08", `"kill 7"`},
	} {
		found, advice := tt.watcher.Trouble(now)
		if (found == "") != (tt.found == "") || !strings.HasPrefix(found, tt.found) ||
			(advice == "") != (tt.advice == "") || !strings.Contains(advice, tt.advice) {
			t.Errorf("%s: found %q and %q", name, found, advice)
		}
	}
}

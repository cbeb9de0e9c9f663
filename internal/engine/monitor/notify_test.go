package monitor_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/engine/monitor"
	"orange/internal/rules/task"
)

func TestNotifier_runsThePersonsProgramWithTheWordsReplaced(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "said")
	one := task.Task{ID: "abc", Project: "garden", Branch: "fix"}
	var log bytes.Buffer
	n := monitor.Notifier{Log: slog.New(slog.NewTextHandler(&log, nil)),
		Argv: []string{"sh", "-c", `echo "$@" > "$0"`, file, "{project}/{branch}", "{task}: {message}"}}
	n.Notify(t.Context(), one, "look")
	if text, err := os.ReadFile(file); err != nil || string(text) != "garden/fix abc: look\n" {
		t.Errorf("it said %q, %v", text, err)
	}
	n.Argv = nil
	n.Notify(t.Context(), one, "look")
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
	n.Argv = []string{"no-such-program"}
	n.Notify(t.Context(), one, "look")
	if !strings.Contains(log.String(), "the notification failed") {
		t.Errorf("logged: %q", &log)
	}
}

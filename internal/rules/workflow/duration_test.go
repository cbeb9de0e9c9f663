package workflow_test

import (
	"testing"
	"time"

	"orange/internal/rules/workflow"
)

func TestDuration_isWrittenWithoutPartsThatAreNothing(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{6 * time.Hour: "6h", 90 * time.Minute: "1h30m", time.Minute: "1m",
		90 * time.Second: "1m30s", 10 * time.Hour: "10h", 5 * time.Second: "5s", 45 * time.Minute: "45m",
		36*time.Hour + 10*time.Minute: "36h10m", time.Hour + 5*time.Second: "1h0m5s"} {
		if got := workflow.Duration(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
}

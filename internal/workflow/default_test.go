package workflow_test

import (
	"os"
	"testing"

	"orange/internal/workflow"
)

func usual(t *testing.T) workflow.Usual {
	t.Helper()
	text, err := os.ReadFile("../../workflows/usual.yml")
	if err != nil {
		t.Fatal(err)
	}
	u, err := workflow.ParseUsual("usual.yml", text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestTheDefaultWorkflowLoads(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../workflows/default.yml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := workflow.Parse("default.yml", text, usual(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.States) != 9 || len(d.Transitions) != 21 {
		t.Errorf("found %d states and %d transitions, want 9 and 21", len(d.States), len(d.Transitions))
	}
}

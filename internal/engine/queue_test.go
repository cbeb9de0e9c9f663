package engine_test

import (
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestAPoolThatIsTaken_namesWhoHasIt(t *testing.T) {
	t.Parallel()
	got := engine.TakenBy(task.Project{Name: "garden", PoolSize: 2}, []record.Holder{
		{Task: "a", Branch: "x", Status: "working"}, {Task: "b", Branch: "y", Status: "stuck"}})
	if want := `all 2 workspaces of "garden" are taken: a (x, working), b (y, stuck)`; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

package projection_test

import (
	"testing"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

// parse reads a workflow, with what is usual implied.
func parse(tb testing.TB, file string, text []byte) *workflow.Definition {
	tb.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		tb.Fatal(err)
	}
	def, err := workflow.Parse(file, text, usual)
	if err != nil {
		tb.Fatal(err)
	}
	return def
}

// newTask is a task with a workspace, in a status.
func newTask(status task.Status) task.Task {
	return task.Task{ID: "T1", Project: "shop", Branch: "fix-login", Summary: "Mend the login", Status: status,
		Workspace: "w1", Live: true, Version: 7, Seq: 3}
}

func shippedWorkflow(tb testing.TB, name string) *workflow.Definition {
	tb.Helper()
	text, err := workflows.Files.ReadFile(name + ".yml")
	if err != nil {
		tb.Fatal(err)
	}
	return parse(tb, name+".yml", text)
}

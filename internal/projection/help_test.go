package projection_test

import (
	"os"
	"testing"

	"orange/internal/task"
	"orange/internal/workflow"
)

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// parse reads a workflow, with what is usual implied.
func parse(tb testing.TB, file string, text []byte) *workflow.Definition {
	tb.Helper()
	usual, err := workflow.ParseUsual("usual.yml", read(tb, "../../workflows/usual.yml"))
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
	return parse(tb, name+".yml", read(tb, "../../workflows/"+name+".yml"))
}

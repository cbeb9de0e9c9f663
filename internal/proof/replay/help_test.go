package replay_test

import (
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

// noon is the time of the decisions in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shippedWorkflow reads a built-in workflow.
func shippedWorkflow(tb testing.TB, name string) *workflow.Definition {
	tb.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := workflows.Files.ReadFile(name + ".yml")
	if err != nil {
		tb.Fatal(err)
	}
	def, err := workflow.Parse(name+".yml", text, usual)
	if err != nil {
		tb.Fatal(err)
	}
	return def
}

// newTask is a task with a workspace, in a status.
func newTask(status task.Status) task.Task {
	return task.Task{
		ID: "T1", Project: "shop", Branch: "fix-login", Summary: "Mend the login", Status: status,
		Workspace: "w1", Live: true, Version: 7, Seq: 3,
	}
}

func docOf(body string) *document.Document {
	return document.Read([]byte("---\nid: T1\n---\n\n" + body))
}

// tiny is a workflow that is made by hand.
func tiny(edges []workflow.Transition, rules ...workflow.Rule) *workflow.Definition {
	return &workflow.Definition{
		Name: "tiny",
		States: []workflow.State{{Name: "todo"}, {Name: "busy", Role: "worker"}, {Name: "help"},
			{Name: "lost", Terminal: true}},
		Transitions: edges, Exit: workflow.Exit{Rules: rules},
	}
}

const aPassText = "## Review\nVerdict: PASS\n"

// evidence is a document that was read.
func evidence(body string) decide.Evidence { return decide.Evidence{Document: docOf(body)} }

func human() task.Actor { return task.Actor{Role: task.RoleHuman} }

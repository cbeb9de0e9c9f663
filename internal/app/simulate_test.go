package app

import (
	"testing"

	"orange/internal/cli"
	"orange/internal/workflow"
	"orange/workflows"
)

func shippedWorkflow(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	text, err := workflows.Files.ReadFile(name + ".yml")
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse(name+".yml", text, usual)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func BenchmarkSimulation(b *testing.B) {
	def := shippedWorkflow(b, "default")
	setup := cli.UsualSimulation()
	setup.Runs = 100
	for b.Loop() {
		if _, err := simulated(b.Context(), def, setup, joinWorld); err != nil {
			b.Fatal(err)
		}
	}
}

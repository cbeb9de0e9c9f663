package workflow_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/workflow"
)

var update = flag.Bool("update", false, "write what the errors are now into the golden files")

func folder(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", name, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no files in %s (%v)", name, err)
	}
	return files
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func load(t *testing.T, file string) *workflow.Definition {
	t.Helper()
	d, err := workflow.Parse(filepath.Base(file), read(t, file), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryMistakeIsToldAtItsPlace(t *testing.T) {
	t.Parallel()
	for _, file := range folder(t, "err") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			t.Parallel()
			_, err := workflow.Parse(filepath.Base(file), read(t, file), usual(t))
			if err == nil {
				t.Fatal("it loads, expected problems")
			}
			golden(t, file, err.Error()+"\n")
		})
	}
}

// golden compares what learns of a file with what is written down next to it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	out := strings.TrimSuffix(file, ".yml") + ".out"
	if *update {
		if err := os.WriteFile(out, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(read(t, out)); got != want {
		t.Errorf("%s is not what is told; go test ./internal/rules/workflow -update writes it\ngot:\n%swant:\n%s", out,
			got, want)
	}
}

// Each file is called by the rule that it shows.
func TestEverySlipIsToldAtItsPlace(t *testing.T) {
	t.Parallel()
	for _, file := range folder(t, "warn") {
		rule := strings.TrimSuffix(filepath.Base(file), ".yml")
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			found := load(t, file).Warnings()
			for _, w := range found {
				if w.Rule != rule {
					t.Errorf("found a warning of another rule: %v", w)
				}
			}
			golden(t, file, found.Error()+"\n")
		})
	}
}

func TestEverySoundWorkflowLoads(t *testing.T) {
	t.Parallel()
	for _, file := range folder(t, "ok") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			load(t, file)
		})
	}
}

// Two roles may have one prompt, with permissions of their own: the role is the state's, where the hook names none.
func TestAPromptOfTwoRolesIsNoOddStart(t *testing.T) {
	t.Parallel()
	for _, w := range load(t, "testdata/ok/one-prompt-for-two-roles.yml").Warnings() {
		if w.Rule == "odd-start" {
			t.Error(w)
		}
	}
}

package workflow_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/workflow"
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
			golden := strings.TrimSuffix(file, ".yml") + ".out"
			got := err.Error() + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, golden)); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
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

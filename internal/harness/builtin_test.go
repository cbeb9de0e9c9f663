package harness_test

import (
	"os"
	"path/filepath"
	"testing"

	"orange/internal/harness"
)

func TestEveryShippedHarnessLoads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../harnesses/*.yml")
	if err != nil || len(files) != 5 {
		t.Fatalf("found %d harness files (%v), want 5", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := harness.Parse(file, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if h.Name+".yml" != filepath.Base(file) {
			t.Errorf("%s is called %q", file, h.Name)
		}
	}
}

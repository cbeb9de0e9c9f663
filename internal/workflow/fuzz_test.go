package workflow_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/workflow"
	"orange/internal/yaml"
)

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yml", "../../workflows/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	text, err := os.ReadFile("../../workflows/usual.yml")
	if err != nil {
		f.Fatal(err)
	}
	names, err := workflow.ParseUsual("usual.yml", text)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := workflow.Parse("fuzz.yml", text, names)
		if (d == nil) == (err == nil) {
			t.Fatalf("got %v and %v, want one of them", d, err)
		}
		var problems yaml.Problems
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("got %T, want problems", err)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Col < 1 {
				t.Errorf("%v has no place", p)
			}
		}
	})
}

package graph_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/graph"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

// A task that pinned an earlier text hears what the present one asks for beyond it.
func TestChanges_tellWhatAnotherTextAsksFor(t *testing.T) {
	t.Parallel()
	present := shippedText(t)
	tests := map[string]struct {
		earlier string
		want    []string
	}{
		"the same": {present, nil},
		"a condition": {cut(t, present, "      - git: committed\n"), []string{
			"- working -> agent-review", "+ working -> agent-review  worker, human: ## Handoff, git committed; "}},
		"a state's words": {strings.Replace(present, "override: strict\n", "", 1), []string{
			"+ no one sets a verdict aside"}},
	}
	for name, tt := range tests {
		got := graph.Changes(parsed(t, "default.yml", []byte(tt.earlier)), parsed(t, "default.yml", []byte(present)))
		if len(got) != len(tt.want) || !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func cut(t *testing.T, text, part string) string {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("default.yml has no %q", part)
	}
	return strings.Replace(text, part, "", 1)
}

func shippedText(t *testing.T) string {
	t.Helper()
	text, err := workflows.Files.ReadFile("default.yml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parsed(t *testing.T, file string, text []byte) *workflow.Definition {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	d, err := workflow.Parse(file, text, usual)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

package explore_test

import (
	"os"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/workflow"
)

func TestFilesCanAllowAndTheManualExplainsEveryProperty(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../../docs/properties.md")
	if err != nil {
		t.Fatal(err)
	}
	names := workflow.Properties()
	if len(names) != len(explore.Properties()) {
		t.Fatalf("a file can allow %v", names)
	}
	for i, p := range explore.Properties() {
		if names[i] != p.Name {
			t.Errorf("a file can allow %q, want %q", names[i], p.Name)
		}
		if row := "| " + p.Name + " | " + p.About + " |"; !strings.Contains(string(manual), row) {
			t.Errorf("the manual has no row %q", row)
		}
	}
}

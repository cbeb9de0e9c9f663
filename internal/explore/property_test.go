package explore_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"orange/internal/explore"
	"orange/internal/workflow"
)

func TestThePropertiesAreThoseThatAFileCanAllowAndTheManualExplains(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/properties.md")
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

func TestTheEditionIsAnotherOneWhenThePropertiesAre(t *testing.T) {
	t.Parallel()
	const edition, properties = 6, "aaf502f2f3ee4e94"
	if got := fmt.Sprintf("%x",
		sha256.Sum256(fmt.Append(nil, explore.Properties())))[:16]; explore.Edition != edition || got != properties {
		t.Errorf("found edition %d of %s, want %d of %s: where more is proved than before raise "+
			"explore.Edition, and note both here", explore.Edition, got, edition, properties)
	}
}

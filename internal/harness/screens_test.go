package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/harness"
)

// The screens were recorded from the real programs, in the versions that the harness files name. Their names say how
// the program was: idle, busy, with a draft in its editor, at a question, or at its provider's limit.
func TestThePatternsOfABuiltInHarnessMatchTheScreensOfItsProgram(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/screens/*/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d screens (%v), expected at least 20", len(files), err)
	}
	// A message may be typed while the program is at work: it keeps it for later. Into a draft it would be put, and
	// a question it would answer.
	ready := map[string]bool{"idle": true, "busy": true, "limited": true}
	// gemini asks whether to try again, and opencode tries again by itself and shows that it is at work.
	asksAtALimit := map[string]bool{"gemini": true}
	for _, file := range files {
		screen := read(t, file)
		program := filepath.Base(filepath.Dir(file))
		state, _, _ := strings.Cut(filepath.Base(file), "-")
		h, err := harness.Parse(program+".yml", []byte(read(t, "../../harnesses/"+program+".yml")))
		if err != nil {
			t.Fatal(err)
		}
		dialog := state == "dialog" || state == "limited" && asksAtALimit[program]
		if got := h.Ready.MatchString(screen); got != (ready[state] && !dialog) {
			t.Errorf("%s: ready matches: %v", file, got)
		}
		if got := h.Dialog != nil && h.Dialog.MatchString(screen); got != dialog {
			t.Errorf("%s: dialog matches: %v", file, got)
		}
		if got := h.Busy.MatchString(screen); state != "draft" && state != "limited" && got != (state == "busy") {
			t.Errorf("%s: busy matches: %v", file, got)
		}
		if got := h.Limit(screen); (got != "") != (state == "limited") {
			t.Errorf("%s: the line that tells of a limit: %q", file, got)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

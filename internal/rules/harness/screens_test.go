package harness_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/harness"
)

// The screens were recorded from the real programs, in the versions that the harness files name. Their names say how
// the program was: idle, busy, with a draft in its editor, at a question, at its provider's limit, as which an
// error of the model counts that passes by itself, or refused by its model.
func TestBuiltInHarnessesMatchRecordedScreensOfTheirPrograms(t *testing.T) {
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
		h, err := harness.Parse(program+".yml", []byte(read(t, "../../../harnesses/"+program+".yml")))
		if err != nil {
			t.Fatal(err)
		}
		dialog := state == "dialog" || asksAtALimit[program] && filepath.Base(file) == "limited-1.txt"
		refused := state == "refused"
		if got := h.Ready.MatchString(screen); !refused && got != (ready[state] && !dialog) {
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
		if got := h.Refusal(screen); state != "limited" && (got != "") != refused {
			t.Errorf("%s: the line that tells of a refusal: %q", file, got)
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

// Programs that are not run here have patterns only where public projects show their screens. Each screen is put
// together from such projects, whose names its first line says, and proves no more than that.
func TestPatternsOfProgramsThatAreNotRunMatchPublicScreens(t *testing.T) {
	t.Parallel()
	for _, h := range shipped(t) {
		files, err := filepath.Glob("testdata/public/" + h.Name + "/*.txt")
		if err != nil || len(files) > 0 && h.Run != harness.NeverRun {
			t.Errorf("%s was run, and has screens that were not recorded (%v)", h.Name, err)
		}
		var states []string
		for _, file := range files {
			source, screen, _ := strings.Cut(read(t, file), "\n")
			if !strings.HasPrefix(source, "# ") || !strings.Contains(source, "put together from") {
				t.Errorf("%s does not say where it is from: %q", file, source)
			}
			state, _, _ := strings.Cut(filepath.Base(file), "-")
			states = append(states, state)
			for _, c := range []struct {
				key     string
				pattern *regexp.Regexp
				want    bool
			}{
				{"dialog", h.Dialog, state == "dialog"},
				{"busy", h.Busy, state == "busy"},
				{"ready", h.Ready, state == "idle" || state == "busy" && h.Name != "goose"},
			} {
				found := c.pattern != nil && c.pattern.MatchString(screen)
				if c.pattern != nil && found != c.want && (state != "dialog" || c.key != "busy") {
					t.Errorf("%s: %s matches: %v", file, c.key, found)
				}
			}
		}
		if h.Run != harness.NeverRun {
			continue
		}
		for _, c := range []struct {
			pattern *regexp.Regexp
			needs   []string
		}{{h.Busy, []string{"busy", "idle"}}, {h.Ready, []string{"busy", "idle", "draft", "dialog"}}} {
			for _, state := range c.needs {
				if c.pattern != nil && !slices.Contains(states, state) {
					t.Errorf("%s has %q, and no screen that is %s", h.Name, c.pattern, state)
				}
			}
		}
	}
}

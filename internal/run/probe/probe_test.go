package probe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/harness"
	"orange/internal/run/probe"
)

// program makes a program of this name the only agent on PATH, and answers a harness that calls it.
func program(t *testing.T, script string, words ...string) *harness.Harness {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thinker"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	text := "name: thinker\nversion: 1.2.0\nrun: never\nworker:\n  command: [thinker"
	for _, word := range words {
		text += fmt.Sprintf(", %q", word)
	}
	h, err := harness.Parse("thinker.yml", []byte(text+"]\nenv: {THINKER_UPDATES: \"off\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTest_looksForEachFlagInTheHelpOfItsSubcommand(t *testing.T) {
	h := program(t, `case "$*" in
	--version) echo "warning: old" >&2; echo "thinker 1.3.0 $THINKER_UPDATES"; echo "Run 'thinker update'.";;
	"go --help") echo "  -y, --yes  do not ask" >&2; exit 2;;
	*) exit 1;;
	esac`, "go", "--yes", "--deep={effort}", "{prompt}")
	r, err := probe.Test(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	want := []harness.Flag{{Command: "thinker go", Name: "--deep"}, {Command: "thinker go", Name: "--yes", Found: true}}
	if r.Version != "thinker 1.3.0 off" || !r.Newer() || r.OK() || !slices.Equal(r.Flags, want) {
		t.Errorf("found %+v", r)
	}
}

func TestTest_tellsAProgramThatIsMissingOrSilent(t *testing.T) {
	h := program(t, "exit 3")
	r, err := probe.Test(t.Context(), h)
	if err != nil || r.OK() || !strings.Contains(r.Trouble, `"thinker --version" said nothing, and ended with status 3`) {
		t.Errorf("found %+v, %v", r, err)
	}
	h.Program = "no-such-thinker"
	if r, err = probe.Test(t.Context(), h); err != nil || r.OK() || !strings.Contains(r.Trouble, "no-such-thinker") {
		t.Errorf("found %+v, %v", r, err)
	}
}

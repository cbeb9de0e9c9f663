package mutation

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// AreFound tests that without each rule of the list a test fails. It takes minutes.
func (s Suite) AreFound(t *testing.T) {
	t.Helper()
	if os.Getenv("ORANGE_TEST_LONG") == "" {
		t.Skip("the tests are run once for each mutation: ORANGE_TEST_LONG=1")
	}
	list := s.broken(t)
	var packages []string
	for _, m := range list {
		if !slices.Contains(packages, m.tests) {
			packages = append(packages, m.tests)
		}
	}
	for _, p := range packages { // else everything would count as found
		if out, passed := s.testsWith(t, p, ""); !passed {
			t.Fatalf("the tests of %s fail although no rule is broken:\n%s", p, out)
		}
	}
	for _, m := range list {
		t.Run(fmt.Sprintf("%s line %d", m.file, m.line), func(t *testing.T) {
			t.Parallel()
			out, passed := s.testsWith(t, m.tests, s.overlay(t, m))
			switch {
			case passed:
				t.Errorf("%s:%d: no test of %s fails without the rule: %s", s.List, m.line, m.tests, m.rule)
			case !strings.Contains(out, "--- FAIL: ") && !strings.Contains(out, "panic: "):
				t.Errorf("%s:%d: the tests could not be run:\n%s", s.List, m.line, out)
			default:
				t.Logf("%s: %s", m.rule, firstFailure(out))
			}
		})
	}
}

// overlay has the compiler read the broken file instead of the one in the tree.
func (s Suite) overlay(t *testing.T, m mutation) string {
	t.Helper()
	dir := t.TempDir()
	whole, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	instead := filepath.Join(dir, m.file)
	list, err := json.Marshal(map[string]map[string]string{"Replace": {whole: instead}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{instead: m.broken(t, s.List, plain(t, m.file)),
		filepath.Join(dir, "overlay.json"): string(list)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}

// testsWith runs the tests of a package, those of every day and not the long ones. What is drawn and fails is not
// made smaller, nor kept.
func (s Suite) testsWith(t *testing.T, tests, overlay string) (out string, passed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "tests")
	build := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program}
	if overlay != "" {
		build = append(build, "-overlay="+overlay)
	}
	if said, err := exec.CommandContext(ctx, "go", append(build, tests)...).CombinedOutput(); err != nil {
		return string(said), false
	}
	run := []string{"-test.failfast", "-test.timeout=5m"}
	if draws(t, tests) {
		run = append(run, "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	which := []string{"-test.skip=" + s.Skip}
	if s.Heavy != "" {
		which = []string{"-test.skip=" + s.Skip + "|" + s.Heavy, "-test.run=" + s.Heavy}
	}
	for _, some := range which {
		command := exec.CommandContext(ctx, program, append(run, some)...)
		command.Dir = tests
		command.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
			return strings.HasPrefix(pair, "ORANGE_")
		})
		said, err := command.CombinedOutput()
		if out += string(said); err != nil {
			return out, false
		}
	}
	return out, true
}

// draws reports whether a package has tests that draw what they try.
func draws(t *testing.T, tests string) bool {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(tests, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(file string) bool {
		return strings.Contains(read(t, file), "\t\"pgregory.net/rapid\"\n")
	})
}

func firstFailure(out string) string {
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "--- FAIL: ") || strings.HasPrefix(line, "panic: ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

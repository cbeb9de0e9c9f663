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
	if out, passed := s.testsWith(t, ""); !passed { // else everything would count as found
		t.Fatalf("the tests fail although no rule is broken:\n%s", out)
	}
	for _, m := range readList(t) {
		t.Run(fmt.Sprintf("%s line %d", m.file, m.line), func(t *testing.T) {
			t.Parallel()
			out, passed := s.testsWith(t, overlay(t, m))
			switch {
			case passed:
				t.Errorf("%s:%d: no test fails without the rule: %s", listPath, m.line, m.rule)
			case !strings.Contains(out, "--- FAIL: ") && !strings.Contains(out, "panic: "):
				t.Errorf("%s:%d: the tests could not be run:\n%s", listPath, m.line, out)
			default:
				t.Logf("%s: %s", m.rule, firstFailure(out))
			}
		})
	}
}

// overlay has the compiler read the broken file instead of the one in the tree.
func overlay(t *testing.T, m mutation) string {
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
	for path, text := range map[string]string{instead: m.broken(t, plain(t, m.file)),
		filepath.Join(dir, "overlay.json"): string(list)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}

// testsWith runs the package's tests, those of every day and not the long ones. What is drawn and fails is not made
// smaller, nor kept.
func (s Suite) testsWith(t *testing.T, overlay string) (out string, passed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "tests")
	build := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program}
	if overlay != "" {
		build = append(build, "-overlay="+overlay)
	}
	if said, err := exec.CommandContext(ctx, "go", build...).CombinedOutput(); err != nil {
		return string(said), false
	}
	run := []string{"-test.failfast", "-test.timeout=5m"}
	if draws(t) {
		run = append(run, "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	which := []string{"-test.skip=" + listTest}
	if s.Heavy != "" {
		which = []string{"-test.skip=" + listTest + "|" + s.Heavy, "-test.run=" + s.Heavy}
	}
	for _, some := range which {
		command := exec.CommandContext(ctx, program, append(run, some)...)
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

// draws reports whether the package has tests that draw what they try.
func draws(t *testing.T) bool {
	t.Helper()
	all, err := filepath.Glob("*_test.go")
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

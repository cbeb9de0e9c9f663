package decide_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const mutations = "testdata/mutations.txt"

// mutation is one rule, broken on purpose.
type mutation struct {
	line     int
	file     string // of this room
	rule     string // as it holds, in words
	old, new string
	tests    string // the package whose tests must tell
}

// broken reads the list.
func broken(t *testing.T) []mutation {
	t.Helper()
	var out []mutation
	for i, line := range strings.Split(string(read(t, mutations)), "\n") {
		kind, text, _ := strings.Cut(line, " ")
		if kind == "==" {
			file, rule, said := strings.Cut(text, ": ")
			if !said {
				t.Fatalf("%s:%d: found %q, expected the file and the rule", mutations, i+1, text)
			}
			out = append(out, mutation{line: i + 1, file: file, rule: rule, tests: "."})
			continue
		}
		if kind == "" || kind == "#" || strings.HasPrefix(kind, "#\t") {
			continue
		}
		if len(out) == 0 {
			t.Fatalf("%s:%d: found %q before any rule", mutations, i+1, line)
		}
		switch m := &out[len(out)-1]; kind {
		case "-":
			m.old = strings.TrimPrefix(m.old+"\n"+text, "\n")
		case "+":
			m.new = strings.TrimPrefix(m.new+"\n"+text, "\n")
		case "@":
			m.tests = text
		default:
			t.Fatalf("%s:%d: found %q, expected ==, -, + or @", mutations, i+1, line)
		}
	}
	return out
}

var indentation = regexp.MustCompile(`(?m)^\t+`)

// plain is a file without its indentation, as the list has it.
func plain(t *testing.T, file string) string {
	t.Helper()
	return indentation.ReplaceAllString(string(read(t, file)), "")
}

// broken is the file with the rule broken; text is the file as it stands.
func (m mutation) broken(t *testing.T, text string) string {
	t.Helper()
	if n := strings.Count(text, m.old); n != 1 || m.old == "" {
		t.Errorf("%s:%d: the text stands %d times in %s, not once: say anew how to break the rule\n%s", mutations, m.line, n, m.file, m.old)
		return ""
	}
	text = strings.Replace(text, m.old, m.new, 1)
	if _, err := parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution); err != nil {
		t.Errorf("%s:%d: the broken %s is no Go: %v", mutations, m.line, m.file, err)
	}
	return text
}

func TestEveryMutationStillFitsTheSource(t *testing.T) {
	t.Parallel()
	list := broken(t)
	rules, files := map[string]int{}, map[string]string{}
	for _, m := range list {
		if files[m.file] == "" {
			files[m.file] = plain(t, m.file)
		}
		if before := rules[m.rule]; before != 0 {
			t.Errorf("%s:%d: the rule stands on line %d already: %s", mutations, m.line, before, m.rule)
		}
		rules[m.rule] = m.line
		if m.old == m.new {
			t.Errorf("%s:%d: nothing is broken", mutations, m.line)
		}
		m.broken(t, files[m.file])
	}
	room, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range room {
		if files[file] == "" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("no rule of %s is broken in %s", file, mutations)
		}
	}
	if len(list) < 60 {
		t.Errorf("%d mutations are too few", len(list))
	}
	t.Logf("%d mutations of %d files", len(list), len(files))
}

// One of them: ORANGE_TEST_LONG=1 go test -run 'TestEveryRule.*/exit.go_line_500' ./internal/decide
func TestEveryRuleThatIsBrokenOnPurposeMakesATestFail(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORANGE_TEST_LONG") == "" {
		t.Skip("the tests are run once for each mutation: ORANGE_TEST_LONG=1")
	}
	list := broken(t)
	var packages []string
	for _, m := range list {
		if !slices.Contains(packages, m.tests) {
			packages = append(packages, m.tests)
		}
	}
	for _, p := range packages { // else everything would count as found
		if out, passed := testsWith(t, p, ""); !passed {
			t.Fatalf("the tests of %s fail although no rule is broken:\n%s", p, out)
		}
	}
	for _, m := range list {
		t.Run(fmt.Sprintf("%s line %d", m.file, m.line), func(t *testing.T) {
			t.Parallel()
			out, passed := testsWith(t, m.tests, overlay(t, m))
			switch {
			case passed:
				t.Errorf("%s:%d: no test of %s fails without the rule: %s", mutations, m.line, m.tests, m.rule)
			case !strings.Contains(out, "--- FAIL: ") && !strings.Contains(out, "panic: "):
				t.Errorf("%s:%d: the tests could not be run:\n%s", mutations, m.line, out)
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
	for path, text := range map[string]string{instead: m.broken(t, plain(t, m.file)), filepath.Join(dir, "overlay.json"): string(list)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}

// heavy are tests that take long. They are run where the others find nothing.
const heavy = "TestAReplay_makes|TestEveryEarlierProjection|TestLaws|TestWhy_saysWhat"

// testsWith runs the tests of a package, those of every day and not the long ones. What is drawn and fails is not made smaller, nor kept.
func testsWith(t *testing.T, tests, overlay string) (out string, passed bool) {
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
	if drawn, err := filepath.Glob(filepath.Join(tests, "*_test.go")); err != nil {
		t.Fatal(err)
	} else if slices.ContainsFunc(drawn, func(file string) bool { return strings.Contains(string(read(t, file)), "\t\"pgregory.net/rapid\"\n") }) {
		run = append(run, "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	for _, which := range []string{"-test.skip=TestEveryMutation|" + heavy, "-test.run=" + heavy} {
		command := exec.CommandContext(ctx, program, append(run, which)...)
		command.Dir = tests
		command.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "ORANGE_") })
		said, err := command.CombinedOutput()
		if out += string(said); err != nil {
			return out, false
		}
	}
	return out, true
}

func firstFailure(out string) string {
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "--- FAIL: ") || strings.HasPrefix(line, "panic: ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

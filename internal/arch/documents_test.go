package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testsHere are the names of all tests, those of the fleet too.
func testsHere(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for _, f := range sources(t) {
		if f.test {
			for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(page(t, f.path), -1) {
				tests[match[1]] = true
			}
		}
	}
	return tests
}

// A recipe that names what is gone leads the next engineer astray.
func TestTheRecipesNameFilesAndTestsThatExist(t *testing.T) {
	t.Parallel()
	tests := testsHere(t)
	code := regexp.MustCompile("`([^`\n]+)`")
	inside := regexp.MustCompile(`^(internal|cmd|docs|workflows|harnesses|demo|tools)/\S*$`)
	for _, name := range []string{"CONTRIBUTING.md", "AGENTS.md", "docs/fleet-server.md"} {
		found := 0
		for _, match := range code.FindAllStringSubmatch(page(t, name), -1) {
			switch word := match[1]; {
			case regexp.MustCompile(`^Test[A-Z]\w+$`).MatchString(word):
				found++
				if !tests[word] {
					t.Errorf("%s names the test %s, which is not there: name the one that took its place", name, word)
				}
			case inside.MatchString(word):
				found++
				there, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(word)))
				if err != nil || len(there) == 0 {
					t.Errorf("%s names the file %s, which is not there: name the one that took its place", name, word)
				}
			}
		}
		if found == 0 {
			t.Errorf("found no file and no test in %s", name)
		}
	}
}

// A row of docs/proof.md about attackers of a fleet is a promise: a test's comment has its words, and every such
// comment is of a row.
func TestEveryThingThatAnAttackerOfAFleetCannotDoHasATest(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(page(t, "docs/proof.md"), "\n| cannot |")
	table, _, _ = strings.Cut(table, "\n\n")
	promised := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^\| (\w[^|]+) \| `).FindAllStringSubmatch(table, -1) {
		promised[match[1]] = true
	}
	if len(promised) < 8 {
		t.Errorf("found %d rows, expected 8 at least", len(promised))
	}
	for what := range strings.SplitSeq("unsigned|expired|twice|another host|stale|report|snapshot|signer", "|") {
		if !strings.Contains(table, what) {
			t.Errorf("the table does not say what comes of: %s", what)
		}
	}
	tried := map[string]bool{}
	named := regexp.MustCompile(`(?m)((?:^//.*\n)*)^func (TestAttacker\w+)\(`)
	said := regexp.MustCompile(`(?m)^// Attackers cannot \(docs/proof\.md\): (.+)\.$`)
	for _, f := range sources(t) {
		if !f.test {
			continue
		}
		text := page(t, f.path)
		for _, match := range said.FindAllStringSubmatch(text, -1) {
			if tried[match[1]] = true; !promised[match[1]] {
				t.Errorf("%s: docs/proof.md does not say that attackers cannot %s", f.path, match[1])
			}
		}
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			if !said.MatchString(match[1]) {
				t.Errorf("%s: the comment of %s does not say what attackers cannot do", f.path, match[2])
			}
		}
	}
	for what := range promised {
		if !tried[what] {
			t.Errorf("no test's comment says: Attackers cannot (docs/proof.md): %s.", what)
		}
	}
}

func TestTheSettingsAreInTheDocs(t *testing.T) {
	t.Parallel()
	_, settings, _ := strings.Cut(page(t, "docs/commands.md"), "\n## Settings\n")
	settings, _, _ = strings.Cut(settings, "\n## ")
	const file = "internal/store/home/home.go"
	_, table, _ := strings.Cut(page(t, file), "func (h *Home) Config() ")
	table, _, _ = strings.Cut(table, "\n}\n")
	keys := regexp.MustCompile(`yaml\.(?:May|Must)\("([a-z_]+)"`).FindAllStringSubmatch(table, -1)
	if len(keys) < 5 {
		t.Fatalf("found %d keys of config.yml in %s, expected at least 5", len(keys), file)
	}
	for _, key := range keys {
		if !strings.Contains(settings, "`"+key[1]+"`") {
			t.Errorf(`docs/commands.md has no row for %s under "Settings"`, key[1])
		}
	}
}

func TestTheTargetsOfTheMakefileAreInTheDocs(t *testing.T) {
	t.Parallel()
	targets := regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(page(t, "Makefile"), -1)
	if len(targets) < 10 {
		t.Fatalf("found %d targets with a help text in the Makefile, expected at least 10", len(targets))
	}
	for _, target := range targets {
		if !strings.Contains(page(t, "CONTRIBUTING.md"), "\n| `make "+target[1]+"` | ") {
			t.Errorf("CONTRIBUTING.md has no row for make %s", target[1])
		}
	}
}

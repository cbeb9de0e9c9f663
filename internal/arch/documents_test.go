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

// A row that names a test that is gone promises what no one checks.
func TestTheTablesOfRulesAndReportsNameWhatExists(t *testing.T) {
	t.Parallel()
	tests := testsHere(t)
	code := regexp.MustCompile("`([^`\n]+)`")
	stories := regexp.MustCompile("(?:story|stories) (?:`[A-Za-z_0-9.-]+`(?:,? and |, )?)+")
	for name, least := range map[string]int{"docs/conformance.md": 200, "docs/agents/reported.md": 20} {
		found := 0
		for _, said := range stories.FindAllString(page(t, name), -1) {
			for _, match := range code.FindAllStringSubmatch(said, -1) {
				if strings.HasPrefix(match[1], "Test") || strings.HasSuffix(match[1], ".txt") {
					continue // the next in the list, looked for below
				}
				found++
				file := filepath.Join(root, "cmd", "orange", "testdata", "*", match[1]+".txtar")
				if there, err := filepath.Glob(file); err != nil || len(there) == 0 {
					t.Errorf("%s names the story %s, which is not there", name, match[1])
				}
			}
		}
		for _, match := range code.FindAllStringSubmatch(page(t, name), -1) {
			switch word := match[1]; {
			case regexp.MustCompile(`^Test[A-Z]\w+$`).MatchString(word):
				found++
				if !tests[word] {
					t.Errorf("%s names the test %s, which is not there", name, word)
				}
			case regexp.MustCompile(`^\d{3}-[a-z-]+\.txt$`).MatchString(word):
				found++
				file := filepath.Join(root, "internal", "rules", "decide", "testdata", "stories", word)
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s names the story %s, which is not there", name, word)
				}
			}
		}
		if found < least {
			t.Errorf("found %d tests and stories in %s, expected %d at least", found, name, least)
		}
	}
}

// A "cannot" of docs/proof.md is a promise: a test tries it, and every test of an attacker is at a promise.
func TestEveryThingThatAnAttackerOfAFleetCannotDoHasATest(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(page(t, "docs/proof.md"), "\n## Three attackers of a fleet\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, table, _ := strings.Cut(section, "\n| cannot |")
	table, _, _ = strings.Cut(table, "\n\n")
	tests, named, rows := testsHere(t), map[string]bool{}, 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		if !strings.HasPrefix(row, "| ") || len(cells) < 4 {
			continue
		}
		rows++
		found := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(found) == 0 {
			t.Errorf("no test is named at %q", cells[0])
		}
		for _, match := range found {
			if named[match[1]] = true; !tests[match[1]] {
				t.Errorf("%q names the test %s, which is not there", cells[0], match[1])
			}
		}
	}
	if rows < 8 {
		t.Errorf("found %d rows, expected 8 at least", rows)
	}
	for name := range tests {
		if strings.HasPrefix(name, "TestAttacker") && !named[name] {
			t.Errorf("docs/proof.md does not name the test %s", name)
		}
	}
	for what := range strings.SplitSeq("unsigned|expired|repeat|another host|stale|report|snapshot|signer", "|") {
		if !strings.Contains(table, what) {
			t.Errorf("the table does not say what comes of: %s", what)
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

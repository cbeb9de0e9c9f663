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

// A recipe that names what is gone leads the next engineer astray.
func TestTheRecipesNameFilesAndTestsThatExist(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	for _, f := range sources(t) {
		if f.test {
			for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(page(t, f.path), -1) {
				tests[match[1]] = true
			}
		}
	}
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

func TestTheSettingsAreInTheDocs(t *testing.T) {
	t.Parallel()
	_, settings, _ := strings.Cut(page(t, "docs/commands.md"), "\n## Settings\n")
	settings, _, _ = strings.Cut(settings, "\n## ")
	const file = "internal/home/home.go"
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

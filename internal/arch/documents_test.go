package arch

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
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
func TestTheRecipesNameFilesThatExist(t *testing.T) {
	t.Parallel()
	inside := regexp.MustCompile("`((?:internal|cmd|docs|workflows|harnesses|demo|tools)/\\S*?)`")
	for _, name := range []string{"CONTRIBUTING.md", "AGENTS.md", "ARCHITECTURE.md"} {
		found := inside.FindAllStringSubmatch(page(t, name), -1)
		for _, match := range found {
			there, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(match[1])))
			if err != nil || len(there) == 0 {
				t.Errorf("%s names the file %s, which is not there: name the one that took its place", name, match[1])
			}
		}
		if len(found) == 0 {
			t.Errorf("found no file in %s", name)
		}
	}
}

// So does one that names what a file has no longer: each name of a recipe is in a file or a folder that it names.
func TestTheRecipesNameWhatTheirFilesHave(t *testing.T) {
	t.Parallel()
	file := regexp.MustCompile("`([a-z]+/[^`\\s]*)`")
	name := regexp.MustCompile("`(?:\\w+\\.)?([A-Za-z]+)`")
	recipes := strings.Split(page(t, "CONTRIBUTING.md"), "\n## A new ")[1:]
	for _, recipe := range recipes {
		recipe, _, _ = strings.Cut(recipe, "\n## ")
		title, _, _ := strings.Cut(recipe, "\n")
		var texts strings.Builder
		for _, match := range file.FindAllStringSubmatch(recipe, -1) {
			pattern := filepath.Join(root, filepath.FromSlash(match[1]))
			if strings.HasSuffix(match[1], "/") {
				pattern = filepath.Join(pattern, "*.go")
			}
			paths, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range paths {
				text, err := os.ReadFile(one)
				if err != nil && !errors.Is(err, syscall.EISDIR) {
					t.Fatal(err)
				}
				texts.Write(text)
			}
		}
		for _, match := range name.FindAllStringSubmatch(recipe, -1) {
			if !regexp.MustCompile(`\b` + match[1] + `\b`).MatchString(texts.String()) {
				t.Errorf("CONTRIBUTING.md, A new %s: none of its files has %s: name what took its place", title,
					match[0])
			}
		}
	}
	if len(recipes) < 10 {
		t.Errorf("found %d recipes", len(recipes))
	}
}

// pages are the texts for people, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("found no pages %s: %v", pattern, err)
		}
		for _, path := range paths {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			out[filepath.ToSlash(name)] = page(t, filepath.ToSlash(name))
		}
	}
	return out
}

// A test may name the page that it holds to its word; a page that names tests is a second list of them.
func TestPagesNameNoTest(t *testing.T) {
	t.Parallel()
	for name, text := range pages(t) {
		if found := regexp.MustCompile("`Test[A-Z]\\w+`").FindString(text); found != "" {
			t.Errorf("%s names the test %s: let the comment of the test name the page", name, found)
		}
	}
}

// A link in a page leads to a page, and to a heading of it.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	all, links := pages(t), 0
	for name, text := range all {
		for _, match := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			file, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			links++
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s leads to %s, which is not there", name, match[1])
			} else if heading != "" && !anchors(all[target])[heading] {
				t.Errorf("%s leads to %s, and %s has no such heading", name, match[1], target)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links", links)
	}
}

// anchors are the names by which GitHub leads to the headings of a page.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\p{L}\p{N}\- _]`).ReplaceAllString(strings.ToLower(match[1]), "")
		out[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return out
}

// A row of docs/proof.md about attackers of a fleet is a promise: a test's comment has its words, and every such
// comment is of a row.
func TestEachPromiseAboutAttackersOfAFleetHasATest(t *testing.T) {
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

// Package mutation breaks the rules of other packages on purpose and has their tests find out. Only tests import it.
//
// It owns the list of a package's rules, what keeps the list true to the source, and how a package's tests are run
// without one of its rules. It does not own which rules there are: each package has a list of its own under
// testdata.
package mutation

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Suite is a package whose rules are broken on purpose. Its tests run in the package's folder, where the list is.
type Suite struct {
	Least int      // how many rules it has at least
	Heavy string   // tests that take long, as a pattern: they are run where the others find nothing; empty for none
	Files []string // those that have a rule in the list, where only some of the package's files do
}

const (
	listPath = "testdata/mutations.txt" // says how to break each rule
	listTest = "TestEveryMutation"      // the test that calls Fits: it fails for every broken rule, and tells nothing
)

type mutation struct {
	line     int
	file     string // of the package
	rule     string // as it holds, in words
	old, new string
}

func readList(t *testing.T) []mutation {
	t.Helper()
	out, err := parse(listPath, read(t, listPath))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var indentation = regexp.MustCompile(`(?m)^\t+`)

// plain is a file without its indentation, as a list has it.
func plain(t *testing.T, file string) string {
	t.Helper()
	return indentation.ReplaceAllString(read(t, file), "")
}

var opening = regexp.MustCompile(`\\[({]`)

// place matches the text to replace wherever its lines are broken: between words, and after an opening bracket.
func (m mutation) place() *regexp.Regexp {
	words := strings.Fields(m.old)
	for i, word := range words {
		words[i] = opening.ReplaceAllString(regexp.QuoteMeta(word), `$0\s*`)
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}

// broken is the file with the rule broken; text is the file as it is. It is empty where the list does not fit the
// file any more.
func (m mutation) broken(t *testing.T, text string) string {
	t.Helper()
	found := m.place().FindAllStringIndex(text, -1)
	if len(found) != 1 || m.old == "" {
		t.Errorf("%s:%d: the text occurs %d times in %s, not once: say again how to break the rule\n%s",
			listPath, m.line, len(found), m.file, m.old)
		return ""
	}
	text = text[:found[0][0]] + m.new + text[found[0][1]:]
	if _, err := parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution); err != nil {
		t.Errorf("%s:%d: the broken %s is no Go: %v", listPath, m.line, m.file, err)
		return ""
	}
	return text
}

// Fits tests that every rule of the list can still be broken as it says, that the package compiles then, and that
// each file has a rule.
func (s Suite) Fits(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	list := readList(t)
	pkg := openPackage(t)
	rules, files := map[string]int{}, map[string]string{}
	for _, m := range list {
		if files[m.file] == "" {
			files[m.file] = plain(t, m.file)
		}
		if before := rules[m.rule]; before != 0 {
			t.Errorf("%s:%d: the rule is on line %d already: %s", listPath, m.line, before, m.rule)
		}
		rules[m.rule] = m.line
		if m.old == m.new {
			t.Errorf("%s:%d: nothing is broken", listPath, m.line)
		}
		if text := m.broken(t, files[m.file]); text != "" {
			if err := pkg.compiles(m.file, text); err != nil {
				t.Errorf("%s:%d: the broken %s does not compile: %v", listPath, m.line, m.file, err)
			}
		}
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range names {
		listed := len(s.Files) == 0 || slices.Contains(s.Files, file)
		if files[file] == "" && listed && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("no rule of %s is broken in %s", file, listPath)
		}
	}
	if len(list) < s.Least {
		t.Errorf("%d mutations are too few", len(list))
	}
	t.Logf("%d mutations of %d files", len(list), len(files))
}

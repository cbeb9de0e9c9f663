package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ban is an expression that the texts of this repository do without, and what to write instead.
type ban struct {
	words   string // a regular expression; case does not matter, and a space matches a line break too
	instead string
	but     string // a regular expression: the words are allowed where it matches what follows them
}

// banned holds only what a program can find without false alarms. CONTRIBUTING.md has the rest of the style.
func banned() []ban {
	return []ban{
		{words: `(some|any|every|no)body('s)?`, instead: `the actor, or "someone", "anyone", "everyone", "no one"`},
		{words: `who(m|se)?ever`, instead: `the actor, or "anyone who"`},
		{words: `anew`, instead: `"again"`},
		{words: `beside`, instead: `"next to", "besides" or "as well as"`},
		{words: `stands`, instead: `"is"`, but: `(in )?for|still|out`},
		{words: `(is|are|was|were|be|been|being) told`, instead: `actor and verb, such as "Orange tells the worker"`},
		{words: `(says|tells) whether`, instead: `"reports whether"`},
		{words: `(reports|says|tells) if`, instead: `"reports whether"`},
		{words: `pretended`, instead: `"simulated" or "fake"`},
		{words: `puts? right`, instead: `"correct", "restore" or "repair"`},
		{words: `for ever`, instead: `"forever"`},
		{words: `a word about`, instead: `what is said`},
		{words: `lest|ere|hitherto|henceforth|aught|naught`, instead: `a word of today`},
	}
}

// houseWords are words that only the authors of Orange know: no text that the program prints has them. In comments they
// are names of what the code does.
func houseWords() []ban {
	return []ban{
		{words: `owe[sd]?`, instead: `what is still to be done`},
		{words: `(has|have|sets?) (set )?going`, instead: `"starts"`},
		{words: `put up (by|at)`, instead: `"handed in"`},
		{words: `reach(ed|es)? a person`, instead: `"needed a person"`},
		{words: `found no one`, instead: `who waits for what`},
		{words: `what is there counts`, instead: `which text counts`},
		{words: `(timeouts|stays) told`, instead: `"timeouts"`},
		{words: `to do: let it work`, instead: `nothing`},
	}
}

// finder finds every banned expression in one pass over a text.
type finder struct {
	bans []ban
	all  *regexp.Regexp
	one  []*regexp.Regexp
	but  []*regexp.Regexp
}

func newFinder(bans []ban) finder {
	f := finder{bans: bans}
	var all []string
	for _, b := range f.bans {
		words := strings.ReplaceAll(b.words, " ", `\s+`)
		all = append(all, words)
		f.one = append(f.one, regexp.MustCompile(`(?i)^(`+words+`)$`))
		f.but = append(f.but, regexp.MustCompile(`(?i)^\s+(`+strings.ReplaceAll(b.but, " ", `\s+`)+`)\b`))
	}
	f.all = regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
	return f
}

// text is a piece of prose with its place.
type text struct {
	path string
	line int
	body string
}

// problems has a line for each banned expression in a text.
func (f finder) problems(t text) []string {
	var out []string
	for _, at := range f.all.FindAllStringIndex(t.body, -1) {
		found := t.body[at[0]:at[1]]
		if strings.HasPrefix(t.body[at[1]:], "-") {
			continue // a part of a name, such as that of a property
		}
		n := slices.IndexFunc(f.one, func(one *regexp.Regexp) bool { return one.MatchString(found) })
		if f.bans[n].but != "" && f.but[n].MatchString(t.body[at[1]:]) {
			continue
		}
		out = append(out, fmt.Sprintf("%s:%d: found %q, write %s", t.path,
			t.line+strings.Count(t.body[:at[0]], "\n"), strings.Join(strings.Fields(found), " "), f.bans[n].instead))
	}
	return out
}

// goTexts are the comments of a Go file and, unless it is a test, its string literals.
// Import paths, tags of fields and directives of the compiler are no prose.
func goTexts(path string, set *token.FileSet, tree *ast.File) []text {
	var out []text
	add := func(at token.Pos, body string) {
		out = append(out, text{path, set.Position(at).Line, body})
	}
	for _, group := range tree.Comments {
		var body []string
		for _, c := range group.List {
			body = append(body, strings.TrimPrefix(c.Text, "//"))
		}
		add(group.Pos(), strings.Join(body, "\n"))
	}
	if strings.HasSuffix(path, "_test.go") {
		return out
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				add(n.Pos(), n.Value)
			}
		}
		return true
	})
	return out
}

// fileTexts reads the prose of files that are not Go source.
func fileTexts(t *testing.T) []text {
	t.Helper()
	// Code in a page is output of the program or a name; a story's files are compared with the program.
	code := regexp.MustCompile("(?s)\n```.*?\n```|`[^`\n]*`")
	blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	var out []text
	for pattern, prose := range map[string]func(string) string{
		"*.md":             func(s string) string { return code.ReplaceAllStringFunc(s, blank) },
		"docs/*.md":        func(s string) string { return code.ReplaceAllStringFunc(s, blank) },
		"workflows/*.yml":  nil,
		"workflows/*.json": nil,
		"harnesses/*.yml":  nil,
		"skills/*/*.md":    nil,
		"demo/*":           nil,
		"Makefile":         nil,
		".golangci.yml":    nil,
		".ci/*":            nil,
		"cmd/orange/testdata/script/*.txtar": func(s string) string {
			return regexp.MustCompile(`(?m)^[^#].*$`).ReplaceAllString(strings.SplitN(s, "\n-- ", 2)[0], "")
		},
	} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("found no file %s: %v", pattern, err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
			if prose == nil {
				prose = func(s string) string { return s }
			}
			out = append(out, text{name, 1, prose(string(body))})
		}
	}
	return out
}

// Words that a reader of today trips over, and sentences that hide who acts, cost every reader time.
func TestTextsAreInPlainEnglish(t *testing.T) {
	t.Parallel()
	texts, f := fileTexts(t), newFinder(banned())
	for _, source := range sources(t) {
		if source.path == filepath.Join("internal", "arch", "words_test.go") {
			continue // it has every one of these words
		}
		set, tree, _ := parsed(t, source)
		texts = append(texts, goTexts(source.path, set, tree)...)
	}
	for _, one := range texts {
		for _, problem := range f.problems(one) {
			t.Error(problem)
		}
	}
}

func TestTextsOfTheProgram_haveNoWordsThatOnlyItsAuthorsKnow(t *testing.T) {
	t.Parallel()
	f, read := newFinder(houseWords()), 0
	for _, source := range sources(t) {
		if source.pkg == "" || source.test || slices.Contains([]string{"proof/simulate", "proof/explore"}, source.pkg) {
			continue // those two speak to authors of workflows, in the words of their manual
		}
		set, tree, _ := parsed(t, source)
		tree.Comments = nil
		for _, one := range goTexts(source.path, set, tree) {
			read++
			for _, problem := range f.problems(one) {
				t.Error(problem)
			}
		}
	}
	if read < 5000 {
		t.Errorf("read %d texts, expected those of the whole program", read)
	}
	planted := text{"a.go", 1, "the task owes 2 hooks, put up by Ada"}
	if found := f.problems(planted); len(found) != 2 {
		t.Errorf("found %q in a planted text", found)
	}
}

func TestAPlantedSentenceIsFound(t *testing.T) {
	t.Parallel()
	const source = "// Package planted is read anew\n// by somebody.\npackage planted\n\n" +
		"// F says\n// whether x stands for y, and where it stands.\n" +
		"var text = \"the worker is told\" + `what\nnobody reads` // beside\n"
	for path, want := range map[string][]string{
		"planted/a.go": {
			`planted/a.go:1: found "anew"`, `planted/a.go:2: found "somebody"`,
			`planted/a.go:5: found "says whether"`, `planted/a.go:6: found "stands"`,
			`planted/a.go:7: found "is told"`, `planted/a.go:8: found "nobody"`, `planted/a.go:8: found "beside"`,
		},
		"planted/a_test.go": {
			`planted/a_test.go:1: found "anew"`, `planted/a_test.go:2: found "somebody"`,
			`planted/a_test.go:5: found "says whether"`, `planted/a_test.go:6: found "stands"`,
			`planted/a_test.go:8: found "beside"`,
		},
	} {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, one := range goTexts(path, set, tree) {
			for _, problem := range newFinder(banned()).problems(one) {
				place, _, _ := strings.Cut(problem, ", write ")
				found = append(found, place)
			}
		}
		slices.Sort(found)
		slices.Sort(want)
		if !slices.Equal(found, want) {
			t.Errorf("found %q, want %q", found, want)
		}
	}
}

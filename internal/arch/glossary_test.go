package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entry is a row of docs/glossary.md. Words that mean the same share a row.
type entry struct {
	words    []string
	packages []string
}

// exports are the exported names of one package: all of them, with fields, in lower case; and the types that are
// not interfaces.
type exports struct {
	names map[string]bool
	types map[string]bool
}

// plain makes "pull request" and "PullRequest" the same word.
func plain(word string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(word))
}

// list is a cell of the table: words or packages, with commas between them.
func list(cell string) []string {
	var out []string
	for _, one := range strings.Split(cell, ",") {
		out = append(out, strings.Trim(one, " `"))
	}
	return out
}

func glossary(page string) []entry {
	var out []entry
	for _, line := range strings.Split(page, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if strings.HasPrefix(line, "| ") && len(cells) == 3 && strings.TrimSpace(cells[0]) != "word" {
			out = append(out, entry{words: list(cells[0]), packages: list(cells[2])})
		}
	}
	return out
}

func exported(t *testing.T) map[string]exports {
	t.Helper()
	out := map[string]exports{}
	for _, f := range sources(t) {
		if f.test || f.pkg == "" {
			continue
		}
		name := path.Base(f.pkg)
		if out[name].names == nil {
			// The package's own name is the first that its callers write.
			out[name] = exports{map[string]bool{name: true}, map[string]bool{}}
		}
		_, tree, _ := parsed(t, f)
		for _, d := range tree.Decls {
			out[name].add(d)
		}
	}
	return out
}

func (e exports) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		e.name(d.Name)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					e.name(name)
				}
			case *ast.TypeSpec:
				e.name(s.Name)
				if fields, is := s.Type.(*ast.StructType); is && s.Name.IsExported() {
					for _, field := range fields.Fields.List {
						for _, name := range field.Names {
							e.name(name)
						}
					}
				}
				if _, is := s.Type.(*ast.InterfaceType); !is && s.Name.IsExported() {
					e.types[s.Name.Name] = true
				}
			}
		}
	}
}

func (e exports) name(n *ast.Ident) {
	if n.IsExported() {
		e.names[strings.ToLower(n.Name)] = true
	}
}

// has reports whether a name of the package contains one of the words.
func (e exports) has(words []string) bool {
	for _, word := range words {
		for name := range e.names {
			if strings.Contains(name, plain(word)) {
				return true
			}
		}
	}
	return false
}

// disagreements names each row that the packages contradict, and each row that is missing.
func disagreements(rows []entry, packages map[string]exports) []string {
	var out []string
	row := map[string]entry{}
	for _, r := range rows {
		for _, word := range r.words {
			if _, twice := row[plain(word)]; twice {
				out = append(out, fmt.Sprintf("row %q: the word has two rows, expected one", word))
			}
			row[plain(word)] = r
		}
		for _, name := range r.packages {
			switch p, exists := packages[name]; {
			case !exists:
				out = append(out, fmt.Sprintf("row %q: there is no package %q: take it out of the row",
					r.words[0], name))
			case !p.has(r.words):
				out = append(out, fmt.Sprintf("row %q: the package %q exports no name with %q in it: take it out of "+
					"the row, or the row out of the page", r.words[0], name, strings.Join(r.words, `" or "`)))
			}
		}
	}
	holders := map[string][]string{}
	for name, p := range packages {
		for kind := range p.types {
			holders[kind] = append(holders[kind], name)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(holders)) {
		want := holders[kind]
		slices.Sort(want)
		r, exists := row[plain(kind)]
		found := slices.Sorted(slices.Values(r.packages))
		switch cell := "`" + strings.Join(want, "`, `") + "`"; {
		case len(want) < 2:
		case !exists:
			out = append(out, fmt.Sprintf("no row for the type %s, which the packages %s export: rename it in all "+
				"but one, or add the row \"| %s | MEANING | %s |\"", kind, cell, strings.ToLower(kind), cell))
		case !slices.Equal(found, want):
			out = append(out, fmt.Sprintf("row %q: the type %s is exported by %s: make that the last cell of the "+
				"row, or rename the type", r.words[0], kind, cell))
		}
	}
	return out
}

// One word has one meaning, or the glossary says which package means what by it.
func TestTheGlossaryAndThePackagesUseTheSameWords(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := glossary(string(page))
	if len(rows) < 40 {
		t.Fatalf("found %d rows in docs/glossary.md, expected at least 40", len(rows))
	}
	for _, one := range disagreements(rows, exported(t)) {
		t.Errorf("docs/glossary.md, %s", one)
	}
}

func TestTheGlossarysTestFindsEachKindOfDisagreement(t *testing.T) {
	t.Parallel()
	packages := map[string]exports{
		"a": {names: map[string]bool{"pane": true, "killsession": true}, types: map[string]bool{"Pane": true}},
		"b": {names: map[string]bool{"pane": true}, types: map[string]bool{"Pane": true}},
	}
	for page, want := range map[string]string{
		"| pane | x | `a`, `b` |\n| session, tmux session | x | `a` |": "",
		"| session | x | `a` |":                    "no row for the type Pane",
		"| pane | x | `a` |":                       `row "pane": the type Pane is exported by`,
		"| pane | x | `a`, `b`, `c` |":             `row "pane": there is no package "c"`,
		"| pane | x | `a`, `b` |\n| x | x | `b` |": `row "x": the package "b" exports no name`,
	} {
		found := disagreements(glossary(page), packages)
		if len(found) == 0 != (want == "") || len(found) > 0 && !strings.HasPrefix(found[0], want) {
			t.Errorf("found %q of\n%s\nwant one that begins with %q", found, page, want)
		}
	}
}

package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rows are those of docs/glossary.md about types that several packages export: a type's word, in lower case and without
// blanks, with the packages that its cell names, each as "`name`:".
func rows(page string) map[string][]string {
	out := map[string][]string{}
	named := regexp.MustCompile("`([a-z]+)`:")
	for line := range strings.Lines(page) {
		cells := strings.Split(line, " | ")
		found := named.FindAllStringSubmatch(line, -1)
		if len(cells) != 2 || len(found) == 0 {
			continue
		}
		var packages []string
		for _, match := range found {
			packages = append(packages, match[1])
		}
		slices.Sort(packages)
		out[strings.ReplaceAll(strings.ToLower(strings.Trim(cells[0], "| ")), " ", "")] = packages
	}
	return out
}

// exported are the types that are no interfaces, each with the packages that export it.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, f := range sources(t) {
		if f.test || f.pkg == "" {
			continue
		}
		_, tree, _ := parsed(t, f)
		for _, d := range tree.Decls {
			types, is := d.(*ast.GenDecl)
			if !is {
				continue
			}
			for _, spec := range types.Specs {
				s, is := spec.(*ast.TypeSpec)
				if !is || !s.Name.IsExported() {
					continue
				}
				if _, is := s.Type.(*ast.InterfaceType); !is {
					out[s.Name.Name] = append(out[s.Name.Name], path.Base(f.pkg))
				}
			}
		}
	}
	return out
}

// disagreements names each row that the packages contradict, and each row that is missing.
func disagreements(rows map[string][]string, types map[string][]string) []string {
	var out []string
	right := map[string]bool{}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		holders := slices.Compact(slices.Sorted(slices.Values(types[kind])))
		if len(holders) < 2 {
			continue
		}
		word := strings.ToLower(kind)
		right[word] = true
		if found := rows[word]; !slices.Equal(found, holders) {
			out = append(out, fmt.Sprintf("the type %s is exported by %q, and its row names %q: rename it in all but "+
				"one, or let the row say what each means by it, as \"`package`: meaning\"", kind, holders, found))
		}
	}
	for _, word := range slices.Sorted(maps.Keys(rows)) {
		if !right[word] {
			out = append(out, fmt.Sprintf("the row %q is of no type that two packages export: take it out", word))
		}
	}
	return out
}

// One word has one meaning, or the glossary says which package means what by it.
func TestTheGlossaryAndThePackagesUseTheSameWords(t *testing.T) {
	t.Parallel()
	for _, one := range disagreements(rows(page(t, "docs/glossary.md")), exported(t)) {
		t.Errorf("docs/glossary.md: %s", one)
	}
}

func TestTheGlossarysTestFindsEachKindOfDisagreement(t *testing.T) {
	t.Parallel()
	types := map[string][]string{"Pane": {"a", "b"}, "Seat": {"a"}}
	for page, want := range map[string]string{
		"| word | of `a` |\n| pane | `a`: x; `b`: y |\n": "",
		"| pane | `a`: x |\n":                            "the type Pane is exported by",
		"":                                               "the type Pane is exported by",
		"| pane | `a`: x; `b`: y |\n| seat | `a`: x |\n": `the row "seat"`,
	} {
		found := disagreements(rows(page), types)
		if len(found) == 0 != (want == "") || len(found) > 0 && !strings.HasPrefix(found[0], want) {
			t.Errorf("found %q of\n%s\nwant one that begins with %q", found, page, want)
		}
	}
}

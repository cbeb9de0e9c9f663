package arch

import (
	"fmt"
	"go/doc"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ARCHITECTURE.md lists every floor and every package in the words of its own doc comment.
func TestArchitectureListsTheFloorsInTheWordsOfTheirPackages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(root, "ARCHITECTURE.md")
	text := page(t, "ARCHITECTURE.md")
	before, rest, found := strings.Cut(text, "\n## Floors\n")
	_, after, ends := strings.Cut(rest, "\n## ")
	if !found || !ends {
		t.Fatal("ARCHITECTURE.md has no section \"Floors\", or nothing after it")
	}
	made := before + "\n## Floors\n" + floorsSection(t) + "\n## " + after
	if made == text {
		return
	}
	if !*update {
		t.Fatal("the section \"Floors\" is not what the packages say: go test ./internal/arch -run Floors -update")
	}
	if err := os.WriteFile(path, []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
}

// floorsSection has the floors from the ground up, each with its packages.
func floorsSection(t *testing.T) string {
	t.Helper()
	docs := packageDocs(t)
	var out strings.Builder
	out.WriteString("\nFrom the ground up. `go test ./internal/arch -run Floors -update` writes this section.\n")
	for _, floor := range floors() {
		fmt.Fprintf(&out, "\n### %s\n\n`%s` %s\n\n| package | what it is |\n|---|---|\n", floor, floor,
			paragraphs(docs[floor]))
		for _, name := range slices.Sorted(maps.Keys(docs)) {
			if short, below := strings.CutPrefix(name, floor+"/"); below && !strings.Contains(short, "/") {
				fmt.Fprintf(&out, "| `%s` | %s |\n", short, said(new(doc.Package).Synopsis(docs[name])))
			}
		}
	}
	return out.String()
}

// packageDocs are the doc comments of the packages, by their path below internal.
func packageDocs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range sources(t) {
		if f.test || f.floor == "" {
			continue
		}
		if _, tree, _ := parsed(t, f); tree.Doc != nil {
			folder, _ := filepath.Rel("internal", filepath.Dir(f.path))
			out[filepath.ToSlash(folder)] = tree.Doc.Text()
		}
	}
	return out
}

// said is a doc comment without the words "Package" and its name.
func said(text string) string {
	words := strings.SplitN(strings.TrimSpace(text), " ", 3)
	return words[len(words)-1]
}

// paragraphs is a doc comment as Markdown: one line a paragraph.
func paragraphs(text string) string {
	all := strings.Split(said(text), "\n\n")
	for i, one := range all {
		all[i] = strings.ReplaceAll(one, "\n", " ")
	}
	return strings.Join(all, "\n\n")
}

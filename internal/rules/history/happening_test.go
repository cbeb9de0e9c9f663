package history_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orange/internal/rules/history"
)

func TestEventTypes_areAllThatThisPackageNames(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			constants, ok := d.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			ast.Inspect(constants, func(n ast.Node) bool {
				if word, ok := n.(*ast.BasicLit); ok && word.Kind == token.STRING {
					if text, err := strconv.Unquote(word.Value); err == nil &&
						regexp.MustCompile(`^[a-z]+\.[a-z]+$`).MatchString(text) {
						named = append(named, text)
					}
				}
				return true
			})
		}
	}
	slices.Sort(named)
	if known := slices.Sorted(slices.Values(history.EventTypes())); !slices.Equal(known, named) {
		t.Errorf("they are\n%v, and the package names\n%v", known, named)
	}
}

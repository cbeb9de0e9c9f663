package eventtext

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
)

func TestTheTableHasEachTypeOfEventOnce(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("../history")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), "../history/"+file.Name(), nil, 0)
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
	rows := Types()
	for _, event := range named {
		if !slices.Contains(rows, event) {
			t.Errorf("package history has the event %q: give it a row in kinds.go", event)
		}
	}
	if slices.Sort(rows); !slices.Equal(rows, named) {
		t.Errorf("the rows are\n%v, and the events of package history\n%v", rows, named)
	}
}

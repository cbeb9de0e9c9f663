package arch

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"
)

func columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}

// Text between backquotes cannot be split without becoming another text. In a test it is data, as a file below
// testdata would be; in the program every literal can be shorter, or be made of parts.
func TestLinesOfGoFitOnAScreen(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		set, tree, text := parsed(t, f)
		data := map[int]bool{}
		ast.Inspect(tree, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if ok && f.test && literal.Kind == token.STRING && literal.Value[0] == '`' {
				for i := set.Position(literal.Pos()).Line; i <= set.Position(literal.End()).Line; i++ {
					data[i] = true
				}
			}
			return true
		})
		for i, line := range strings.Split(string(text), "\n") {
			n := columns(line)
			if n <= maxColumns || data[i+1] {
				continue
			}
			t.Errorf("%s:%d has %d columns, at most %d", f.path, i+1, n, maxColumns)
		}
	}
}

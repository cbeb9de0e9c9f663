package harness_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"orange/internal/rules/harness"
)

// usedNames are the names of fields that the program uses, and does not only fill from a file.
func usedNames(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for _, pattern := range []string{"../../*/*.go", "../../*/*/*.go", "../../*/*/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if f, is := n.(*ast.FuncDecl); is && readsTheFile(f) {
					return false
				}
				if s, is := n.(*ast.SelectorExpr); is {
					used[s.Sel.Name] = true
				}
				return true
			})
		}
	}
	return used
}

// readsTheFile reports whether a function is a method of a type called reader.
func readsTheFile(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return false
	}
	name, is := f.Recv.List[0].Type.(*ast.Ident)
	return is && name.Name == "reader"
}

// A key that is read and not used would be a promise of the manual's that nothing keeps.
func TestEveryKeyOfAHarnessIsUsed(t *testing.T) {
	t.Parallel()
	used := usedNames(t)
	for _, of := range []any{harness.Harness{}, harness.Launch{}} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(of)) {
			if !used[field.Name] {
				t.Errorf("nothing uses the field %s of %T", field.Name, of)
			}
		}
	}
}

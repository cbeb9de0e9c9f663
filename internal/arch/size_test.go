package arch

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// noImports lets the type checker go on without the packages that a file imports.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

func TestTheModelOfTheDashboardStaysSmall(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(root, "internal", "dashboard", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := config.Check("dashboard", set, files, nil) // the imports are missing
	model, is := pkg.Scope().Lookup("Model").Type().(*types.Named)
	if !is {
		t.Fatal("there is no type Model")
	}
	if n := model.NumMethods(); n > maxMethods || n == 0 {
		t.Errorf("Model has %d methods, at most %d", n, maxMethods)
	}
}

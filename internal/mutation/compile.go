package mutation

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// source is a package as the compiler sees it, without its tests.
type source struct {
	path     string
	set      *token.FileSet
	files    map[string]*ast.File
	importer types.Importer
}

// openPackage reads the package in the present folder, and finds what it imports.
func openPackage(t *testing.T) *source {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps",
		"-json=ImportPath,Export,GoFiles", ".").Output()
	if err != nil {
		t.Fatalf("the package cannot be listed: %v\n%s", err, said)
	}
	r := &source{set: token.NewFileSet(), files: map[string]*ast.File{}}
	exports := map[string]string{}
	var own []string
	for decoder := json.NewDecoder(strings.NewReader(string(said))); ; {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		r.path, own = p.ImportPath, p.GoFiles // the package itself comes last
	}
	for _, name := range own {
		if r.files[name], err = parser.ParseFile(r.set, name, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	r.importer = importer.ForCompiler(r.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return r
}

// compiles checks whether the package has one meaning with another text in the place of a file.
func (r *source) compiles(file, text string) error {
	instead, err := parser.ParseFile(r.set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	all := []*ast.File{instead}
	for name, tree := range r.files { // any order will do
		if name != file {
			all = append(all, tree)
		}
	}
	_, err = (&types.Config{Importer: r.importer}).Check(r.path, r.set, all, nil)
	return err
}

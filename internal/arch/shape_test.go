package arch

import (
	"bytes"
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

// What a person reads fits their screen, and their patience.
const (
	maxFunction = 80  // lines of a function
	maxFile     = 500 // lines of a file
	maxColumns  = 120 // columns of a line of Go, a tab counts four: two files fit next to each other on a screen
	maxReadme   = 150 // lines of the README
)

func parsed(t *testing.T, f file) (*token.FileSet, *ast.File, []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, f.path))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return set, tree, text
}

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		set, tree, text := parsed(t, f)
		if lines := bytes.Count(text, []byte("\n")); lines > maxFile && !f.test {
			t.Errorf("%s has %d lines, at most %d", f.path, lines, maxFile)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			fn, ok := n.(*ast.FuncDecl)
			if !ok || f.test {
				return true
			}
			if lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines, at most %d", f.path, fn.Name.Name, lines, maxFunction)
			}
			return true
		})
	}
}

func TestNoInitAndNoChangingGlobals(t *testing.T) {
	t.Parallel()
	// Patterns, sentinel errors, embedded files and checks that a type fits an interface never change.
	harmless := regexp.MustCompile(`^(regexp\.MustCompile|errors\.New|strings\.NewReplacer|\(\*)`)
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		set, tree, text := parsed(t, f)
		for _, d := range tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init() runs without a call that a reader sees", f.path)
			}
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				value := spec.(*ast.ValueSpec)
				embedded := vars.Doc != nil && strings.Contains(docText(vars.Doc), "go:embed")
				ok := embedded || value.Names[0].Name == "_"
				for _, v := range value.Values {
					from, to := set.Position(v.Pos()).Offset, set.Position(v.End()).Offset
					ok = ok || harmless.Match(text[from:to])
				}
				if !ok {
					t.Errorf("%s: %s is a global that may change", f.path, value.Names[0].Name)
				}
			}
		}
	}
}

func docText(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range group.List {
		b.WriteString(c.Text)
	}
	return b.String()
}

func TestEveryPackageAndExportedNameHasADoc(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, f := range sources(t) {
		set, tree, _ := parsed(t, f)
		dir := filepath.Dir(f.path)
		documented[dir] = documented[dir] || tree.Doc != nil
		if f.test {
			continue
		}
		for _, d := range tree.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: exported %s has no doc", set.Position(d.Pos()), name)
			}
		}
	}
	for dir, has := range documented {
		if !has {
			t.Errorf("package %s has no doc", dir)
		}
	}
}

func undocumented(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiverExported(d.Recv)) &&
			!standard(d.Name.Name) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Tok != token.TYPE && d.Tok != token.VAR {
			return nil
		}
		var out []string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					out = append(out, s.Name.Name)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && s.Doc == nil && d.Doc == nil {
					out = append(out, s.Names[0].Name)
				}
			}
		}
		return out
	}
	return nil
}

// standard names are documented by the interfaces of the standard library.
func standard(name string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "String", "Is"}, name)
}

func receiverExported(list *ast.FieldList) bool {
	kind := list.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	name, ok := kind.(*ast.Ident)
	return ok && name.IsExported()
}

func TestArchitectureNamesEveryEntryAtTheTop(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && name != "bin" &&
			!strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("ARCHITECTURE.md does not name %q", name)
		}
	}
}

// Nothing in Go knows the name of a state: the names are the workflow files' own.
func TestNoStateIsNamedInTheProgram(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "workflows", "default.yml"))
	if err != nil {
		t.Fatal(err)
	}
	states := regexp.MustCompile(`(?m)^  ([a-z-]+):\n    about:`).FindAllStringSubmatch(string(text), -1)
	if len(states) != 9 {
		t.Fatalf("found %d states in default.yml, expected 9", len(states))
	}
	for _, f := range sources(t) {
		if f.test || support()[f.pkg] != "" {
			continue
		}
		_, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			for _, state := range states {
				if ok && literal.Kind == token.STRING && literal.Value == `"`+state[1]+`"` && !homonym(state[1]) {
					t.Errorf("%s names the state %s", f.path, state[1])
				}
			}
			return true
		})
	}
}

// homonym reports whether a state's name is also a word of another vocabulary: hooks are pending and done, a command
// is stuck.
func homonym(name string) bool {
	return slices.Contains([]string{"pending", "done", "stuck"}, name)
}

func TestTheReadmeStaysShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > maxReadme || n == 0 {
		t.Errorf("README.md has %d lines, at most %d", n, maxReadme)
	}
}

// testWord finds the words of a test's name: each begins with a capital or behind "_", and an acronym is one.
var testWord = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+`)

func TestNamesOfTestsAreSentencesOfFewWords(t *testing.T) {
	t.Parallel()
	const most = 12
	name := regexp.MustCompile(`(?m)^func (?:Test|Fuzz|Benchmark)(\w+)\(`)
	for _, f := range sources(t) {
		if !f.test {
			continue
		}
		_, _, text := parsed(t, f)
		for _, found := range name.FindAllSubmatch(text, -1) {
			if words := testWord.FindAllString(string(found[1]), -1); len(words) > most {
				t.Errorf("%s: the name of Test%s has %d words: say it in %d", f.path, found[1], len(words), most)
			}
		}
	}
}

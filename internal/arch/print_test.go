package arch

import (
	"go/ast"
	"testing"
)

// outlets lists the files that may name the standard output or error, with the reason. Everywhere else the
// writers of app/output.go stand for them, which make fit to be shown whatever is printed.
func outlets() map[string]string {
	return map[string]string{
		"internal/app/output.go":         "the writers that everything else prints through",
		"internal/app/dashboard.go":      "the screen, which cleans each line, and moves the cursor itself",
		"internal/app/queries.go":        "looks whether the output has a reader, and writes nothing",
		"internal/app/checks.go":         "answers in bytes to the program that asked for a jq program to be run",
		"internal/run/proc/call.go":      "hands them on",
		"internal/api/socket/client.go":  "prints what the server has made fit to be shown",
		"internal/app/forward.go":        "hands them on",
		"internal/run/proc/proc.go":      "a program of the person's gets the terminal: an editor, tmux",
		"internal/run/proc/supervise.go": "an agent gets its window",
	}
}

func TestProgramsPrintOnlyThroughWritersThatMakeTextSafe(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || f.pkg == "" {
			continue
		}
		set, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			if builtin, ok := n.(*ast.CallExpr); ok {
				if name, ok := builtin.Fun.(*ast.Ident); ok && (name.Name == "print" || name.Name == "println") {
					t.Errorf("%s: %s writes to the standard error by itself", set.Position(n.Pos()), name.Name)
				}
			}
			selected, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, _ := selected.X.(*ast.Ident)
			switch what := selected.Sel.Name; {
			case ofCall(selected.X) && (what == "Out" || what == "Err"):
				used[f.path] = true
				if outlets()[f.path] == "" {
					t.Errorf("%s names %s of a call: print through a printable.Writer", set.Position(n.Pos()), what)
				}
			case from == nil:
			case from.Name == "os" && (what == "Stdout" || what == "Stderr"):
				used[f.path] = true
				if outlets()[f.path] == "" {
					t.Errorf("%s names os.%s: print through a printable.Writer", set.Position(n.Pos()), what)
				}
			case from.Name == "fmt" && (what == "Print" || what == "Printf" || what == "Println"):
				t.Errorf("%s: fmt.%s goes past the writers", set.Position(n.Pos()), what)
			}
			return true
		})
	}
	for path := range outlets() {
		if !used[path] {
			t.Errorf("%s names neither output any more: take it off the list", path)
		}
	}
}

// ofCall reports whether an expression is what is called call, or c for short, or a field of that name.
func ofCall(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "call" || e.Name == "c"
	case *ast.SelectorExpr:
		return e.Sel.Name == "call" || e.Sel.Name == "Call"
	}
	return false
}

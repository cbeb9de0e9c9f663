package arch

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// environments lists the files that may ask for the environment of their process, with the reason. Everywhere else it
// comes from proc, which leaves out what belongs to the program that started the process.
func environments() map[string]string {
	return map[string]string{
		"internal/run/proc/environment.go":        "makes that of every program",
		"internal/run/proc/become.go":             "Orange goes on in another file of its own",
		"internal/run/environment/environment.go": "changes that of its own process",
		"internal/app/dashboard.go":               "the library asks what the terminal can show",
		"fleet/cmd/orange-fleet/client.go":        "the library asks what the terminal can show",
		"internal/app/doctor.go":                  "compares it with what tasks get",
	}
}

// One function makes the environment of every program that is started: no hook of git, no window and no agent hands
// its own on.
func TestOnePlaceMakesTheEnvironmentOfAProgram(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range sources(t) {
		path := filepath.ToSlash(f.path)
		top, _, _ := strings.Cut(path, "/")
		if f.test || support()[f.pkg] != "" || !slices.Contains([]string{"internal", "cmd", "fleet"}, top) ||
			strings.HasPrefix(path, "fleet/testkit/") {
			continue
		}
		set, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if from, _ := n.X.(*ast.Ident); from != nil && from.Name == "os" && n.Sel.Name == "Environ" {
					used[path] = true
					if environments()[path] == "" {
						t.Errorf("%s asks for the environment of its process: proc.Environment is what may go on",
							set.Position(n.Pos()))
					}
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					field, _ := to.(*ast.SelectorExpr)
					if f.pkg != "run/proc" || field == nil || field.Sel.Name != "Env" {
						continue
					}
					call, _ := n.Rhs[i].(*ast.CallExpr)
					if made, _ := asSelector(call); made != "environment" {
						t.Errorf("%s gives a program an environment that Command.environment did not make",
							set.Position(n.Pos()))
					}
				}
			}
			return true
		})
	}
	for path := range environments() {
		if !used[path] {
			t.Errorf("%s asks for no environment any more: take it off the list", path)
		}
	}
}

// asSelector is the name of the method that a call is of.
func asSelector(call *ast.CallExpr) (name string, ok bool) {
	if call == nil {
		return "", false
	}
	selected, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	return selected.Sel.Name, true
}

package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// public lists the files that may make what others can read, with the reason. Everywhere else task.PrivateFile
// and task.PrivateFolder stand.
func public() map[string]string {
	return map[string]string{
		"internal/work/pool/slots.go":     "writes what a harness wants into a worktree, which is git's",
		"internal/work/worktree/link.go":  "writes into a worktree, and the repository's own folder, which are git's",
		"internal/work/worktree/setup.go": "puts a worktree's own settings back into its folder of git's",
	}
}

func TestWhatTheProgramMakesBelowItsHomeIsForNobodyElse(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || f.pkg == "" {
			continue
		}
		set, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if ok && literal.Kind == token.INT &&
				slices.Contains([]string{"0o755", "0o644", "0o666", "0o777"}, literal.Value) {
				used[f.path] = true
				if public()[f.path] == "" {
					t.Errorf(
						"%s has the mode %s: below $ORANGE_HOME it is task.PrivateFile or task.PrivateFolder",
						set.Position(n.Pos()), literal.Value)
				}
			}
			return true
		})
	}
	for path := range public() {
		if !used[path] {
			t.Errorf("%s makes nothing that others can read: take it off the list", path)
		}
	}
}

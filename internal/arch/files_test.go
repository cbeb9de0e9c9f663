package arch

import (
	"go/ast"
	"slices"
	"testing"
)

// openers lists the files that may open others by themselves, with the reason. Everywhere else proc does it: what is no
// file is refused, no pipe is waited for, and nothing is read without end.
func openers() map[string]string {
	return map[string]string{
		"internal/store/mirror/mirror.go":              "refuses links and hard links besides, and syncs folders",
		"internal/ui/dashboard/highlight/highlight.go": "reads what is built into the program",
	}
}

func TestFilesAreOpenedByTheFunctionsThatNeverWait(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || f.pkg == "" || f.pkg == "run/proc" || support()[f.pkg] != "" {
			continue
		}
		set, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			selected, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, _ := selected.X.(*ast.Ident)
			opens := slices.Contains([]string{"OpenFile", "OpenRoot", "ReadFile", "WriteFile"}, selected.Sel.Name)
			known := from != nil && slices.Contains([]string{"proc", "fs"}, from.Name)
			own := from != nil && from.Name == "os" && slices.Contains([]string{"Open", "Create"}, selected.Sel.Name)
			if own || opens && !known {
				used[f.path] = true
				if openers()[f.path] == "" {
					t.Errorf("%s opens a file by itself: proc.ReadFile, WriteFile and OpenFile do it",
						set.Position(n.Pos()))
				}
			}
			return true
		})
	}
	for path := range openers() {
		if !used[path] {
			t.Errorf("%s opens no file by itself any more: take it off the list", path)
		}
	}
}

package evidence_test

import (
	"testing"

	"orange/internal/rules/workflow"
)

// What a project protects is as the base has it. New files count where a pattern begins with a plus sign, and what a
// person allowed does not count.
func TestSeeProtected_refusesWhatTheTaskChanged(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		set   func(w *world)
		found string
		files int
	}{
		"nothing":              {set: func(*world) {}},
		"another file":         {set: func(w *world) { w.changed = []string{"a.go"} }},
		"a commit changed one": {func(w *world) { w.changed = []string{"Makefile"} }, `"Makefile"`, 1},
		"the worktree has it":  {func(w *world) { w.stand.Modified = []string{"Makefile"} }, `"Makefile"`, 1},
		"the branch adds it": {set: func(w *world) {
			w.changed, w.added = []string{"Makefile"}, []string{"Makefile"}
		}},
		"a new file is one":     {set: func(w *world) { w.stand.New = []string{"Makefile"} }},
		"a new one with a plus": {func(w *world) { w.stand.New = []string{"conftest.py"} }, `"conftest.py"`, 1},
		"an added one with a plus": {func(w *world) {
			w.changed, w.added = []string{"conftest.py"}, []string{"conftest.py"}
		}, `"conftest.py"`, 1},
		"a person allowed it": {set: func(w *world) { w.changed = []string{"allowed"} }},
		"the base has it by now": {set: func(w *world) {
			w.changed, w.based = []string{"Makefile"}, []string{"Makefile"}
		}},
		"the base has it by now, and the worktree another": {func(w *world) {
			w.changed, w.based, w.stand.Modified = []string{"Makefile"}, []string{"Makefile"}, []string{"Makefile"}
		}, `"Makefile"`, 1},
		"two": {func(w *world) { w.changed = []string{"conftest.py", "Makefile"} }, `"Makefile"`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			row.set(w)
			fact := w.fact(workflow.Part{Git: workflow.GitProtected, Except: []string{"allowed"},
				Untouched: []string{"Makefile", "+conftest.py", "allowed"}})
			wantFact(t, fact, row.found, "")
			if fact.Files != row.files {
				t.Errorf("%d files keep the move, want %d", fact.Files, row.files)
			}
		})
	}
}

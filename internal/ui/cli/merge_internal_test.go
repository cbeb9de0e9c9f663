package cli

import (
	"errors"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Defect: a train of merges said nothing of branches that no one had compared.
func TestMerge_saysWhichBranchesWereNotCompared(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "4Fz", Branch: "feat/a"}
	for want, c := range map[string]struct {
		one     record.MergedOne
		unknown string
	}{
		"feat/a (4Fz): fast-forward": {record.MergedOne{Task: one, How: "fast-forward"}, ""},
		"feat/a (4Fz), not compared with the other branches (no time yet): fast-forward": {
			record.MergedOne{Task: one, How: "fast-forward"}, "no time yet"},
		"feat/a (4Fz), not compared with the other branches (no time yet): left out: red": {
			record.MergedOne{Task: one, Left: errors.New("red")}, "no time yet"},
	} {
		if got := wordsOf(c.one, c.unknown); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

package engine_test

import (
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func TestNoteCheck_isTheLastOfItsNameInTheHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("fix", false).Task.ID
	noted := func(check string) string {
		t.Helper()
		digest, err := w.NotedCheck(t.Context(), id, check)
		must(t, err)
		return digest
	}
	wantText(t, "before", noted("tests"), "")
	must(t, w.NoteCheck(t.Context(), id, task.CheckResult{Name: "tests", Head: "abc", Status: 1, Took: "2s"}, "d1"))
	must(t, w.NoteCheck(t.Context(), id, task.CheckResult{Name: "lint", Head: "abc"}, "d2"))
	wantText(t, "tests", noted("tests"), "d1")
	must(t, w.NoteCheck(t.Context(), id, task.CheckResult{Name: "tests", Head: "abc"}, "d3"))
	wantText(t, "tests again", noted("tests"), "d3")
	wantText(t, "lint", noted("lint"), "d2")
	events, err := w.store.Events(t.Context(), id, 0)
	must(t, err)
	last := events[len(events)-1]
	if last.Type != history.CheckFinished || last.IsMove() || last.Data["head"] != "abc" || last.Data["status"] != "0" {
		t.Errorf("the last event is %+v", last)
	}
	if _, err := w.NotedCheck(t.Context(), "nobody", "tests"); err != nil {
		t.Errorf("a task without events: %v", err)
	}
}

package sqlite_test

import (
	"errors"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

// A record in memory takes back what it refuses, as one on a disk does.
func TestOpenMemory_aRefusedChangeLeavesNothing(t *testing.T) {
	t.Parallel()
	s, err := sqlite.OpenMemory(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	before := create(t, s, aTask("abcdefghijklmnopqrstu"))
	changed := before
	changed.Summary = "what nobody may see"
	if _, err := s.Commit(t.Context(), record.Change{Task: changed, Expect: before.Version,
		DeadHook: 7}); !errors.Is(err, task.ErrNobody) {
		t.Fatalf("the death of nobody: %v", err)
	}
	after, err := s.Load(t.Context(), before.ID)
	must(t, err)
	if after.Task.Version != before.Version || after.Task.Summary != before.Summary {
		t.Errorf("it is %+v, and was %+v", after.Task, before)
	}
}

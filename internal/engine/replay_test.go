package engine_test

import (
	"context"
	"path/filepath"
	"testing"

	"orange/internal/proof/replay"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/store/sqlite"
)

// replays makes every decision of every task of a world again after a test: the same bytes must come of it.
func (w *world) replays(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(w.home, "orange.db")) // a test may have closed the one that it had
	must(t, err)
	defer store.Close()
	tasks, err := store.List(ctx, record.Filter{})
	must(t, err)
	for _, one := range tasks {
		lines, err := store.Lines(ctx, one.ID)
		must(t, err)
		events, err := store.Events(ctx, one.ID, 0)
		must(t, err)
		if noted, _, err := history.Fold(events); err != nil || noted.Status != one.Status {
			continue // the test has written into the record
		}
		for i := range events {
			if e := &events[i]; (e.Actor == task.RoleHuman) != (e.Person == human.Person) {
				t.Errorf("event %d of task %s (%s) is by %s, and the person is %q", e.Seq, one.ID, e.Type,
					e.Actor, e.Person)
			}
		}
		if history.VerifyChain(events) != nil {
			continue // the test has broken it
		}
		got, err := replay.Replay(one, lines, replay.Library{
			Rules: func(digest string) (*workflow.Definition, error) {
				return w.ports.Rules.Pinned(ctx, task.WorkflowRef{Name: one.Workflow.Name, Digest: digest})
			},
			Texts: func(digest string) (string, bool, error) { return w.files.Kept(one.Project, one.ID, digest) },
		}, nil)
		if err != nil || len(got.Untold) > 0 || got.Equal != got.Decisions {
			t.Errorf("the decisions on task %s come out otherwise when they are made again: %v\n%+v", one.ID, err, got)
		}
		differs, err := history.Disagree(one, events)
		if err != nil || len(differs) > 0 {
			t.Errorf("task %s: %v %q", one.ID, err, differs)
		}
	}
}

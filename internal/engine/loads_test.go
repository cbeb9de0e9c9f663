package engine_test

import (
	"context"
	"slices"
	"testing"

	"orange/internal/engine"
	"orange/internal/record"
	"orange/internal/rejection"
	"orange/internal/task"
	"orange/internal/workflow"
)

// loads counts how often the engine loads a task, and notes the commits in between.
type loads struct {
	engine.Store
	steps []string
}

func (l *loads) Load(ctx context.Context, id string) (record.Snapshot, error) {
	l.steps = append(l.steps, "load")
	return l.Store.Load(ctx, id)
}

func (l *loads) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	l.steps = append(l.steps, "commit")
	return l.Store.Commit(ctx, c)
}

// An attempt loads its task once and passes the snapshot on. The mirrors are made equal from a second snapshot, which
// has what other processes did meanwhile; a third one shows what the hooks have done.
func TestAnAttemptAtARequestLoadsItsTaskOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status task.Status
		ask    func(w *world, id string) error
		want   []string
	}{
		"a move without hooks": {"clarification", func(w *world, id string) error {
			_, err := w.ask(id, "planning", human)
			return err
		}, []string{"load", "commit", "load"}},
		"a command whose hooks are pending for now": {"pending", func(w *world, id string) error {
			w.runner.dead = true
			_, err := w.Command(t.Context(), id, workflow.MoveSpawn, human, "")
			return err
		}, []string{"load", "commit", "load", "load"}},
		"a request that is refused": {"planning", func(w *world, id string) error {
			_, err := w.ask(id, "working", worker)
			wantCode(t, err, rejection.GateUnmet)
			return nil
		}, []string{"load", "load", "load"}}, // once more to count the refusal
		"a request that finds done what it asks for": {"planning", func(w *world, id string) error {
			_, err := w.Command(t.Context(), id, workflow.MoveSpawn, human, "")
			return err
		}, []string{"load"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.reach(tt.status)
			count := &loads{Store: w.Store}
			w.Store = count
			must(t, tt.ask(w, id))
			if !slices.Equal(count.steps, tt.want) {
				t.Errorf("it took %q, want %q", count.steps, tt.want)
			}
		})
	}
}

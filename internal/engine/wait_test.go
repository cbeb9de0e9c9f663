package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

type answer struct {
	waited record.Waited
	err    error
}

var self = task.Process{PID: 4242, Began: "then"}

// wait makes another program wait as the worker, and returns when its note is on record.
func (w *world) wait(ctx context.Context, id string) <-chan answer {
	w.t.Helper()
	other := w.another()
	out := make(chan answer, 1)
	go func() {
		waited, err := other.Wait(ctx, id, worker, self, time.Minute)
		out <- answer{waited, err}
	}()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for len(w.waiters(id)) == 0 {
		select {
		case <-late:
			w.t.Fatal("nobody waits")
		case <-tick.C:
		}
	}
	return out
}

func (w *world) waiters(id string) []task.Process {
	w.t.Helper()
	all, err := w.store.Waiters(w.t.Context(), id, task.RoleWorker)
	must(w.t, err)
	return all
}

func TestWait_endsWithTheReviewAndBringsItsNotice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	waiting := w.wait(t.Context(), id)
	w.write(id, fail)
	w.move(id, "working", reviewer)
	got := <-waiting
	must(t, got.err)
	if got.waited.Blocked || got.waited.Task.Status != "working" || got.waited.About == "" {
		t.Errorf("the answer is %+v", got.waited)
	}
	wantText(t, "notice", got.waited.Notice, "go on")
	if want := []string{"agent-review", "clarification", "stuck"}; !slices.Equal(got.waited.MayAsk, want) {
		t.Errorf("open are %v, want %v", got.waited.MayAsk, want)
	}
	if left := w.waiters(id); len(left) != 0 {
		t.Errorf("after the wait these are noted: %v", left)
	}
}

// While the task still owes hooks of the move, the waiter goes on waiting: they may yet end or notify it.
func TestWait_lastsUntilTheHooksAreSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w.write(id, fail)
	w.runner.dead = true
	w.move(id, "working", reviewer)
	waited, err := w.Wait(t.Context(), id, worker, self, 100*time.Millisecond)
	must(t, err)
	if !waited.Blocked || waited.Task.Status != "working" || waited.Notice != "" {
		t.Errorf("before the hooks: %+v", waited)
	}
	waiting := w.wait(t.Context(), id)
	must(t, w.Settle(t.Context(), id))
	got := <-waiting
	must(t, got.err)
	if got.waited.Blocked || got.waited.Notice != "go on" {
		t.Errorf("after the hooks: %+v", got.waited)
	}
}

func TestWait_isNotHeldUpByAHookThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w.write(id, fail)
	w.performer.fails[action.KillReviewer] = errPerformer
	w.move(id, "working", reviewer)
	waited, err := w.Wait(t.Context(), id, worker, self, time.Minute)
	must(t, err)
	if waited.Blocked || waited.Task.Attention == "" {
		t.Errorf("the answer is %+v", waited)
	}
}

func TestWait_ofAPersonEndsWhenTheAgentHasDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.die(w.death(id, task.RoleWorker))
	waited, err := w.Wait(t.Context(), id, human, self, time.Minute)
	must(t, err)
	if waited.Blocked || waited.Task.Attention == "" {
		t.Errorf("the answer is %+v", waited)
	}
}

func TestWait_givesUpAfterItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	waited, err := w.Wait(t.Context(), id, worker, self, 10*time.Millisecond)
	must(t, err)
	if !waited.Blocked || waited.Task.Status != "agent-review" || len(w.waiters(id)) != 0 {
		t.Errorf("the answer is %+v, noted are %v", waited, w.waiters(id))
	}
}

func TestWait_thatIsCancelledTakesItsNoteBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	ctx, cancel := context.WithCancel(t.Context())
	waiting := w.wait(ctx, id)
	cancel()
	if got := <-waiting; !errors.Is(got.err, context.Canceled) {
		t.Errorf("the error is %v", got.err)
	}
	if left := w.waiters(id); len(left) != 0 {
		t.Errorf("after the wait these are noted: %v", left)
	}
}

// halfNoted is a record that cancels a note after it took effect.
type halfNoted struct{ *sqlite.Store }

func (h halfNoted) Wait(ctx context.Context, id, role string, w task.Process) error {
	return errors.Join(h.Store.Wait(ctx, id, role, w), context.Canceled)
}

func TestWait_thatIsCancelledWhileNotingRemovesItsNoteToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w.rewire(func(p *engine.Ports) { p.Record = halfNoted{w.store} })
	if _, err := w.Wait(t.Context(), id, worker, self, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if left := w.waiters(id); len(left) != 0 {
		t.Errorf("after the wait these are noted: %v", left)
	}
}

func TestWait_finishesWhatAKilledRunnerLeftUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	waiting := w.wait(t.Context(), id)
	w.runner.dead = true // this program's runners are killed at once; the waiting one has its own
	w.write(id, fail)
	w.move(id, "working", reviewer)
	got := <-waiting
	must(t, got.err)
	if got.waited.Blocked || len(w.load(id).Owed) != 0 {
		t.Errorf("the answer is %+v, and %v is owed", got.waited, w.load(id).Owed)
	}
}

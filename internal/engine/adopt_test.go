package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// counted counts the transactions of a rebuild: it notes how many tasks each has, and does what next says.
type counted struct {
	engine.Record
	sizes []int
	next  func(ctx context.Context, all []record.Adoption) ([]task.Task, error)
}

func (c *counted) Adopt(ctx context.Context, all []record.Adoption) ([]task.Task, error) {
	c.sizes = append(c.sizes, len(all))
	return c.next(ctx, all)
}

// has reports whether a task is among those that come back.
func has(all []record.Adoption, id string) bool {
	return slices.ContainsFunc(all, func(a record.Adoption) bool { return a.Task.ID == id })
}

func (w *world) adoptAll(into *counted, ids ...string) []record.Adopted {
	w.t.Helper()
	var told []record.Adoption
	for _, id := range ids {
		a, err := w.tell(id)
		must(w.t, err)
		told = append(told, a)
	}
	w.rewire(func(p *engine.Ports) { into.Record, p.Record = p.Record, into })
	return w.Adopt(w.t.Context(), told, func(int) {})
}

func TestARebuild_takesTasksThatClaimTheSameInOneTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, third := w.reach("working"), w.reach("reviewing")
	second := strings.Repeat("Z", task.IDLength)
	must(t, os.CopyFS(w.files.Dir("garden", second), os.DirFS(w.files.Dir("garden", first))))
	w.edit(second, first, second)
	w.edit(third, "workspace: "+w.task(third).Workspace, "workspace: "+w.task(first).Workspace)
	w = w.lose()
	into := &counted{next: w.store.Adopt}
	for _, a := range w.adoptAll(into, first, second, third) {
		must(t, a.Err)
		if differs, err := w.files.Differs(w.task(a.Task.ID), w.lines(a.Task.ID)); err != nil || len(differs) > 0 {
			t.Errorf("its mirrors differ: %v, %v", differs, err)
		}
	}
	if !slices.Equal(into.sizes, []int{3}) {
		t.Errorf("the transactions have %v tasks", into.sizes)
	}
	if got := w.task(second); got.Branch != task.DefaultBranch(second) || got.Workspace != "" ||
		!strings.Contains(got.Attention, "belongs to the live task "+first) {
		t.Errorf("the second: %+v", got)
	}
	if got := w.task(third); got.Workspace != "" || !strings.Contains(got.Attention, `belongs to task `+first) {
		t.Errorf("the third: %+v", got)
	}
}

func TestARebuild_adoptsTheOthersWhereOneTaskCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := []string{w.reach("working"), w.reach("reviewing"), w.reach("pending")}
	w = w.lose()
	full := errors.New("the disk is full")
	into := &counted{next: func(ctx context.Context, all []record.Adoption) ([]task.Task, error) {
		if has(all, ids[1]) {
			return nil, full
		}
		return w.store.Adopt(ctx, all)
	}}
	out := w.adoptAll(into, ids...)
	if !slices.Equal(into.sizes, []int{3, 1, 1, 1}) {
		t.Errorf("the transactions have %v tasks", into.sizes)
	}
	for i, id := range ids {
		_, err := w.store.Load(t.Context(), id)
		if there, wanted := err == nil, i != 1; there != wanted || (out[i].Err == nil) != wanted {
			t.Errorf("task %d is on record: %v, with the error %v", i, there, out[i].Err)
		}
	}
}

func TestARebuild_givesANewBranchWhereAnotherProcessTookIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.reach("working")
	second := strings.Repeat("Z", task.IDLength)
	must(t, os.CopyFS(w.files.Dir("garden", second), os.DirFS(w.files.Dir("garden", first))))
	w.edit(second, first, second)
	w = w.lose()
	faster, err := w.tell(second)
	must(t, err)
	into := &counted{}
	into.next = func(ctx context.Context, all []record.Adoption) ([]task.Task, error) {
		if len(into.sizes) == 1 { // the claims were looked at
			_, err := w.store.Adopt(ctx, []record.Adoption{faster})
			must(t, err)
		}
		return w.store.Adopt(ctx, all)
	}
	for _, a := range w.adoptAll(into, first) {
		must(t, a.Err)
	}
	if got := w.task(first); got.Branch != task.DefaultBranch(first) ||
		!strings.Contains(got.Attention, "belongs to the live task "+second) {
		t.Errorf("it is %+v", got)
	}
}

// The tasks of a rebuild that is cut short are on record, or as they were.
func TestARebuild_adoptsTasksInBatchesAndStopsBetweenTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("pending")
	w = w.lose()
	one, err := w.tell(id)
	must(t, err)
	var told []record.Adoption
	for i := range 1200 {
		next := one
		next.Task.ID = fmt.Sprintf("%021d", i)
		next.Task.Branch = "branch-" + next.Task.ID
		told = append(told, next)
	}
	ctx, kill := context.WithCancel(t.Context())
	into := &counted{}
	into.next = func(_ context.Context, all []record.Adoption) ([]task.Task, error) {
		out := make([]task.Task, len(all))
		for i, a := range all {
			out[i] = a.Task
		}
		if len(into.sizes) == 2 {
			kill()
		}
		return out, nil
	}
	var far []int
	w.rewire(func(p *engine.Ports) { into.Record, p.Record = p.Record, into })
	out := w.Adopt(ctx, told, func(done int) { far = append(far, done) })
	if !slices.Equal(into.sizes, []int{500, 500}) || !slices.Equal(far, []int{0, 500, 1000}) {
		t.Errorf("the transactions have %v tasks, and it told of %v", into.sizes, far)
	}
	for i, a := range out {
		if (a.Err == nil) != (i < 1000) || a.Task.ID != told[i].Task.ID {
			t.Fatalf("task %d is %s, with the error %v", i, a.Task.ID, a.Err)
		}
	}
}

package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"orange/internal/query"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/tmux"
	"orange/internal/workflow"
)

// What a move costs the engine, its record and its files today, in allocations, and twice a look at the task. Lower it
// when a move gets cheaper; a feature that needs more raises it. With the race detector it is a seventh more.
const (
	gatedMoveAllocations = 2500
	freeMoveAllocations  = 2750
)

// It does not run in parallel, because the allocations of other tests would count too.
func TestAMoveAllocatesNoMoreThanItDoesToday(t *testing.T) { //nolint:paralleltest // counts allocations
	w := newWorld(t)
	const runs = 1 // there are two workspaces
	var ids []string
	for n := range runs + 1 { // the first warms up
		id := w.create(fmt.Sprint("branch-", n), true).Task.ID
		w.write(id, plan)
		ids = append(ids, id)
	}
	for _, move := range []struct {
		name string
		to   task.Status
		by   task.Actor
		most float64
	}{
		{"a move over a gate", "working", worker, gatedMoveAllocations},
		{"a move that counts", "clarification", worker, freeMoveAllocations},
		{"a move without a gate", "planning", human, freeMoveAllocations},
	} {
		left := ids
		found := testing.AllocsPerRun(runs, func() {
			w.move(left[0], move.to, move.by)
			left = left[1:]
		})
		t.Logf("%s: %v allocations", move.name, found)
		if found > move.most {
			t.Errorf("%s: found %v allocations, want at most %v", move.name, found, move.most)
		}
	}
}

// What `orange task show` costs today of a task with few events, in allocations. Lower it when it gets cheaper.
const showAllocations = 1250

func TestALookAtATaskAllocatesNoMoreThanItDoesToday(t *testing.T) { //nolint:paralleltest // counts allocations
	w := newWorld(t)
	id := w.create("a-branch", true).Task.ID
	w.write(id, plan)
	q := &query.Service{Record: w.store, Setup: w.Rules.(query.Setup), Files: w.files,
		Work: nothing{}, Agents: nothing{}, Evidence: w.Engine, Now: time.Now,
		Compare:   func(context.Context, *workflow.Definition, task.Task) string { return "" },
		Variables: func(string) ([]string, error) { return nil, nil }}
	found := testing.AllocsPerRun(10, func() {
		if r, err := q.Report(t.Context(), id, human); err != nil || len(r.Problems) > 0 || r.Task.ID != id {
			t.Fatal(r.Problems, err)
		}
	})
	t.Logf("%v allocations", found)
	if found > showAllocations {
		t.Errorf("found %v allocations, want at most %v", found, showAllocations)
	}
}

// nothing has no workspaces and no agents.
type nothing struct{}

func (nothing) Dir(string) string { return "" }

func (nothing) SetUpOutput(string) string { return "" }

func (nothing) Left(string) string { return "" }

func (nothing) Asides(string) ([]record.Aside, error) { return nil, nil }

func (nothing) SharedWords(context.Context, string) ([]string, error) { return nil, nil }
func (nothing) Lost(context.Context, task.Task) ([]string, error)     { return nil, nil }

func (nothing) Rescues(context.Context, task.Task) ([]task.Rescued, error) { return nil, nil }

func (nothing) Needs(context.Context, []task.Task) (map[string]string, map[string]record.Need, error) {
	return nil, nil, nil
}

func (nothing) States(context.Context, []task.Task) (map[string]string, []tmux.Pane, error) {
	return nil, nil, nil
}

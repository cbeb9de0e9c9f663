// Package simulate runs tasks from their creation to their end under a workflow in a simulated world, and reports
// how they end. The real engine decides, in memory and on a simulated clock; random numbers choose what agents and
// people do, and what goes wrong.
//
// It owns the simulated world, what agents and people do in it, which faults there are, and what must be true of
// a task at every step. It owns no rule: the engine decides whether a task moves, and what follows.
package simulate

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Shares say how often something happens, each between 0 and 1.
type Shares struct {
	Slow          float64 // agents that take their time
	Lying         float64 // agents that ask before they have the evidence
	Dying         float64 // agents that die before they have asked
	Stubborn      float64 // agents that ask for the same again and again, and then do nothing
	Restless      float64 // agents that wait for no person, and go back wherever they may
	ReviewersFail float64 // reviews that do not pass
	EngineDies    float64 // steps of Orange at which it dies
	HooksFail     float64 // attempts at a hook, and looks of the monitor, that fail
}

// Setup is what is simulated.
type Setup struct {
	Runs     int
	Seed     uint64
	Only     int // the one run that is made; 0 means all of them
	Trace    bool
	Shares   Shares
	Bound    int  // how many moves a task makes at most without a person, as was proved; 0 where nothing was
	NoPeople bool // no person comes to a task that waits for one
	// Path is the straight path, or a part of it; the shortest one if it is empty.
	Path []task.Status
	// Progress is called after each run, by several goroutines; it may be nil.
	Progress func(done, of int)
}

// Record is a record with nothing in it but what is simulated.
type Record interface {
	engine.Record
	// Changed is a number that stays the same while no task changes.
	Changed(ctx context.Context) (int64, error)
	// Writes is a number that changes with everything that is written to the record.
	Writes(ctx context.Context) (int64, error)
	Close() error
}

// Open opens an empty record.
type Open func(ctx context.Context) (Record, error)

// Look is one look of a monitor, which handles everything that is due.
type Look func(ctx context.Context) error

// Join joins a monitor to the engine of a simulation. Run calls it once for each run.
type Join func(s *Simulation) (*engine.Engine, Look)

// Run makes all runs, several at once, each of them alone in a world of its own: the same setup gives the same
// report, to the byte. An error means that the simulation itself cannot go on; breaches are in the report.
func Run(ctx context.Context, def *workflow.Definition, setup Setup, open Open, join Join) (Report, error) {
	first, count := 1, setup.Runs
	if setup.Only > 0 {
		first, count = setup.Only, 1
	}
	paths, err := newPathMap(def, setup.Path)
	if err != nil {
		return Report{}, err
	}
	results, errs := make([]result, count), make([]error, count)
	var taken, over atomic.Int64
	var crew sync.WaitGroup
	ctx, off := context.WithCancelCause(ctx)
	defer off(nil)
	for range min(runtime.GOMAXPROCS(0), count) {
		crew.Go(func() {
			record, err := open(ctx)
			if err != nil {
				off(err)
				return
			}
			for i := int(taken.Add(1)) - 1; i < count && ctx.Err() == nil; i = int(taken.Add(1)) - 1 {
				if results[i], errs[i] = runOne(ctx, newRun(paths, setup, first+i, record), join); errs[i] != nil {
					off(errs[i])
				}
				if done := int(over.Add(1)); setup.Progress != nil {
					setup.Progress(done, count)
				}
			}
			if err := record.Close(); err != nil {
				off(err)
			}
		})
	}
	crew.Wait()
	if err := context.Cause(ctx); err != nil {
		return Report{}, err
	}
	all := tally{report: Report{Path: paths.path}}
	for _, one := range results {
		all.add(one)
	}
	return all.sum(), nil
}

// runOne makes one run. It deletes the task afterwards: the next run uses the same record.
func runOne(ctx context.Context, r *run, join Join) (result, error) {
	r.engine, r.look = join(&Simulation{r})
	err := r.play(ctx)
	if err == nil {
		err = r.Record.Delete(ctx, r.id)
	}
	if err != nil {
		return result{}, fmt.Errorf("run %d of seed %d: %w", r.number, r.setup.Seed, err)
	}
	return r.sum(), nil
}

// start is when every run begins.
func start() time.Time { return time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC) }

// human is a person who asks, another one each time: a workflow may want two.
func (r *run) human() task.Actor {
	r.people++
	return task.Actor{Role: task.RoleHuman, Person: fmt.Sprintf("person %d", r.people)}
}

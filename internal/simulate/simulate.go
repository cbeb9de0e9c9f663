// Package simulate lets tasks live whole lives under a workflow in a pretended world, and tells how they end: the real engine decides,
// in memory and on its own clock; agents, people and everything that goes wrong are told by the dice.
//
// It owns the pretended world, what agents and people do in it, which faults there are, and what must be true of a task while it lives.
// It owns no rule: whether a task moves, and what follows, the engine says, which is handed in.
package simulate

import (
	"context"
	"fmt"
	"time"

	"orange/internal/task"
	"orange/internal/workflow"
)

// Shares say how often something happens, each between 0 and 1.
type Shares struct {
	Slow          float64 // agents that take their time
	Lying         float64 // agents that ask before they have the evidence
	Dying         float64 // agents that die before they have asked
	Stubborn      float64 // agents that ask for the same again and again, and then do nothing
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
	NoPeople bool // no person comes where a task waits for one; else one does, after a while
}

// Join joins the engine to a world. It is asked once a run, for a world of its own.
type Join func(w *World) House

// Run makes all runs, one after the other: the same setup gives the same report, to the byte.
// An error says that the simulation itself cannot go on; what is found wrong stands in the report.
func Run(ctx context.Context, def *workflow.Definition, setup Setup, book Book, join Join) (Report, error) {
	first, last := 1, setup.Runs
	if setup.Only > 0 {
		first, last = setup.Only, setup.Only
	}
	var all tally
	for n := first; n <= last; n++ {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		r := newRun(def, setup, n, book)
		r.house = join(&World{r})
		if err := r.live(ctx); err != nil {
			return Report{}, fmt.Errorf("run %d of seed %d: %w", n, setup.Seed, err)
		}
		all.add(r)
		if r.id != "" {
			if err := book.Delete(ctx, r.id); err != nil {
				return Report{}, fmt.Errorf("run %d of seed %d: %w", n, setup.Seed, err)
			}
		}
	}
	return all.sum(), nil
}

// dawn is when every run begins.
func dawn() time.Time { return time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC) }

// human is a person who asks.
func human() task.Actor { return task.Actor{Role: task.RoleHuman} }

// Package simulation joins the real engine and the real monitor to a simulated world.
package simulation

import (
	"context"
	"log/slog"
	"runtime/debug"

	"orange/internal/engine"
	"orange/internal/engine/monitor"
	"orange/internal/proof/explore"
	"orange/internal/proof/simulate"
	"orange/internal/rules/workflow"
	"orange/internal/store/sqlite"
)

// Runner runs simulations.
type Runner struct{}

// Simulate runs tasks under a workflow from their creation to their end, in memory: it touches nothing of the home.
func (Runner) Simulate(ctx context.Context, def *workflow.Definition, s simulate.Setup) (simulate.Report, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most of what a run leaves is gone with it
	bound := provedBound(def)
	s.Bound = bound.Moves // no run may go further
	found, err := simulate.Run(ctx, def, s, OpenMemory, Join)
	found.Bound = bound
	return found, err
}

// provedBound is how far a task goes at most without a person; zero where that is not proved, or would take longer than
// a person waits for a task.
func provedBound(def *workflow.Definition) explore.Bound {
	if report := explore.Check(def, explore.MostAtCreation); report.Proved() {
		return report.Bound
	}
	return explore.Bound{}
}

// OpenMemory opens an empty record in memory.
func OpenMemory(ctx context.Context) (simulate.Record, error) {
	return sqlite.OpenMemory(ctx)
}

// Join joins the real monitor to the engine of a simulation.
func Join(s *simulate.Simulation) (*engine.Engine, simulate.Look) {
	return JoinRecord(s, s.Store())
}

// JoinRecord does so for an engine that works on another record than that of the simulation.
func JoinRecord(s *simulate.Simulation, record simulate.Record) (*engine.Engine, simulate.Look) {
	e := s.Engine(record)
	watch := &monitor.Monitor{
		Agents: s.Terminal(), Record: record, Engine: e, Rules: s.Rules(), PullRequests: s.PullRequests,
		Now: s.Now, Tell: s.Tell, Log: slog.New(slog.DiscardHandler), Stall: simulate.Stall,
	}
	return e, watch.Look
}

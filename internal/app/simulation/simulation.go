// Package simulation joins the real engine and the real monitor to a simulated world.
package simulation

import (
	"context"
	"runtime/debug"

	"orange/internal/engine"
	"orange/internal/engine/monitor"
	"orange/internal/proof/explore"
	"orange/internal/proof/simulate"
	"orange/internal/rules/workflow"
	"orange/internal/store/sqlite"
	"orange/internal/ui/cli"
)

// Runner runs simulations.
type Runner struct{}

// Simulate runs tasks under a workflow from their creation to their end, in memory: it touches nothing of the home.
func (Runner) Simulate(ctx context.Context, def *workflow.Definition, s cli.SimulationSetup,
	progress func(done, of int)) (cli.Simulated, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most of what a run leaves is gone with it
	setup := setupOf(s)
	setup.Progress = progress
	bound := provedBound(def)
	setup.Bound = bound.Moves // no run may go further
	found, err := simulate.Run(ctx, def, setup, OpenMemory, Join)
	out := cli.Simulated{
		Bound: bound,
		Path:  pathOf(found.Path), Runs: found.Runs, Well: found.Well, Needed: found.Needed, Astray: found.Unplanned,
		Resting: found.Waiting, Spans: found.Spans, Trace: found.Trace,
		Reviews: cli.SimulatedFigure(found.Reviews), Spawns: cli.SimulatedFigure(found.Spawns),
		Moves:    cli.SimulatedFigure(found.Moves),
		Refusals: cli.SimulatedFigure(found.Refusals), Faults: map[string]int{
			"engine_deaths": found.Faults.EngineDeaths, "agent_deaths": found.Faults.AgentDeaths,
			"failures": found.Faults.Failures,
			"late":     found.Faults.Late, "twice": found.Faults.Repeated,
		},
	}
	for _, o := range found.Outcomes {
		out.Outcomes = append(out.Outcomes, cli.SimulatedEnd{State: o.Status, End: o.End, Runs: o.Runs})
	}
	for _, b := range found.Breaches {
		out.Broken = append(out.Broken, cli.SimulatedBreach{Property: b.Property, Message: b.Message, Run: b.Run,
			Last: b.Last})
	}
	return out, err
}

func pathOf(w simulate.Path) cli.SimulatedPath {
	out := cli.SimulatedPath{States: w.States, Named: w.Named, Why: cli.PathShortest}
	if len(w.Named) > 0 {
		out.Why = cli.PathNamed
	}
	for _, red := range w.FailedChecks {
		out.Red = append(out.Red, cli.SimulatedRed{From: red.From, To: red.To, Check: red.Check})
	}
	return out
}

// provedBound is how far a task goes at most without a person; zero where that is not proved, or would take longer than
// a person waits for a task.
func provedBound(def *workflow.Definition) explore.Bound {
	if report := explore.Check(def, explore.MostAtCreation); report.Proved() {
		return report.Bound
	}
	return explore.Bound{}
}

// setupOf is a setup as the simulation has it.
func setupOf(s cli.SimulationSetup) simulate.Setup {
	return simulate.Setup{
		Runs: s.Runs, Seed: s.Seed, Only: s.Only, Trace: s.Trace, Path: s.Path, NoPeople: s.People == cli.PeopleNever,
		Shares: simulate.Shares{
			Slow: s.Slow, Lying: s.Lying, Dying: s.Dying, Stubborn: s.Stubborn, Restless: s.Restless,
			ReviewersFail: s.ReviewersFail, EngineDies: s.EngineDies, HooksFail: s.HooksFail,
		},
	}
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
	e, terminal := s.Engine(record), s.Terminal()
	watch := &monitor.Monitor{
		Sessions: terminal, Processes: terminal, Traces: terminal, Record: unwatched{record}, Engine: e,
		Rules: s.Rules(), Forge: s.Forge(),
		Now: s.Now, Tell: s.Tell, Log: e.Log, Stall: simulate.Stall,
	}
	return e, watch.Look
}

// unwatched is a record that only one program writes.
type unwatched struct{ simulate.Record }

// Writes is asked for by a long watch alone.
func (unwatched) Writes(context.Context) (int64, error) { return 0, nil }

func (unwatched) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}

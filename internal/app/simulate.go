package app

import (
	"context"
	"runtime/debug"
	"strconv"
	"time"

	"orange/internal/cli"
	"orange/internal/explore"
	"orange/internal/monitor"
	"orange/internal/simulate"
	"orange/internal/sqlite"
	"orange/internal/task"
	"orange/internal/tmux"
	"orange/internal/workflow"
)

// Simulate lets tasks live whole lives under a workflow, in memory: nothing of the house is touched.
func (h *house) Simulate(ctx context.Context, def *workflow.Definition, s cli.SimulationSetup,
	progress func(done, of int)) (cli.Simulated, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most of what a run leaves is gone with it
	setup := simulationOf(s)
	setup.Progress = progress
	setup.Bound = provedBound(def) // no run may go further
	found, err := simulate.Run(ctx, def, setup, openMemory, joinWorld)
	out := cli.Simulated{
		Way: wayOf(found.Way), Runs: found.Runs, Well: found.Well, Needed: found.Needed, Astray: found.Astray,
		Resting: found.Resting, Spans: found.Spans, Trace: found.Trace,
		Reviews: cli.SimulatedFigure(found.Reviews), Spawns: cli.SimulatedFigure(found.Spawns),
		Moves:    cli.SimulatedFigure(found.Moves),
		Refusals: cli.SimulatedFigure(found.Refusals), Faults: map[string]int{
			"engine_deaths": found.Faults.EngineDeaths, "agent_deaths": found.Faults.AgentDeaths,
			"failures": found.Faults.Failures,
			"late":     found.Faults.Late, "twice": found.Faults.Twice,
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

func wayOf(w simulate.Way) cli.SimulatedWay {
	out := cli.SimulatedWay{States: w.States, Named: w.Named, Why: cli.WayShortest}
	if len(w.Named) > 0 {
		out.Why = cli.WayNamed
	}
	for _, red := range w.Red {
		out.Red = append(out.Red, cli.SimulatedRed{From: red.From, To: red.To, Check: red.Check})
	}
	return out
}

// boundWorth is how many configurations a workflow may have for the bound of its moves to be looked for: a
// simulation waits for that.
const boundWorth = 10_000

// provedBound is how many moves a task makes at most without a person; 0 where that is not proved, or would take
// long to.
func provedBound(def *workflow.Definition) int {
	if report := explore.Check(def, boundWorth); report.Proved() {
		return report.Bound.Moves
	}
	return 0
}

// simulationOf is a setup as the simulation has it.
func simulationOf(s cli.SimulationSetup) simulate.Setup {
	return simulate.Setup{
		Runs: s.Runs, Seed: s.Seed, Only: s.Only, Trace: s.Trace, Way: s.Way, NoPeople: s.People == cli.PeopleNever,
		Shares: simulate.Shares{
			Slow: s.Slow, Lying: s.Lying, Dying: s.Dying, Stubborn: s.Stubborn, Restless: s.Restless,
			ReviewersFail: s.ReviewersFail, EngineDies: s.EngineDies, HooksFail: s.HooksFail,
		},
	}
}

func openMemory(ctx context.Context) (simulate.Record, error) {
	return sqlite.OpenMemory(ctx)
}

// joinWorld joins the real monitor to the engine of a simulated world.
func joinWorld(w *simulate.World) simulate.System { return joinRecord(w, w.Record()) }

func joinRecord(w *simulate.World, record simulate.Record) simulate.System {
	e, view := w.Engine(record), simulatedTerminal{w.Terminal()}
	return simulate.System{Engine: e, Monitor: &monitor.Monitor{
		Sessions: view, Processes: view, Traces: view, Record: unwatched{record}, Engine: e, Keeper: e,
		Rules: w.Rules(), Forge: w.Forge(),
		Now: w.Now, Tell: w.Tell, Log: e.Log, Stall: simulate.Stall,
	}}
}

// unwatched is a record that only one program writes.
type unwatched struct{ simulate.Record }

func (unwatched) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}

// simulatedTerminal is what a monitor sees of a simulated world.
type simulatedTerminal struct{ simulate.Terminal }

func (s simulatedTerminal) Panes(context.Context) ([]tmux.Pane, error) {
	agents, err := s.Agents()
	var out []tmux.Pane
	for _, a := range agents {
		if a.Window {
			out = append(out, tmux.Pane{WindowID: a.Role, Task: a.Task, Role: a.Role,
				Hook: strconv.FormatInt(a.Hook, 10),
				Dead: !a.Alive, Ending: a.Ending, Activity: a.Touched})
		}
	}
	return out, err
}

func (s simulatedTerminal) KillWindow(context.Context, string) error { return nil }

func (s simulatedTerminal) Watch(ctx context.Context, _ task.Process) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s simulatedTerminal) Alive(p task.Process) (bool, error) {
	agents, err := s.Agents()
	for _, a := range agents {
		if a.PID == p.PID {
			return a.Alive, err
		}
	}
	return false, err
}

func (s simulatedTerminal) Orphaned(task.Process) (bool, error)      { return true, nil }
func (s simulatedTerminal) EndGroup(context.Context, int) error      { return nil }
func (s simulatedTerminal) Known(string) (bool, error)               { return true, nil }
func (s simulatedTerminal) Stamp(task.Task) string                   { return s.Terminal.Stamp() }
func (s simulatedTerminal) Notes(context.Context, func(int64)) error { return nil }

func (s simulatedTerminal) Ending(hook int64) (task.Ending, bool, error) {
	agents, err := s.Agents()
	for _, a := range agents {
		if a.Hook == hook && a.Noted && !a.Alive {
			return a.Ending, true, err
		}
	}
	return task.Ending{}, false, err
}

func (s simulatedTerminal) Touched(context.Context, task.Task) (time.Time, error) {
	agents, err := s.Agents()
	var at time.Time
	for _, a := range agents {
		if a.Touched.After(at) {
			at = a.Touched
		}
	}
	return at, err
}

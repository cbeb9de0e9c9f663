package app

import (
	"context"
	"fmt"
	"sync/atomic"

	"orange/internal/api/fleet"
	"orange/internal/app/install"
	"orange/internal/app/launcher"
	"orange/internal/app/sibling"
	"orange/internal/engine"
	"orange/internal/run/environment"
	"orange/internal/run/probe"
	"orange/internal/run/proc"
	"orange/internal/run/stophook"
	"orange/internal/ui/cli"
	"orange/internal/work/snapshots"
	"orange/skills"
)

// Main runs the program and answers its exit status.
func Main() int {
	call := proc.ThisCall()
	if len(call.Args) == 1 && call.Args[0] == jqWord {
		return serveJQ(call)
	}
	call = launcher.WithConversation(call)
	if status, done := launcher.Main(call, results(call), messages(call)); done {
		return status // without the rest of the program, which would stay in memory
	}
	return Run(call, nil)
}

// Run runs a command line and answers its exit status. Served is a fleet with a server that it asks; nil for none.
func Run(call proc.Call, served cli.Served) int {
	if err := proc.RoomForFiles(proc.FewFiles); err != nil {
		fmt.Fprintf(messages(call), "orange: %v\n", err)
		return 1
	}
	at := place{call: call, asker: environment.NewAsker(call.Env), busy: new(atomic.Int32)}
	ctx, stop := proc.UntilSignal(func() { cli.EndLate(messages(call), at.busy.Load() > 0) })
	defer stop()
	r := execution{place: at, resume: served == nil}
	program := r.program()
	program.FleetServer, program.Served = sibling.Fleet(call), served
	program.MCP = func(version string, may []string) error { return sibling.Serve(call, version, may) }
	program.Dashboard = func(ctx context.Context, project string, all bool) error {
		at.busy.Add(1)
		if _, err := program.Open(ctx); err != nil {
			return err
		}
		return r.opened.showDashboard(ctx, project, all)
	}
	if call.Getenv(runnerMark) == "" && served == nil {
		program.Forward = r.forward
	}
	return r.during(ctx, func(ctx context.Context) int { return program.Run(ctx, call.Args) })
}

// execution is one run of a command line.
type execution struct {
	place
	resume bool // it finishes what killed processes left undone
	opened *app // nil as long as the home is not open
}

// program is the command line, for what any process may do with it.
func (r *execution) program() *cli.Program {
	program := &cli.Program{
		Version: cli.BuildVersion(),
		Open: func(ctx context.Context) (*cli.Services, error) {
			return r.services(r.open(ctx, r.resume))
		},
		OpenToLook: func(ctx context.Context) (*cli.Services, error) { return r.services(r.openToLook(ctx)) },
		Examine:    r.examine,
	}
	program.In, program.Out, program.Err = r.call.In, results(r.call), messages(r.call)
	program.Terminal, program.Progress = r.call.TTY().In, progressAt(r.call)
	program.OutTerminal = r.call.OutTerminal
	program.SetZone(r.call.Zone())
	return program
}

func (r *execution) services(a *app, err error) (*cli.Services, error) {
	if err != nil {
		return nil, err
	}
	r.opened = a
	return a.services(), nil
}

// during does the command line and closes what it has opened.
func (r *execution) during(ctx context.Context, do func(context.Context) int) (status int) {
	status = do(proc.WithEnviron(ctx, r.asker.Environ))
	if r.opened != nil {
		if err := r.opened.close(); err != nil {
			fmt.Fprintf(messages(r.call), "orange: %v\n", err)
			return 1
		}
	}
	return status
}

// services are what the command line asks.
func (a *app) services() *cli.Services {
	return &cli.Services{
		Commands: commands{a.engine, a}, Queries: a.queries(), Identity: a, Home: a.home,
		Workflows: workflowFiles{Home: a.home}, Pool: a.pool, Monitor: watch{a},
		Prober: probe.Prober{Harness: a.home.Harness, Environ: a.environments.OfHome, Home: a.dir},
		Turns: stophook.Keeper{Why: a.queries().Why, Needs: a.lookout.Need, Tip: a.pool.Tip, Rules: a.home,
			Files: a.files, Texts: a.engine, Seat: a.call.Getenv("ORANGE_SEAT")},
		Variables: environment.Variables{Home: a.dir, Locks: a.files},
		Snapshots: snapshots.Keeper{Home: a.dir, Slots: a.pool, Files: a.files, Workflows: a.store, Sync: a.engine.Sync,
			Load: a.store.Load, Events: a.store.Events, Adopter: a.engine, FilesLock: engine.FilesLock},
		Fleet:  fleet.Hosts{Home: a.dir},
		Skills: install.Skills{Files: skills.Files, Home: a.dir, Harnesses: a.home, Getenv: a.call.Getenv},
	}
}

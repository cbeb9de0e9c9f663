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
	var shown atomic.Bool // it restores the terminal, and ends at other signals
	ctx, stop := proc.UntilSignal(func() { cli.EndLate(messages(call), shown.Load()) })
	defer stop()
	asker := environment.NewAsker(call.Env)
	ctx = proc.WithEnviron(ctx, asker.Environ)
	at := place{call, asker}
	var opened *app
	program := &cli.Program{
		Version: cli.BuildVersion(), FleetServer: sibling.Fleet(call), Served: served,
		Open: func(ctx context.Context) (_ *cli.Services, err error) {
			if opened, err = at.open(ctx, served == nil); err != nil {
				return nil, err
			}
			return opened.services(), nil
		},
		OpenToLook: func(ctx context.Context) (_ *cli.Services, err error) {
			if opened, err = at.openToLook(ctx); err != nil {
				return nil, err
			}
			return opened.services(), nil
		},
		Dashboard: func(ctx context.Context, project string, all bool) (err error) {
			shown.Store(true)
			if opened, err = at.open(ctx, served == nil); err != nil {
				return err
			}
			return opened.showDashboard(ctx, project, all)
		},
		Examine: at.examine,
		MCP:     func(version string, may []string) error { return sibling.Serve(call, version, may) },
	}
	program.In, program.Out, program.Err = call.In, results(call), messages(call)
	program.Terminal, program.Progress = proc.IsTerminal(call.In), progressAt(call)
	program.OutTerminal = call.OutTerminal
	status := program.Run(ctx, call.Args)
	if opened != nil {
		if err := opened.close(); err != nil {
			fmt.Fprintf(messages(call), "orange: %v\n", err)
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

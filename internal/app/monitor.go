package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"orange/internal/app/traces"
	"orange/internal/engine/monitor"
	"orange/internal/rules/task"
	"orange/internal/run/launch"
	"orange/internal/run/proc"
	"orange/internal/run/service"
	"orange/internal/work/pool"
)

// usualStall is how long an agent may do nothing before its task is marked, where the configuration does not say.
const usualStall = 15 * time.Minute

// monitor hands the monitor what it needs.
func (a *app) monitor(say func(string)) (*monitor.Monitor, error) {
	config, err := a.home.Config()
	if err != nil {
		return nil, err
	}
	notifier := monitor.Notifier{Argv: config.Notify, Log: a.logger}
	return &monitor.Monitor{
		Agents: traces.Agents{Pool: a.pool, Server: a.server, System: proc.System{Grace: grace}, Mirrors: a.files,
			Home: a.home},
		Record: a.store, WatchRecord: a.store.Watch, Engine: a.engine, Rules: a.home,
		PullRequests: (&pool.MonitoredRequests{Pool: a.pool, Now: time.Now}).Look,
		Conflicts:    a.pool.FindConflicts,
		Hint:         a.server.AwaitDeath, Heartbeat: a.lease.Heartbeat(a.logger), Now: time.Now, Log: a.logger,
		Stall: cmp.Or(config.StalledAfter, usualStall), Needs: a.lookout.Waiting,
		GoOn: a.engine.GoOn, Spent: proc.Spent,
		Tell: func(ctx context.Context, t task.Task, text string) {
			say(strings.TrimPrefix(fmt.Sprintf("%s/%s %s: %s", t.Project, t.Branch, t.ID, text), "/ : "))
			notifier.Notify(a.forPerson(ctx), t, text)
		},
	}, nil
}

// forPerson is ctx for a program that a person has named in the configuration of the home: it asks as they do.
func (a *app) forPerson(ctx context.Context) context.Context {
	if a.own == nil {
		return ctx
	}
	return proc.WithPrograms(ctx, a.own.persons)
}

// watch is the monitor as the command line asks for it.
type watch struct{ *app }

// inHome is ctx with the environment for what is done for no one task.
func (a *app) inHome(ctx context.Context) context.Context {
	return proc.WithEnviron(ctx, a.environments.OfHome(proc.EnvironOf(ctx).Own))
}

// Run watches until ctx ends, and does the calls of the home's clients, if no other process does. Where another one has
// the lease, it waits for its end first.
func (w watch) Run(ctx context.Context, say func(string)) error {
	debug.SetGCPercent(50) // it goes on for weeks and does little: its memory is worth more than the sweeping
	end := func() {}
	defer func() { end() }()
	return w.watchOver(w.inHome(ctx), watchEvents{
		waits: func(holder task.Watcher) {
			if found, advice := holder.Trouble(time.Now()); found != "" {
				say(found + "; " + advice)
				return
			}
			say("another monitor is at work (process " + holder.Name() + "); waiting for its end")
		},
		begins: func(ctx context.Context) context.Context {
			say("watching " + w.dir)
			ctx, end = w.serveToo(ctx)
			return ctx
		},
		tells: say,
	})
}

// watchEvents has the functions that are called for the events of a watch over agents.
type watchEvents struct {
	waits  func(holder task.Watcher)                 // another process has the lease: this one waits for its end
	begins func(ctx context.Context) context.Context // it watches from now on, until the one that this answers ends
	tells  func(text string)                         // something of a task that a person wants to know
}

func (a *app) watchOver(ctx context.Context, on watchEvents) error {
	m, err := a.monitor(on.tells)
	if err != nil {
		return err
	}
	release, err := a.lease.Wait(ctx, a.logger, on.waits)
	if release == nil {
		return err
	}
	defer release()
	return a.watchAlone(on.begins(ctx), m)
}

// watchAlone watches in this process, which has the lease.
func (a *app) watchAlone(ctx context.Context, m *monitor.Monitor) error {
	if err := launch.DropTickets(a.dir); err != nil {
		return err
	}
	a.checkWait = 0 // a watch waits for nothing: what is being found out is asked for again
	a.logger.Info("watch begins", "component", "monitor", "process", os.Getpid())
	m.Run(ctx)
	a.logger.Info("watch ends", "component", "monitor", "process", os.Getpid())
	return nil
}

// Once does everything that there is to do now. Where another process has the lease it does nothing, and
// says so: that one does it, or a person has to know why it does not.
func (w watch) Once(ctx context.Context, say func(string)) error {
	ctx = w.inHome(ctx)
	m, err := w.monitor(say)
	if err != nil {
		return err
	}
	release, free, err := w.lease.Try()
	if err != nil {
		return err
	}
	if !free {
		holder := w.lease.Watcher()
		if found, advice := holder.Trouble(time.Now()); found != "" {
			return fmt.Errorf("nothing was done: %s; %s", found, advice)
		}
		if holder.Yields {
			return nil // it was started for just that
		}
		return fmt.Errorf("nothing was done: another monitor is at work (process %s), and does all of it",
			holder.Name())
	}
	defer release()
	if err := launch.DropTickets(w.dir); err != nil {
		return err
	}
	ctx, off := context.WithCancel(ctx)
	defer off()
	go w.lease.Beat(ctx, w.logger)
	return m.Once(ctx)
}

// Unit is the file with which the system's supervisor keeps a monitor running.
func (w watch) Unit(kind string) (string, error) {
	return service.Unit{Home: w.dir, Program: w.self, Environment: service.Environment(w.dir, w.call.Getenv)}.Text(kind)
}

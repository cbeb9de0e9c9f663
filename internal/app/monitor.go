package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"orange/internal/api/socket"
	"orange/internal/app/launcher"
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
		Hint:         a.server.AwaitDeath, Heartbeat: func() {}, Now: time.Now, Log: a.logger,
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

// Run is the server of the home in the foreground, until ctx ends. It takes the place of one in the background, and
// waits for the end of another one in the foreground. Where agents live it leaves one in the background behind.
func (w watch) Run(ctx context.Context, say func(string)) error {
	if w.own != nil {
		return errOtherServes
	}
	if os.Getpid() == 1 {
		return w.below(ctx, say)
	}
	if _, err := w.monitor(say); err != nil {
		return err
	}
	ctx = w.inHome(ctx)
	c, err := w.takeOver(ctx, say)
	if c == nil {
		return err
	}
	if c.server != nil {
		c.server.Stay()
	}
	say("watching " + w.dir)
	w.serve(ctx, c, say, func() bool { return !c.replaced() })
	if live, err := w.live(context.WithoutCancel(ctx)); err != nil || !live {
		return err
	}
	return launcher.EnsureServer(context.WithoutCancel(ctx), w.call, w.dir, w.self, nil)
}

// below runs the monitor as another process below this one, which is the first of its machine.
func (w watch) below(ctx context.Context, say func(string)) error {
	say("this is the first process of a container: the monitor is another one")
	end, err := proc.Supervise(ctx, proc.Command{Name: w.self, Args: w.call.Args, Dir: w.call.Dir,
		Base: w.call.Env})
	if err == nil && end.Status != 0 {
		err = fmt.Errorf("the monitor ended with status %d", end.Status)
	}
	return err
}

// takeOver makes this process the server of the home; nil where ctx ends first.
func (w watch) takeOver(ctx context.Context, say func(string)) (c *calls, err error) {
	told := ""
	for ; ctx.Err() == nil; proc.Pause(ctx, lookEvery) {
		if c, err = w.listen(ctx); !errors.Is(err, errOtherServes) {
			return c, err
		}
		h, err := socket.Look(ctx, w.dir)
		if err == nil && !h.Stays {
			var release func()
			if release, err = endServer(ctx, w.dir); err == nil {
				return w.listenLocked(ctx, release)
			}
		}
		text := fmt.Sprintf("another monitor is at work (process %d); waiting for its end", h.PID)
		if err != nil {
			text = "waiting for the end of another server: " + err.Error()
		}
		if text != told && ctx.Err() == nil {
			told = text
			w.logger.Info("watch waits", "component", "monitor", "why", text)
			say(text)
		}
	}
	return nil, nil
}

// watchMeanwhile watches over the agents in this process, which serves the home, until ctx ends. What it cannot begin
// with is tried again.
func (w watch) watchMeanwhile(ctx context.Context, c *calls, say func(string)) {
	c.watching.Lock()
	defer c.watching.Unlock()
	for ; ctx.Err() == nil; proc.Pause(ctx, lookEvery) {
		m, err := w.monitor(say)
		if err == nil {
			err = launch.DropTickets(w.dir)
		}
		if err != nil {
			w.logger.Error("the server cannot watch", "component", "server", "error", err.Error())
			continue
		}
		if c.server != nil {
			m.Heartbeat = c.server.Heard
		}
		w.checkWait = 0 // a watch waits for nothing: what is being found out is asked for again
		w.logger.Info("watch begins", "component", "monitor", "process", os.Getpid())
		m.Heartbeat()
		m.Run(ctx)
		w.logger.Info("watch ends", "component", "monitor", "process", os.Getpid())
	}
}

// Once does everything that there is to do now. In a process that serves the home and watches it does nothing: the
// watch does all of it.
func (w watch) Once(ctx context.Context, say func(string)) error {
	ctx = w.inHome(ctx)
	if w.own != nil {
		if !w.own.watching.TryLock() {
			say(fmt.Sprintf("process %d watches, and does all that there is to do", os.Getpid()))
			return nil
		}
		defer w.own.watching.Unlock()
		return w.once(ctx, say)
	}
	release, free, err := w.files.TryLock(launcher.ServerLock)
	if err == nil && !free {
		err = errors.New("nothing was done: another process serves the home, and does all of it; see " +
			"\"orange server status\"")
	}
	if err != nil {
		return err
	}
	err = w.once(ctx, say)
	release()
	// An agent that has begun meanwhile has started none, as this process had the lock.
	return errors.Join(err, launcher.EnsureServer(ctx, w.call, w.dir, w.self, nil))
}

func (w watch) once(ctx context.Context, say func(string)) error {
	m, err := w.monitor(say)
	if err == nil {
		err = launch.DropTickets(w.dir)
	}
	if err != nil {
		return err
	}
	return m.Once(ctx)
}

// Unit is the file with which the system's supervisor keeps a monitor running.
func (w watch) Unit(kind string) (string, error) {
	return service.Unit{Home: w.dir, Program: w.self, Environment: service.Environment(w.dir, w.call.Getenv)}.Text(kind)
}

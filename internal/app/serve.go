package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"orange/internal/api/socket"
	"orange/internal/app/launcher"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

const (
	idle      = 10 * time.Minute // a server ends when it has done nothing for so long and no task is live
	lookEvery = 2 * time.Second  // how often it looks whether there is someone to watch over, and whether it is needed
)

// Serve does the calls of the home's clients as long as that is needed, and watches over the agents meanwhile, unless a
// monitor or a dashboard of a person does.
func (w watch) Serve(ctx context.Context, ready func() error) error {
	debug.SetGCPercent(50) // as the monitor
	config, err := w.home.Config()
	if err != nil {
		return err
	}
	if config.NoMonitor {
		return ready() // so it was asked for
	}
	own, err := environment.OwnBearings(w.dir, w.call.Env)
	if errors.Is(err, environment.ErrNoBearings) {
		own, err = w.call.Env, nil // they are those of the person who asks first
	}
	if err != nil {
		return err
	}
	ctx = proc.WithEnviron(ctx, w.environments.OfHome(own))
	c, err := w.listen(ctx)
	if errors.Is(err, errServed) {
		return ready()
	}
	if err != nil {
		return err
	}
	defer c.end(ctx)
	if err := ready(); err != nil {
		return err
	}
	for ctx.Err() == nil && w.needed(ctx, c) {
		if err := w.watchMeanwhile(ctx); err != nil {
			return err
		}
		proc.Pause(ctx, lookEvery)
	}
	return nil
}

// needed reports whether someone may need this server: there was a call a moment ago, or a task is live. What cannot be
// looked at may.
func (w watch) needed(ctx context.Context, c *calls) bool {
	if w.gone() {
		return false
	}
	if c.server != nil {
		if err := c.server.Renew(); err != nil {
			w.logger.Warn("the socket cannot be made again", "component", "server", "error", err.Error())
		}
	}
	if !c.quiet(idle) {
		return true
	}
	live, err := w.live(ctx)
	return live || err != nil
}

// watchMeanwhile watches as long as there are live tasks, if no other process does; one that wants to makes it return.
func (w watch) watchMeanwhile(ctx context.Context) error {
	if w.call.Getenv(harness.WatchVariable) == harness.OnlyCalls {
		return nil
	}
	ctx, off := proc.UntilAskedToYield(ctx)
	defer off()
	return w.lease.While(func() (bool, error) {
		if ctx.Err() != nil || w.gone() {
			return false, nil
		}
		return w.live(ctx)
	}, func() error {
		m, err := w.monitor(func(string) {})
		if err != nil {
			return err
		}
		m.Idle, m.Gone = idle, w.gone
		return w.watchAlone(ctx, m)
	})
}

// gone reports whether the home is gone.
func (a *app) gone() bool {
	_, err := os.Stat(filepath.Join(a.dir, recordName))
	return errors.Is(err, os.ErrNotExist)
}

// live reports whether there is a live task.
func (a *app) live(ctx context.Context) (bool, error) {
	live, err := a.store.List(ctx, record.Filter{Live: true, Most: 1})
	return len(live) > 0, err
}

// Server is how the server of the home is.
func (w watch) Server(ctx context.Context) (socket.Health, error) { return socket.Look(ctx, w.dir) }

// endTime is how long a server may take to end. The calls under way may take longer; they are not cut off.
const endTime = 15 * time.Second

// EndServer ends the server of the home, and waits for that.
func (w watch) EndServer(ctx context.Context) error {
	release, err := endServer(ctx, w.dir)
	if err == nil {
		release()
	}
	return err
}

// endServer ends the server of a home. No other one begins until the lock is released.
func endServer(ctx context.Context, dir string) (release func(), err error) {
	files := mirror.Files{Home: dir}
	release, free, err := files.TryLock(launcher.ServerLock)
	if free || err != nil {
		return release, err
	}
	s, err := socket.Look(ctx, dir) // one that does not answer is ended too
	if s.PID == 0 {
		return nil, fmt.Errorf("cannot end the server, which has lost its socket: %w; it makes it again within %s", err,
			lookEvery)
	}
	one, err := proc.Lookup(s.PID)
	if err == nil {
		err = proc.Signal(one, syscall.SIGTERM)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("end the server: %w", err)
	}
	within, off := context.WithTimeout(ctx, endTime)
	defer off()
	if release, err = files.Lock(within, launcher.ServerLock); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("process %d serves the home still after %s: it ends what it has begun, calls under way: %d; "+
			"look with %q, or end it with %q", s.PID, endTime, s.Calls, "orange server status",
			fmt.Sprintf("kill -KILL %d", s.PID))
	}
	return release, err
}

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"orange/internal/api/socket"
	"orange/internal/app/launcher"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

const (
	idle      = 10 * time.Minute // a server ends when it has had no call for so long and no task is live
	lookEvery = 2 * time.Second  // how often it looks whether there is someone to watch over, and whether it is needed
)

// Serve does the calls of the home's clients as long as that is needed, and watches over the agents meanwhile.
func (w watch) Serve(ctx context.Context, ready func() error) error {
	config, err := w.home.Config()
	if err != nil {
		return err
	}
	if config.NoMonitor {
		return ready() // that no server begins is what the person wants
	}
	own, err := environment.OwnBearings(w.dir, w.call.Env)
	if errors.Is(err, environment.ErrNoBearings) {
		own, err = w.call.Env, nil // they are those of the person who asks first
	}
	if err != nil {
		return err
	}
	ctx = proc.WithEnviron(ctx, w.environments.OfHome(own))
	defer proc.TellWhatThisDoes(func(stacks string) {
		w.logger.Warn("the server was asked what it does", "component", "server", "trace", stacks)
	})()
	say := func(string) {}
	if w.call.Getenv(harness.WatchVariable) == harness.OnlyCalls {
		say = nil
	}
	for {
		c, err := w.listen(ctx)
		if errors.Is(err, errOtherServes) {
			return ready()
		}
		if err == nil {
			if err = ready(); err != nil {
				c.end(ctx, func() {})
			}
		}
		if err != nil {
			w.logger.Error("no server begins", "component", "server", "error", err.Error())
			return err
		}
		w.serve(ctx, c, say, func() bool { return w.needed(ctx, c) })
		// A task that has begun while this server ended has found it there, and started no other one.
		if ctx.Err() != nil || c.replaced() {
			return nil
		}
		if live, err := w.live(ctx); err != nil || !live {
			return err
		}
		ready = func() error { return nil }
	}
}

// sweepAt is how much a server's memory may grow until it is swept, in percent. It goes on for weeks and does little:
// its memory is worth more than the sweeping.
const sweepAt = 50

// serve watches over the agents as long as this server is needed, and until the calls under way have ended: no other
// process watches meanwhile. It tells a person by say; where that is nil it does not watch.
func (w watch) serve(ctx context.Context, c *calls, say func(string), needed func() bool) {
	debug.SetGCPercent(sweepAt)
	within, off := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	if say != nil {
		watching.Go(func() { w.watchMeanwhile(within, c, say) })
	}
	for ctx.Err() == nil && needed() {
		proc.Pause(ctx, lookEvery)
	}
	c.end(ctx, func() {
		off()
		watching.Wait()
	})
}

// needed reports whether someone may need this server: there was a call a moment ago, or a task is live. What cannot be
// looked at may be.
func (w watch) needed(ctx context.Context, c *calls) bool {
	if c.replaced() {
		return false
	}
	if c.server != nil && c.server.Idle() < idle {
		return true
	}
	live, err := w.live(ctx)
	return live || err != nil
}

// live reports whether there is a live task.
func (a *app) live(ctx context.Context) (bool, error) {
	live, err := a.store.List(ctx, record.Filter{Live: true, Most: 1})
	return len(live) > 0, err
}

// Server is how the server of the home is.
func (w watch) Server(ctx context.Context) (socket.Health, error) {
	h, err := socket.Look(ctx, w.dir)
	if !errors.Is(err, socket.ErrNoServer) {
		return h, err
	}
	release, free, failed := w.files.TryLock(launcher.ServerLock)
	switch {
	case failed != nil:
		return h, failed
	case !free:
		return h, errors.New("a process has the lock of the server and does no commands: it ends, or can make no " +
			"socket; orange log --component server says more")
	}
	release()
	return h, err
}

// endTime is how long a server may take to end. The calls under way may take longer; they are not cut off.
const endTime = 15 * time.Second

// lockEvery is how often it is looked whether a server without a socket has ended.
const lockEvery = 100 * time.Millisecond

// EndServer ends the server of the home, and waits for that.
func (w watch) EndServer(ctx context.Context) error {
	release, err := endServer(ctx, w.dir)
	if err == nil {
		release()
	}
	return err
}

// RestartServer ends the server of the home and starts another one. One that does not answer writes into the log what
// it does, if it still can, and is killed.
func (w watch) RestartServer(ctx context.Context) error {
	h, err := socket.Look(ctx, w.dir)
	if errors.Is(err, socket.ErrHung) {
		if err := endHung(ctx, h.PID); err != nil {
			return err
		}
	}
	release, err := endServer(ctx, w.dir)
	if err != nil {
		return err
	}
	release()
	return launcher.EnsureServer(ctx, w.call, w.dir, w.self, environment.BearingsIn(w.call.Env))
}

// endHung ends a process that does not answer.
func endHung(ctx context.Context, pid int) error {
	one, err := proc.Lookup(pid)
	if err == nil {
		err = proc.AskWhatItDoes(ctx, one)
	}
	if err == nil {
		err = proc.End(ctx, []task.Process{one}, grace)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("end the server, which does not answer: %w", err)
	}
	return nil
}

// endServer ends the server of a home. No other one begins until the lock is released.
func endServer(ctx context.Context, dir string) (release func(), err error) {
	files := mirror.Files{Home: dir}
	within, off := context.WithTimeout(ctx, endTime)
	defer off()
	s, release, hung := awaitServer(within, files)
	if s.PID == 0 {
		return release, cmp.Or(ctx.Err(), hung)
	}
	one, err := proc.Lookup(s.PID)
	if err == nil {
		err = proc.Signal(one, syscall.SIGTERM)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("end the server: %w", err)
	}
	release, err = files.Lock(within, launcher.ServerLock)
	switch {
	case err == nil || ctx.Err() != nil:
	case hung != nil:
		err = hung
	default:
		err = fmt.Errorf("process %d serves the home still after %s: it ends what it has begun, calls under way: %d; "+
			"look with %q", s.PID, endTime, s.Calls, "orange server status")
	}
	return release, err
}

// awaitServer answers how the server of a home is, or the release of its lock where it has ended. One that ends already
// has no socket, and one whose socket was taken away makes it again in a moment.
func awaitServer(within context.Context, files mirror.Files) (s socket.Health, release func(), err error) {
	for {
		release, free, err := files.TryLock(launcher.ServerLock)
		if free || err != nil {
			return s, release, err
		}
		s, err = socket.Look(within, files.Home)
		if s.PID != 0 { // one that does not answer is asked to end too: it may do so when it goes on
			return s, nil, err
		}
		if proc.Pause(within, lockEvery); within.Err() != nil {
			return s, nil, fmt.Errorf("cannot end the server, which has the lock %q: %w; it ends already, or can make "+
				"no socket; look with %q", launcher.ServerLock, err, "orange log --component server")
		}
	}
}

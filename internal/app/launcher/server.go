package launcher

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"orange/internal/api/socket"
	"orange/internal/rules/harness"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// ServerLock is the lock that the process has which serves a home.
const ServerLock = "server"

// EnsureServer starts a server for a home in the background, by the program self, if no process serves it and
// harness.WatchVariable does not forbid it, and waits until it serves; one that another process has begun it does not
// wait for. The server runs in a process session of its own, in the home's bearings: in no variable that an agent, or
// the person who started one task, has set. Where no person has started a task yet, usual are the bearings; with none
// of these either no server begins. A server that the person's configuration forbids ends at once.
func EnsureServer(ctx context.Context, call proc.Call, home, self string, usual []string) error {
	if call.Getenv(harness.WatchVariable) == harness.NoWatch {
		return nil
	}
	env, err := environment.Bearings(home)
	if err == nil && len(env) == 0 {
		env = usual
	}
	if err != nil || len(env) == 0 { // or the home is gone
		return err
	}
	release, free, err := mirror.Files{Home: home}.TryLock(ServerLock)
	if err != nil || !free {
		return err
	}
	release()
	for _, name := range []string{"ORANGE_LOG_LEVEL", harness.WatchVariable} {
		if value := call.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	said, err := proc.DetachAndHear(ctx, proc.Command{Name: self, Dir: home, Args: []string{"serve"},
		Base: append(env, "ORANGE_HOME="+home)})
	if err == nil && said == "" {
		err = errors.New("the server of the home ended at once; a command that opens the home says why")
	}
	return err
}

// ensureServer has an agent watched over where no process serves the home: by this launcher, which no sandbox of the
// agent confines.
func ensureServer(ctx context.Context, call proc.Call, t harness.Ticket) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	return EnsureServer(ctx, call, t.Home, self, nil)
}

const (
	lookForServer = 30 * time.Second // how often a launcher looks for a server that it can wait for
	startSoonest  = time.Second      // how long it waits before it starts a server again
	startLatest   = 5 * time.Second
	deathsCounted = time.Minute // in which so many deaths may be
	mostDeaths    = 3
)

// keepServer starts the server of a home again where it dies while an agent lives, until ctx ends. One that said that
// it ends is not started again, and one that dies again and again is left alone for a while. What fails is in the log
// of the server that could not begin.
func keepServer(ctx context.Context, call proc.Call, t harness.Ticket) {
	var deaths []time.Time
	for ctx.Err() == nil {
		if err := socket.AwaitDeath(ctx, t.Home); err != nil {
			proc.Pause(ctx, lookForServer)
			continue
		}
		now := time.Now()
		deaths = append(slices.DeleteFunc(deaths, func(at time.Time) bool { return now.Sub(at) > deathsCounted }), now)
		wait := startSoonest + rand.N(startLatest-startSoonest) // many launchers do not begin at one instant
		if len(deaths) > mostDeaths {
			wait = deathsCounted
		}
		if proc.Pause(ctx, wait); ctx.Err() == nil {
			_ = ensureServer(ctx, call, t)
		}
	}
}

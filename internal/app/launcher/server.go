package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"

	"orange/internal/rules/harness"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// ServerLock is the lock that the process has which serves a home.
const ServerLock = "server"

// EnsureServer starts a server for a home in the background, by the program self, if no process serves it and
// harness.WatchVariable does not forbid it, and waits until it serves. It runs in a process session of its own, in the
// home's bearings: in nothing that an agent, or the person who started one task, has set. Where no person has started a
// task yet, it takes the bearings of one who asks now. A server that the person's configuration forbids ends at once.
func EnsureServer(ctx context.Context, call proc.Call, home, self string, person bool) error {
	wanted := call.Getenv(harness.WatchVariable)
	if wanted == harness.NoWatch {
		return nil
	}
	env, err := environment.Bearings(home)
	if err == nil && len(env) == 0 && person {
		env = environment.BearingsIn(call.Env)
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

// ensureServer has the end of an agent seen to where no process watches.
func ensureServer(ctx context.Context, call proc.Call, t harness.Ticket) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	return EnsureServer(ctx, call, t.Home, self, false)
}

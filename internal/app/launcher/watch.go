package launcher

import (
	"context"
	"fmt"
	"os"

	"orange/internal/rules/harness"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/lease"
)

// EnsureWatch starts a monitor for a home in the background, by the program self, if no process watches and
// harness.WatchVariable does not forbid it. It runs in a process session of its own, in the home's bearings: in
// nothing that an agent, or the person who started one task, has set. A monitor that the person's configuration forbids
// ends at once.
func EnsureWatch(call proc.Call, home, self string) error {
	wanted := call.Getenv(harness.WatchVariable)
	if wanted == harness.NoWatch {
		return nil
	}
	env, err := environment.Bearings(home)
	if err != nil || len(env) == 0 { // no person has started a task at this home, or it is gone
		return err
	}
	return lease.Watch{Home: home}.Ensure(func() error {
		for _, name := range []string{"ORANGE_LOG_LEVEL", harness.WatchVariable} {
			if value := call.Getenv(name); value != "" {
				env = append(env, name+"="+value)
			}
		}
		_, err = proc.Detach(context.Background(), proc.Command{Name: self, Dir: home,
			Args: []string{"monitor", "--background"},
			Base: append(env, "ORANGE_HOME="+home)})
		return err
	})
}

// ensureWatch has the end of an agent seen to where no process watches.
func ensureWatch(call proc.Call, t harness.Ticket) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	return EnsureWatch(call, t.Home, self)
}

package app

import (
	"context"
	"os"

	"orange/internal/environment"
	"orange/internal/proc"
)

// runnerMark tells a runner of hooks from every other command.
const runnerMark = "ORANGE_RUNNER"

// runner performs hooks in a process of its own, in a process session of its own: whatever the hooks end, it goes on.
type runner struct{ house *house }

func (r runner) Run(ctx context.Context, id string, person bool) error {
	args := []string{"settle", id}
	if person {
		args = append(args, "--person")
	} else {
		// Whoever asks, be it only for a list: what an agent made of its environment goes no further. Whether it
		// may ask is judged elsewhere.
		_, _ = r.house.Actor(ctx, "", "")
	}
	return r.house.detach(args...)
}

// detach starts this program with these arguments in a process that outlives this one.
func (h *house) detach(args ...string) error {
	env := append(environment.WithoutAgent(os.Environ()), runnerMark+"=1", "ORANGE_HOME="+h.dir)
	_, err := proc.Detach(proc.Command{Name: h.self, Args: args, Dir: h.dir, Env: env})
	return err
}

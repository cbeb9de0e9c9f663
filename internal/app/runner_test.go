package app

import (
	"slices"
	"testing"

	"orange/internal/run/environment"
	"orange/internal/run/proc"
)

// Where nothing is kept for the next task yet, it is to get what the task before had, and not the bearings alone.
func TestARunnerPassesItsEnvironmentToTheNextTasksRunner(t *testing.T) {
	t.Parallel()
	kept := proc.WithEnviron(t.Context(), func() proc.Environ { return proc.Environ{Own: []string{"KEPT=yes"}} })
	a := &app{place: place{asker: environment.NewAsker([]string{"PATH=/bearings"})}, runner: true}
	if env := a.environmentOfRunner(kept, "next", false); !slices.Equal(env, []string{"KEPT=yes"}) {
		t.Errorf("found %q", env)
	}
	a.runner = false
	if env := a.environmentOfRunner(kept, "next", false); !slices.Equal(env, []string{"PATH=/bearings"}) {
		t.Errorf("for one who is no runner: found %q", env)
	}
}

package testkit

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"orange/internal/run/proc"
)

// Build builds programs of this repository into a folder, from a package of the module fleet. Without names it builds
// orange and orange-fleet.
func Build(t testing.TB, dir string, flags []string, programs ...string) {
	t.Helper()
	if programs == nil {
		programs = []string{"orange", "orange-fleet"}
	}
	for _, program := range programs {
		from := ".."
		if program == "orange" {
			from = filepath.Join("..", "..")
		}
		words := append(append([]string{"build"}, flags...), "-o", dir+"/", "./cmd/"+program)
		_, err := proc.Run(t.Context(), proc.Command{Name: "go", Args: words, Dir: from,
			Env: []string{"CGO_ENABLED=0"}})
		Must(t, err)
	}
}

// EndTerminals ends the terminal servers with sockets below a folder, and waits for the processes that the commands of
// homes left at work.
func EndTerminals(t testing.TB, sockets string, most time.Duration, homes ...string) {
	t.Helper()
	late, tick := time.After(most), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for clean := 0; clean < 2; {
		clean++
		found, err := filepath.Glob(filepath.Join(sockets, "tmux-*", "*"))
		Must(t, err)
		for _, socket := range found {
			kill := proc.Command{Name: "tmux", Args: []string{"-S", socket, "kill-server"}}
			if _, err := proc.Run(context.Background(), kill); err == nil {
				clean = 0
			}
		}
		for _, home := range homes {
			if left, err := proc.WithEnvironment("ORANGE_HOME=" + home); err == nil && len(left) > 0 {
				clean = 0
			}
		}
		select {
		case <-late:
			t.Errorf("processes of %s are left", homes)
			return
		case <-tick.C:
		}
	}
}

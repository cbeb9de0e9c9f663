package proc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orange/internal/run/proc"
)

// A program on the person's terminal is asked to leave when its context ends, and may put its things in order first.
func TestInteractive_leavesWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, off := context.WithCancel(t.Context())
	defer off()
	dir := t.TempDir()
	began, tidied := filepath.Join(dir, "began"), filepath.Join(dir, "tidied")
	ended := make(chan error, 1)
	go func() {
		ended <- proc.Interactive(ctx, proc.Command{
			Name: "sh", Args: []string{
				"-c", `trap 'touch "$2"; exit 3' TERM; touch "$1"; while :; do sleep 0.02; done`, "sh", began, tidied}})
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !there(began) {
		select {
		case err := <-ended:
			t.Fatalf("it ended by itself: %v", err)
		case <-tick.C:
		}
	}
	off()
	if err := <-ended; err == nil {
		t.Error("a program that was asked to leave ended as if it was finished")
	}
	if !there(tidied) {
		t.Error("it had no time to put its things in order")
	}
}

func there(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"orange/internal/task"
)

func TestWatch_hearsOfACommitOfAnotherProcessUntilItIsCalledOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	here, there := openAt(t, path), openAt(t, path)
	one := create(t, there, aTask("one"))
	ctx, off := context.WithCancel(t.Context())
	changes, done := make(chan struct{}, 1000), make(chan error, 1)
	go func() { done <- here.Watch(ctx, func() { changes <- struct{}{} }) }()
	wait := func(what string) {
		t.Helper()
		select {
		case <-changes:
		case <-time.After(20 * time.Second):
			t.Fatalf("it never heard of %s", what)
		}
	}
	wait("what was there before")
	one.Summary = "another"
	commit(t, there, task.Change{Task: one, Expect: one.Version})
	wait("the commit")
	off()
	must(t, <-done)
}

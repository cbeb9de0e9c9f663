package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// held takes the queue as another process does, and answers how to leave it.
func held(t *testing.T, record string) (leave func()) {
	t.Helper()
	file, err := os.OpenFile(newQueue(record).path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = flock(file, syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = file.Close() }
}

func TestQueue_aWriterWaitsForItsTurnUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := Open(t.Context(), path) // it has written: the queue's file is open
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	leave := held(t, path)
	ctx, off := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer off()
	if _, err := s.write(ctx, false, "DELETE FROM waiters"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another process has the turn the error is %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.write(t.Context(), false, "DELETE FROM waiters")
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("it did not wait for its turn: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	leave()
	if err := <-done; err != nil {
		t.Error(err)
	}
	held(t, path)() // the one that gave up holds nothing
}

// The queue is for fairness alone: a writer that cannot use it writes all the same.
func TestQueue_thatCannotBeUsedHoldsUpNoWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "locks"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), filepath.Join(dir, "orange.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.write(t.Context(), false, "DELETE FROM waiters"); err != nil {
		t.Error(err)
	}
}

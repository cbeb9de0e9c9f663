package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// queue is where processes wait until they may write. The database would let them try again and again between naps, so
// that among many writers some wait a hundred times as long as others; the kernel wakes those who wait for a file's
// lock as soon as it is free.
//
// It is there for fairness alone: the database has a lock of its own. Where the queue cannot be used, writers go on to
// that one.
type queue struct {
	path string
	file *os.File // nil until the first wait
}

func newQueue(record string) *queue {
	return &queue{path: filepath.Join(filepath.Dir(record), "locks", "record")}
}

// wait waits for the turn of this process, for as long as a writer has patience. The caller has the turn within this
// process. A nil queue never waits.
func (q *queue) wait(ctx context.Context) (leave func()) {
	if q == nil || !q.open() {
		return func() {}
	}
	file := q.file
	leave = func() { _ = flock(file, syscall.LOCK_UN) }
	if flock(file, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return leave
	}
	served := make(chan struct{})
	go func() {
		_ = flock(file, syscall.LOCK_EX) // without it the database's own lock decides
		close(served)
	}()
	impatient := time.NewTimer(lockPatience)
	defer impatient.Stop()
	select {
	case <-served:
		return leave
	case <-ctx.Done():
	case <-impatient.C:
	}
	q.file = nil // the lock may still come: then it is given up at once
	go func() {
		<-served
		_ = file.Close()
	}()
	return func() {}
}

func (q *queue) open() bool {
	if q.file != nil {
		return true
	}
	// The folder of the record is not made here: a person who has deleted it wants it gone.
	if err := os.Mkdir(filepath.Dir(q.path), task.PrivateFolder); err != nil && !errors.Is(err, os.ErrExist) {
		return false
	}
	file, err := proc.OpenFile(q.path, os.O_CREATE|os.O_RDWR, task.PrivateFile)
	if err != nil {
		return false
	}
	q.file = file
	return true
}

func (q *queue) close() error {
	if q == nil || q.file == nil {
		return nil
	}
	err := q.file.Close()
	q.file = nil
	return err
}

func flock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// How often a lock that another process holds is tried again: at first soon, because most are held for a moment,
// and then ever more seldom, because the lease of a monitor is held for days.
const (
	firstTry = 2 * time.Millisecond
	lastTry  = 250 * time.Millisecond
)

// Lock takes the lock of an open file, and waits for it as long as ctx allows. The kernel frees it when the file is
// closed, or the process ends.
func Lock(ctx context.Context, file *os.File) error {
	wait := firstTry
	again := time.NewTimer(wait)
	defer again.Stop()
	for {
		if free, err := TryLock(file); err != nil || free {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
		wait = min(2*wait, lastTry)
		again.Reset(wait)
	}
}

// TryLock takes the lock of an open file if it is free, and reports whether it was.
func TryLock(file *os.File) (free bool, err error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, fmt.Errorf("lock %q: %w", file.Name(), err)
		}
	}
}

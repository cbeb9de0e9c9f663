package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 5 * time.Millisecond

// Lock takes the lock of that name, and waits for it as long as ctx allows. The kernel frees it when the process ends,
// however it ends. Release may be called twice.
func (f Files) Lock(ctx context.Context, name string) (release func(), err error) {
	release, free, err := f.TryLock(name)
	if err != nil || free {
		return release, err
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lock %q: %w", name, ctx.Err())
		case <-tick.C:
		}
		release, free, err = f.TryLock(name)
		if err != nil || free {
			return release, err
		}
	}
}

// TryLock takes the lock of that name if nobody has it, and says whether it did.
func (f Files) TryLock(name string) (release func(), free bool, err error) {
	dir := filepath.Join(f.Home, "locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, false, fmt.Errorf("make the folder of locks: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, fmt.Errorf("open lock %q: %w", name, err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = file.Close() }, true, nil // closing frees the lock
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, false, file.Close()
		default:
			return nil, false, errors.Join(fmt.Errorf("take lock %q: %w", name, err), file.Close())
		}
	}
}

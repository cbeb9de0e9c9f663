package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"orange/internal/rules/task"
)

// How often a lock that another process holds is tried again: at first soon, because most are held for a moment,
// and then ever more seldom, because the lease of a monitor is held for days.
const (
	firstTry = 2 * time.Millisecond
	lastTry  = 250 * time.Millisecond
)

// LockFile takes the lock of a file that is there for that alone, and is made where it is missing. It waits for it as
// long as ctx allows. The kernel frees it when the process ends, however it ends. Release may be called twice.
func LockFile(ctx context.Context, path string) (release func(), err error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := Lock(ctx, file); err != nil {
		return nil, errors.Join(fmt.Errorf("wait for lock %q: %w", filepath.Base(path), err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing frees the lock
}

// TryLockFile takes such a lock if it is free, and reports whether it did.
func TryLockFile(path string) (release func(), free bool, err error) {
	file, err := openLock(path)
	if err != nil {
		return nil, false, err
	}
	if free, err = tryLock(file); err != nil || !free {
		return nil, false, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, true, nil
}

func openLock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
		return nil, fmt.Errorf("make the folder of locks: %w", err)
	}
	file, err := OpenFile(path, os.O_CREATE|os.O_RDWR, task.PrivateFile)
	if err != nil {
		removeNoFile(path)
		file, err = OpenFile(path, os.O_CREATE|os.O_RDWR, task.PrivateFile)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock %q: %w", filepath.Base(path), err)
	}
	return file, nil
}

// removeNoFile removes a pipe, a socket, a link or an empty folder that is in a lock's place, and moves a folder aside
// in which there is something: no one holds such a lock, a lock has no content, and what performs a task's hooks has no
// one to tell. The caller opens the lock again, and meets there what could not be removed.
func removeNoFile(path string) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && os.Remove(path) != nil {
		_ = os.Rename(path, path+".aside-"+strconv.FormatInt(time.Now().UnixNano(), 36))
	}
}

// Lock takes the lock of an open file, and waits for it as long as ctx allows. The kernel frees it when the file is
// closed, or the process ends.
func Lock(ctx context.Context, file *os.File) error {
	wait := firstTry
	again := time.NewTimer(wait)
	defer again.Stop()
	for {
		if free, err := tryLock(file); err != nil || free {
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

// tryLock takes the lock of an open file if it is free, and reports whether it was.
func tryLock(file *os.File) (free bool, err error) {
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

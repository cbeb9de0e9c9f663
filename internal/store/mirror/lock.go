package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// The locks of a home are files below locks/. Who holds one takes another only from left to right, so that no two
// processes wait for each other:
//
//	ID.key-N ────── all below          a request with a key holds one of a task's few while it is done
//	ID.snapshot ─── ID.files           one snapshot of a task at a time; who takes those of several tasks locks them
//	                                   in the order of their ids
//	doctor ──────── monitor            doctor --rebuild wants no monitor; a monitor holds its lock for its whole life
//	ID.hooks ──┬─── ID.environment     one process performs a task's hooks; a hook that starts an agent reads what
//	           │                       environment is kept for it
//	           └─┐
//	PROJECT.merge ─ ID.files           one merge a project; right before the branch moves, and after each hook, the
//	                                   task's files are read and its mirrors written
//	CHECK ───────── checks-ID          one run of a check; one check at a time in a worktree
//	projects                           projects.json
//	terminal                           one process starts the terminal server; package tmux takes it
//
// A transaction of the record is shorter than any of them: no lock is taken inside of one. The lock "record" is the
// queue of those that wait to begin one, and package sqlite takes it.

// Lock takes the lock of that name, and waits for it as long as ctx allows. The kernel frees it when the process ends,
// however it ends. Release may be called twice.
func (f Files) Lock(ctx context.Context, name string) (release func(), err error) {
	file, err := f.lockFile(name)
	if err != nil {
		return nil, err
	}
	if err := proc.Lock(ctx, file); err != nil {
		return nil, errors.Join(fmt.Errorf("wait for lock %q: %w", name, err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing frees the lock
}

// TryLock takes the lock of that name if it is free, and reports whether it did.
func (f Files) TryLock(name string) (release func(), free bool, err error) {
	file, err := f.lockFile(name)
	if err != nil {
		return nil, false, err
	}
	if free, err = proc.TryLock(file); err != nil || !free {
		return nil, false, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, true, nil
}

func (f Files) lockFile(name string) (*os.File, error) {
	if name == "." || name != filepath.Base(name) || !filepath.IsLocal(name) { // a name from outside leads nowhere else
		return nil, fmt.Errorf("open lock %q: expected the name of a file in the folder of locks", name)
	}
	dir := filepath.Join(f.Home, "locks")
	if err := os.MkdirAll(dir, task.PrivateFolder); err != nil {
		return nil, fmt.Errorf("make the folder of locks: %w", err)
	}
	path := filepath.Join(dir, name)
	file, err := proc.OpenFile(path, os.O_CREATE|os.O_RDWR, task.PrivateFile)
	if err != nil {
		removeNoFile(path)
		file, err = proc.OpenFile(path, os.O_CREATE|os.O_RDWR, task.PrivateFile)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock %q: %w", name, err)
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

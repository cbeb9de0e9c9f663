package mirror

import (
	"context"
	"fmt"
	"path/filepath"

	"orange/internal/run/proc"
)

// The locks of a home are files below locks/. Who holds one takes another only from left to right, so that no two
// processes wait for each other:
//
//	ID.key-N ────── all below          a request with a key holds one of a task's few while it is done
//	ID.snapshot ─── ID.files           one snapshot of a task at a time; who takes those of several tasks locks them
//	                                   in the order of their ids
//	doctor ─ server ─ monitor          doctor --rebuild wants no server and no monitor; each holds its lock for its
//	                                   whole life. A monitor of a person has "monitor", and only tries "server"
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
	path, err := f.lockPath(name)
	if err != nil {
		return nil, err
	}
	return proc.LockFile(ctx, path)
}

// TryLock takes the lock of that name if it is free, and reports whether it did.
func (f Files) TryLock(name string) (release func(), free bool, err error) {
	path, err := f.lockPath(name)
	if err != nil {
		return nil, false, err
	}
	return proc.TryLockFile(path)
}

func (f Files) lockPath(name string) (string, error) {
	if name == "." || name != filepath.Base(name) || !filepath.IsLocal(name) { // a name from outside leads nowhere else
		return "", fmt.Errorf("open lock %q: expected the name of a file in the folder of locks", name)
	}
	return filepath.Join(f.Home, "locks", name), nil
}

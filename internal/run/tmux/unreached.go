package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// unreachedError says that the terminal server lives, as far as is known, and cannot be asked: of its agents nothing is
// known.
type unreachedError struct {
	at      place
	silent  time.Duration // how long it has not answered; 0 is that its socket is gone
	stopped bool          // its process
}

func (e *unreachedError) Error() string {
	who, end := fmt.Sprintf("the terminal server (tmux, process %d)", e.at.PID), fmt.Sprintf("kill -9 %d; ", e.at.PID)
	if e.at.PID == 0 {
		who, end = fmt.Sprintf("the terminal server (tmux -S %q)", e.at.Socket), ""
	}
	found := fmt.Sprintf("has not answered for %.0f s", e.silent.Seconds())
	mend := "try again"
	if e.silent == 0 {
		found = fmt.Sprintf("lives, and its socket %q is gone", e.at.Socket)
		mend = fmt.Sprintf("tmux did not make the socket again, so make %q a folder that you may write to",
			filepath.Dir(e.at.Socket))
	}
	if e.stopped {
		return fmt.Sprintf("%s %s, so its agents are unknown; the process is stopped, let it go on: kill -CONT %d", who,
			found, e.at.PID)
	}
	return fmt.Sprintf("%s %s, so its agents are unknown; %s, or end that process with all its agents and start them "+
		"again: %sorange task respawn --all", who, found, mend, end)
}

// silence is what a process remembers of a server that did not answer: not every call of it waits for that again.
type silence struct {
	mu    sync.Mutex
	err   error
	until time.Time
}

// silentTime is how long a process takes it that a server which did not answer does not answer.
const silentTime = 10 * time.Second

// now is why the server is not asked now; nil where it is.
func (s *silence) now() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.until) {
		return s.err
	}
	return nil
}

// keep has a process take it for a while that the server does not answer.
func (s *silence) keep(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.until = err, time.Now().Add(silentTime)
	return err
}

func unreachedAt(at place, silent time.Duration) error {
	return &unreachedError{at: at, silent: silent, stopped: isStopped(at)}
}

// isStopped reports whether the process of a server was stopped. Where that is not known, it was not.
func isStopped(at place) bool {
	is, err := proc.Stopped(at.process())
	return at.PID > 0 && is && err == nil
}

const (
	// wakeTime is how long a server may take to make its socket again.
	wakeTime = 2 * time.Second
	// leaveTime is how long one may take to end that has closed its socket.
	leaveTime = time.Second
	wakeLook  = 5 * time.Millisecond
	wakeTries = 3
)

// wake has a server that lives make its socket again, as tmux does on USR1: what cleans /tmp removes it after some
// days. again reports that the server can be asked now. With neither again nor an error no server lives.
func (s *Server) wake(ctx context.Context, at place) (again bool, err error) {
	if lives, err := s.lives(at); !lives || err != nil {
		return false, err
	}
	release, err := s.lock(ctx) // one process wakes it: each time it gets another socket
	if err != nil {
		return false, err
	}
	defer release()
	_, err = os.Lstat(at.Socket)
	gone := errors.Is(err, os.ErrNotExist) // one that ends leaves its socket behind
	late := time.NewTimer(wakeTime)
	defer late.Stop()
	leaves := time.NewTimer(leaveTime)
	defer leaves.Stop()
	tick := time.NewTicker(wakeLook)
	defer tick.Stop()
	for asked := false; ; {
		if listens(at.Socket) {
			return true, nil
		}
		if gone && !asked {
			asked = true
			if err := makeSocket(at); err != nil && !errors.Is(err, os.ErrNotExist) {
				return false, err
			}
		}
		if isStopped(at) { // it can do nothing
			return false, unreachedAt(at, 0)
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-late.C:
			return false, s.silent.keep(unreachedAt(at, 0))
		case <-leaves.C:
			gone = true
		case <-tick.C:
		}
		if lives, err := s.lives(at); !lives || err != nil {
			return false, err
		}
	}
}

// makeSocket asks a server for its socket, for which it makes no folder.
func makeSocket(at place) error {
	// the server cannot make its socket where this fails, and that is what is reported
	_ = os.MkdirAll(filepath.Dir(at.Socket), task.PrivateFolder)
	return proc.Signal(at.process(), syscall.SIGUSR1)
}

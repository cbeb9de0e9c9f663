package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/rules/history"
	"orange/internal/store/mirror"
)

const (
	firstWait = 8 * time.Millisecond // after the record was written; then twice as long, and so on
	lastWait  = 30 * time.Second     // the longest wait, whatever the system reports of files
	mostRead  = 500                  // how many changes are read at a time

	restTime = 10 * time.Millisecond // before the next report of the system is taken; a command ends in this time
	takeTime = time.Millisecond      // after a rest: what the system has reported meanwhile is taken without another
)

// Watch calls changed whenever the record may have been written, until ctx ends.
func (s *Store) Watch(ctx context.Context, changed func()) error {
	// The folder and not the file: the log of the database comes and goes with the processes that have it open.
	return mirror.Watch(ctx, filepath.Dir(s.path), func(path string) {
		if s.writtenAt(path) {
			changed()
		}
	})
}

// writtenAt reports whether the record may have been written when a file of its folder was.
func (s *Store) writtenAt(path string) bool {
	return path == "" || path == s.path || path == s.path+"-wal"
}

// Poll calls read whenever the record may have been written, until ctx ends or read answers an error. It ends with
// an error when another file has taken the place of the record.
func (s *Store) Poll(ctx context.Context, read func(context.Context) error) error {
	opened, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("follow the record: %w", err)
	}
	within, off := context.WithCancelCause(ctx)
	defer off(nil)
	written := make(chan struct{}, 1)
	go func() { off(mirror.Watch(within, filepath.Dir(s.path), s.signs(written))) }()
	// The sign comes when a commit is written, and the commit can be read a little later, when the disk has it:
	// so it is read again and again. Not at once: who writes has a processor to itself until then, and what it writes
	// next is read with it.
	wait, soon := firstWait, false
	pause := time.NewTimer(lastWait)
	defer pause.Stop()
	for {
		select {
		case <-within.Done():
			return endOf(ctx, within)
		case <-written:
			if !soon {
				soon, wait = true, firstWait
				pause.Reset(wait)
			}
			continue
		case <-pause.C:
			soon, wait = false, min(2*wait, lastWait)
		}
		if err := s.checkUnchanged(opened); err != nil {
			return err
		}
		if err := read(within); err != nil {
			return err
		}
		pause.Reset(wait)
	}
}

// signs answers what is to be called with each file of the folder that is written. At least one sign follows the last
// writing of the record. It rests after what it takes from the system: one command writes about ten times, to its log
// too, and each report of it wakes this process and makes the command slower.
func (s *Store) signs(written chan<- struct{}) func(path string) {
	var rested time.Time
	return func(path string) {
		if s.writtenAt(path) {
			select {
			case written <- struct{}{}:
			default: // the reader has not taken the last one yet
			}
		}
		if time.Since(rested) > takeTime {
			<-time.After(restTime)
			rested = time.Now()
		}
	}
}

// checkUnchanged reports as an error that the record is not the file that it was. A process that has the old one open
// would go on reading that, and nothing happens there any more.
func (s *Store) checkUnchanged(opened os.FileInfo) error {
	if now, err := os.Stat(s.path); err != nil || !os.SameFile(now, opened) {
		return errors.Join(fmt.Errorf("cannot follow the record %q any longer: it is not the file that it "+
			"was; begin again", s.path), err)
	}
	return nil
}

// Follow calls report with what happens to all tasks after a cursor, each event once and in order, until ctx ends
// or report answers an error. A call without events means that everything so far was reported. Where out is a pipe
// that has no reader any more, it ends with syscall.EPIPE, whether or not there is something to write.
func (s *Store) Follow(ctx context.Context, out *os.File, cursor int64,
	report func([]history.Happening) error) error {
	// Without this the system would end a program that writes to a pipe that has no reader.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	within, off := context.WithCancelCause(ctx)
	defer off(nil)
	go func() { off(untilUnread(within, out)) }()
	var enough error
	f := follower{record: s, cursor: cursor, report: func(all []history.Happening) error {
		enough = report(all)
		return enough
	}}
	err := s.Poll(within, f.reportNew)
	switch {
	case enough != nil:
		return enough
	case within.Err() != nil:
		return endOf(ctx, within) // the end may have come in the middle of a query
	}
	return err
}

// endOf distinguishes an end that the caller asked for from one that has its cause inside.
func endOf(outside, inside context.Context) error {
	if outside.Err() != nil {
		return outside.Err()
	}
	return context.Cause(inside)
}

// follower has how far the record was followed.
type follower struct {
	record *Store
	cursor int64
	report func([]history.Happening) error
	begun  bool
}

// reportNew reports everything that can be read now.
func (f *follower) reportNew(ctx context.Context) error {
	quiet := f.begun
	for {
		all, next, err := f.record.EventsSince(ctx, f.cursor, mostRead)
		if err != nil {
			return err
		}
		if next == f.cursor {
			break
		}
		f.cursor = next
		if len(all) == 0 {
			continue
		}
		quiet = false
		if err := f.report(all); err != nil {
			return err
		}
	}
	f.begun = true
	if quiet {
		return nil
	}
	return f.report(nil)
}

// untilUnread waits until a pipe has no reader any more: then it answers syscall.EPIPE. It answers nil when ctx ends.
func untilUnread(ctx context.Context, out *os.File) error {
	info, err := out.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		<-ctx.Done()
		return nil
	}
	end, stop, err := os.Pipe() // the system can wait for two ends at once, and not for a context
	if err != nil {
		return fmt.Errorf("see who reads the output: %w", err)
	}
	defer end.Close()
	defer stop.Close()
	defer context.AfterFunc(ctx, func() { _ = stop.Close() })()
	waited := []unix.PollFd{{Fd: int32(out.Fd())}, {Fd: int32(end.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(waited, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("see who reads the output: %w", err)
		case waited[0].Revents != 0:
			return syscall.EPIPE
		case waited[1].Revents != 0:
			return nil
		}
	}
}

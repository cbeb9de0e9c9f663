package app

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

	"orange/internal/history"
	"orange/internal/task"
)

const (
	firstGlance = time.Millisecond // after the record was written; then twice as long, and so on
	lastGlance  = 30 * time.Second // and no less often than this, whatever the system tells of files
	atOnce      = 500              // how many changes are read at a time
)

// Changed is the cursor behind everything that has happened.
func (h *house) Changed(ctx context.Context) (int64, error) { return h.store.Changed(ctx) }

// TasksSince are the tasks that changed behind a cursor, and the ids of those that are gone.
func (h *house) TasksSince(ctx context.Context, cursor int64) ([]task.Task, []string, int64, error) {
	return h.store.TasksSince(ctx, cursor)
}

// Follow calls tell with what happens to all tasks behind a cursor, each thing once and in its order, until ctx
// ends or tell answers an error. A call with nothing says that everything so far was told. Where standard output
// is a pipe that nobody reads any more, it ends with syscall.EPIPE, whether or not there is something to write.
func (h *house) Follow(ctx context.Context, cursor int64, tell func([]history.Happening) error) error {
	record := filepath.Join(h.dir, recordName)
	opened, err := os.Stat(record)
	if err != nil {
		return fmt.Errorf("follow the record: %w", err)
	}
	// Without this the system would end a program that writes to a pipe which nobody reads.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	within, off := context.WithCancelCause(ctx)
	defer off(nil)
	go func() { off(untilUnread(within, os.Stdout)) }()
	var enough error
	f := follower{record: record, opened: opened, events: h.store.EventsSince, cursor: cursor,
		tell: func(all []history.Happening) error {
			enough = tell(all)
			return enough
		}}
	err = h.heed(within, func() error { return f.look(within) })
	switch {
	case enough != nil:
		return enough
	case within.Err() != nil:
		return whyOver(ctx, within) // it may have been called off in the middle of a question
	}
	return err
}

// heed calls look whenever the record may have been written, until ctx ends or look answers an error.
func (h *house) heed(ctx context.Context, look func() error) error {
	within, off := context.WithCancelCause(ctx)
	defer off(nil)
	written := make(chan struct{}, 1)
	go func() {
		err := ledger{h.store, h.dir}.Watch(within, func() {
			select {
			case written <- struct{}{}:
			default: // one is being waited for already
			}
		})
		if err != nil {
			off(err)
		}
	}()
	// The sign comes when a commit is written, and the commit can be read a little later, when the disk has it:
	// so it is looked again and again.
	wait := firstGlance
	pause := time.NewTimer(lastGlance)
	defer pause.Stop()
	for {
		select {
		case <-within.Done():
			return whyOver(ctx, within)
		case <-written:
			wait = firstGlance
		case <-pause.C:
			wait = min(2*wait, lastGlance)
		}
		if err := look(); err != nil {
			return err
		}
		pause.Reset(wait)
	}
}

// whyOver tells an end that was called from outside from one that was found inside.
func whyOver(outside, inside context.Context) error {
	if outside.Err() != nil {
		return outside.Err()
	}
	return context.Cause(inside)
}

// follower is how far somebody has followed the record.
type follower struct {
	record string
	opened os.FileInfo
	events func(ctx context.Context, cursor int64, limit int) ([]history.Happening, int64, error)
	cursor int64
	tell   func([]history.Happening) error
	begun  bool
}

// look tells everything that can be read now.
// same says whether the record is the file that it was. Whoever has another one open goes on reading that, and
// nothing happens there any more.
func same(record string, opened os.FileInfo) error {
	if now, err := os.Stat(record); err != nil || !os.SameFile(now, opened) {
		return errors.Join(fmt.Errorf("cannot follow the record %q any longer: it is not the file that it "+
			"was; begin again", record), err)
	}
	return nil
}

func (f *follower) look(ctx context.Context) error {
	if err := same(f.record, f.opened); err != nil {
		return err
	}
	quiet := f.begun
	for {
		all, next, err := f.events(ctx, f.cursor, atOnce)
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
		if err := f.tell(all); err != nil {
			return err
		}
	}
	f.begun = true
	if quiet {
		return nil
	}
	return f.tell(nil)
}

// untilUnread waits until nobody can read any more what is written into a pipe: then its answer is syscall.EPIPE.
// Else it answers nil when ctx ends.
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

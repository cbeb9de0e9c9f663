package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"orange/internal/rules/task"

	"golang.org/x/sys/unix"
)

// Watch waits until this very process has ended: nil says that it has, at once where it is gone already
// or another one has its number. A zombie has ended. Called off, the answer is the context's error.
// errors.ErrUnsupported says that this system cannot tell; any other error, that it could not be looked.
//
// A watched process costs one open file and one parked goroutine, and no thread.
func Watch(ctx context.Context, p task.Process) error {
	if p.PID <= 1 {
		return nil // Alive says so too; and the kernel means other things by such numbers
	}
	file, err := open(p.PID)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if err == nil {
		defer file.Close()
	}
	// In this order: what is open stays the same process, so if it is the right one now, it was when it was opened.
	// Asked after an error too: a number that went to a thread cannot be opened, and says that its process is gone.
	alive, lookErr := Alive(p)
	if lookErr != nil || !alive {
		return lookErr
	}
	if err != nil {
		return fmt.Errorf("watch process %d: %w", p.PID, err)
	}
	// A deadline in the past is what wakes a goroutine that the runtime has parked.
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = awaitEnd(file)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("watch process %d: %w", p.PID, err)
	}
	return nil
}

// open gives a file that stands for the process and can be read from, so to say, once it has ended.
func open(pid int) (*os.File, error) {
	// Not with PIDFD_NONBLOCK, which came to the kernel later than the call itself.
	fd, err := unix.PidfdOpen(pid, 0)
	// EPERM is no word of this call's: it is how a sandbox says that it does not know it.
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("%w: the kernel has no pidfd_open (%w)", errors.ErrUnsupported, err)
	}
	if err != nil {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	// Only what does not block is waited for by the runtime's poller. Else a thread would be spent on each.
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("pidfd: do not block: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "process "+strconv.Itoa(pid)), nil
}

// awaitEnd parks until the process behind the file has ended, or the file's deadline is over.
func awaitEnd(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		var over bool
		over, failed = readable(int(fd))
		return over || failed != nil
	})
	return errors.Join(err, failed)
}

// readable looks without waiting.
func readable(fd int) (bool, error) {
	look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(look, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("poll: %w", err)
		}
		// A kernel may add "hung up" once the process is reaped.
		return look[0].Revents&(unix.POLLIN|unix.POLLHUP) != 0, nil
	}
}

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orange/internal/rules/task"
)

// Supervise runs a program on this terminal, in this process group, and waits for its end.
// Keys that interrupt reach the program alone; what ends this process is passed on to it first.
func Supervise(ctx context.Context, c Command) (task.Ending, error) {
	cmd := c.prepared(context.WithoutCancel(ctx))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// Caught and not ignored: a program inherits what is ignored, and gets back what is caught.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCHLD)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return task.Ending{}, fmt.Errorf("start %q: %w", c.Name, err)
	}
	hungUp := false
	// A signal tells of the end too: a call that waits for it would keep a thread for as long as the program runs.
	for s := range signals {
		if s == syscall.SIGTERM || s == syscall.SIGHUP {
			_ = cmd.Process.Signal(s) // it may be gone already; then the next signal tells
			hungUp = true
		}
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WNOHANG, nil)
		switch {
		case err == nil && pid == 0 || errors.Is(err, syscall.EINTR): // it runs
		case err != nil:
			return task.Ending{}, fmt.Errorf("wait for %q: %w", c.Name, err)
		default:
			end := endingOf(status)
			end.HungUp = hungUp
			return end, nil
		}
	}
	return task.Ending{}, nil // never: the channel stays open
}

func endingOf(status syscall.WaitStatus) task.Ending {
	if status.Signaled() {
		return task.Ending{Known: true, Status: 128 + int(status.Signal()), Signal: int(status.Signal())}
	}
	return task.Ending{Known: true, Status: status.ExitStatus()}
}

// End ends processes, each alone: TERM first, KILL after the grace. Those that are gone already are no error.
func End(ctx context.Context, processes []task.Process, grace time.Duration) error {
	left, err := signalAll(processes, syscall.SIGTERM)
	if err != nil || len(left) == 0 {
		return err
	}
	for late := time.Now().Add(grace); ; {
		if left, err = signalAll(left, 0); err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(late) {
			_, err := signalAll(left, syscall.SIGKILL)
			return err
		}
		if Pause(ctx, pollEvery); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// mostRounds is how often EndMarked looks for processes that others have started while it ended these.
const mostRounds = 20

// EndMarked ends the processes that were started with every one of these KEY=value pairs, as End does, and those that
// they start meanwhile.
func EndMarked(ctx context.Context, grace time.Duration, pairs ...string) error {
	for range mostRounds {
		found, err := WithEnvironment(pairs...)
		if err != nil || len(found) == 0 {
			return err
		}
		if err := End(ctx, found, grace); err != nil {
			return err
		}
	}
	return fmt.Errorf("end the processes with %q: they start others as fast as they are ended", pairs)
}

// Signal signals this very process. One that is gone is os.ErrNotExist.
func Signal(p task.Process, sig syscall.Signal) error {
	reached, err := signalAll([]task.Process{p}, sig)
	if err == nil && len(reached) == 0 {
		err = fmt.Errorf("signal process %d: %w", p.PID, os.ErrNotExist)
	}
	return err
}

// signalAll signals those that still run, and answers which these are.
func signalAll(processes []task.Process, sig syscall.Signal) ([]task.Process, error) {
	var left []task.Process
	for _, p := range processes {
		alive, err := Alive(p)
		if err != nil {
			return nil, err
		}
		if !alive {
			continue
		}
		left = append(left, p)
		if err := syscall.Kill(p.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, fmt.Errorf("signal process %d: %w", p.PID, err)
		}
	}
	return left, nil
}

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Limits bound what a program may use. A zero bounds nothing, but for Output: then nothing is kept.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes that the program and all that it started use together
	Output int   // bytes that are kept of the end of what it says
}

// LimitedResult is how a program with limits ended. One that it broke was ended for it: Signal tells by what.
type LimitedResult struct {
	Code        int // its status; 128 and the signal where it was ended
	Signal      int // 0 when it ended by itself
	Output      string
	Cut         bool // it said more than Output
	TimedOut    bool
	OutOfMemory bool
	Took        time.Duration
}

const (
	// limitGrace is what a program gets between TERM and KILL.
	limitGrace = 700 * time.Millisecond
	// memoryEvery is how often it is looked how much a program uses. One that fills its memory faster than that may
	// be above its limit for as long; it is also the first that the kernel ends when the machine runs out.
	memoryEvery = 200 * time.Millisecond
)

// RunLimited starts the program in a process session of its own, with no terminal, and waits for its end. Both of its
// outputs are one text, read to its end however long it is, of which the tail is kept. A status other than 0 is no
// error, and neither is a broken limit. A program that cannot be started is, and a cancelled ctx, which ends it.
//
// At a limit its session is ended: TERM first, KILL after a grace. What is left of the session when the program
// has ended by itself is ended too, and what has left the session and keeps the output open is not waited for.
//
// Memory is what all of them use together, looked at from outside, and no rlimit: those are for each process alone, and
// count what is reserved and never used, so that a program with an address sanitizer does not even start below 4 GB.
func RunLimited(ctx context.Context, c Command, l Limits) (LimitedResult, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return LimitedResult{}, fmt.Errorf("run %q: %w", c.Name, err)
	}
	defer read.Close()
	if ctx.Err() != nil {
		return LimitedResult{}, errors.Join(fmt.Errorf("run %q: %w", c.Name, ctx.Err()), write.Close())
	}
	cmd := c.prepared(context.WithoutCancel(ctx)) // it is ended below, with all of its session
	cmd.Stdin = c.Stdin
	// A file and no buffer: the end of the program is then not the end of another writer.
	cmd.Stdout, cmd.Stderr = write, write
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = waitDelay // for its input
	began := time.Now()
	err = start(ctx, cmd)
	if closed := write.Close(); err != nil || closed != nil {
		return LimitedResult{}, fmt.Errorf("start %q: %w", c.Name, errors.Join(err, closed))
	}
	if l.Memory > 0 {
		preferAtOutOfMemory(cmd.Process.Pid)
	}
	said := &tail{most: l.Output}
	drained := make(chan error, 1)
	go func() { drained <- said.drain(read) }()
	result, err := await(ctx, cmd, l)
	result.Took = time.Since(began)
	if late := read.SetReadDeadline(time.Now().Add(waitDelay)); late != nil {
		return result, errors.Join(err, fmt.Errorf("run %q: %w", c.Name, late))
	}
	if failed := <-drained; failed != nil && !errors.Is(failed, os.ErrDeadlineExceeded) {
		err = errors.Join(err, fmt.Errorf("read what %q says: %w", c.Name, failed))
	}
	result.Output, result.Cut = said.text()
	return result, err
}

// await waits for the end of a started program, or brings it about.
func await(ctx context.Context, cmd *exec.Cmd, l Limits) (LimitedResult, error) {
	var result LimitedResult
	group, name := cmd.Process.Pid, cmd.Path
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var late <-chan time.Time
	if l.Time > 0 {
		timer := time.NewTimer(l.Time)
		defer timer.Stop()
		late = timer.C
	}
	var look <-chan time.Time
	if l.Memory > 0 {
		ticker := time.NewTicker(memoryEvery)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		var broken error
		select {
		case err := <-done:
			return conclude(cmd, result, err)
		case <-late:
			result.TimedOut = true
		case <-ctx.Done():
			broken = fmt.Errorf("run %q: %w", name, ctx.Err())
		case <-look:
			used, err := memoryOf(group, l.Memory)
			if err == nil && used <= l.Memory {
				continue
			}
			result.OutOfMemory, broken = err == nil, err
		}
		if err := endSession(context.WithoutCancel(ctx), group); err != nil {
			return result, errors.Join(broken, err) // what cannot be ended is not waited for
		}
		ended, err := conclude(cmd, result, <-done)
		return ended, errors.Join(broken, err)
	}
}

// conclude reports how a program ended that has ended, and ends what it left behind in its group.
func conclude(cmd *exec.Cmd, result LimitedResult, waited error) (LimitedResult, error) {
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	end := endingOf(status)
	result.Code, result.Signal = end.Status, end.Signal
	_, exited := errors.AsType[*exec.ExitError](waited)
	if waited != nil && !exited && !errors.Is(waited, exec.ErrWaitDelay) {
		return result, fmt.Errorf("wait for %q: %w", cmd.Path, waited)
	}
	return result, endSession(context.Background(), cmd.Process.Pid)
}

// endSession ends the group that leads a session, and then what a shell with job control put into groups of its own.
func endSession(ctx context.Context, leader int) error {
	if err := EndGroup(ctx, leader, limitGrace); err != nil {
		return err
	}
	return End(ctx, inSession(leader), limitGrace)
}

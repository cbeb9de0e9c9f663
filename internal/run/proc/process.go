package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"orange/internal/rules/task"
)

// Self is this process.
func Self() (task.Process, error) { return Lookup(os.Getpid()) }

// Lookup finds the process that has the number now.
func Lookup(pid int) (task.Process, error) {
	info, err := inspect(pid)
	if err != nil {
		return task.Process{}, err
	}
	return task.Process{PID: pid, Began: info.started}, nil
}

// Alive reports whether this very process still runs. A zombie does not.
// An error means that it could not be looked up, which is not the same as dead.
func Alive(p task.Process) (bool, error) {
	if p.PID <= 1 {
		return false, nil
	}
	info, err := inspect(p.PID)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !info.zombie && (p.Began == "" || info.started == p.Began), nil
}

// Stopped reports whether this very process is there and does not run on, because it was stopped by a signal or by a
// debugger.
func Stopped(p task.Process) (bool, error) {
	info, err := inspect(p.PID)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.stopped && (p.Began == "" || info.started == p.Began), err
}

// Ancestors lists the processes above the one with a number, the parent first.
func Ancestors(of int) ([]task.Process, error) {
	if of < 1 { // a caller with nothing above it would be a person
		return nil, fmt.Errorf("cannot tell what is above process %d: that is none", of)
	}
	var out []task.Process
	for pid := of; pid > 1; {
		info, err := inspect(pid)
		if errors.Is(err, os.ErrNotExist) && pid != of {
			return out, nil // it ended while we looked; what is above it is above the other one no more
		}
		if err != nil {
			return out, fmt.Errorf("look up process %d: %w", pid, err)
		}
		if pid != of {
			out = append(out, task.Process{PID: pid, Began: info.started})
		}
		pid = info.parent
	}
	return out, nil
}

// Parent finds the process above another one, and its short name. The number of one that is gone is os.ErrNotExist.
// A process with nothing above it that can be seen, as the first of a container, has the zero Process there.
func Parent(pid int) (p task.Process, name string, err error) {
	for {
		below, err := inspect(pid)
		if err != nil {
			return task.Process{}, "", err
		}
		if below.parent <= 0 {
			return task.Process{}, "", nil
		}
		p, name, above := processAndName(below.parent)
		// Looked at twice: if the parent ended in between, the number is no one's or another's, and a new parent
		// is there.
		again, err := inspect(pid)
		if err != nil {
			return task.Process{}, "", err
		}
		if again.started != below.started || again.parent != below.parent {
			continue
		}
		if above != nil {
			// Not wrapped: os.ErrNotExist would say that the process below is gone.
			//nolint:errorlint // its "not there" is about another process
			return task.Process{}, "", fmt.Errorf("look above process %d: %v", pid, above)
		}
		return p, name, nil
	}
}

func processAndName(pid int) (task.Process, string, error) {
	p, err := Lookup(pid)
	if err != nil {
		return task.Process{}, "", err
	}
	name, err := Name(pid)
	return p, name, err
}

// pollEvery is how often the end of a process group is looked for: no system call waits for a group of strangers.
const pollEvery = 10 * time.Millisecond

// killTime is how long the end after KILL may take at least: no one can refuse it, and a machine under load is late.
const killTime = 5 * time.Second

// EndGroup ends the process group that the process leads: TERM first, KILL after the grace.
// A group that is gone already is no error. It returns when the group is gone.
func EndGroup(ctx context.Context, leader int, grace time.Duration) error {
	if leader <= 1 {
		return fmt.Errorf("cannot end process group %d: not a group that an agent can lead", leader)
	}
	if err := signalGroup(leader, syscall.SIGTERM); err != nil {
		return err
	}
	if groupGone(ctx, leader, grace) {
		return ctx.Err()
	}
	if err := signalGroup(leader, syscall.SIGKILL); err != nil {
		return err
	}
	if !groupGone(ctx, leader, max(grace, killTime)) {
		return fmt.Errorf("cannot end process group %d: it is still running after SIGKILL", leader)
	}
	return ctx.Err()
}

func signalGroup(leader int, sig syscall.Signal) error {
	err := syscall.Kill(-leader, sig)
	if err == nil || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return fmt.Errorf("signal process group %d: %w", leader, err)
}

// groupGone waits until no one of the group runs; zombies that no one reaps yet do not count.
func groupGone(ctx context.Context, leader int, within time.Duration) bool {
	for late := time.Now().Add(within); ctx.Err() == nil; Pause(ctx, pollEvery) {
		if errors.Is(syscall.Kill(-leader, 0), syscall.ESRCH) || onlyZombies(leader) {
			return true
		}
		if time.Now().After(late) {
			return false
		}
	}
	return true
}

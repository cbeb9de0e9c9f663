// Package lease has the right to watch over the agents of a home, which one process has at a time, and notes which
// process that is.
package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// name is that of the lock: the kernel gives it back however its holder ends.
const name = "monitor"

// yieldLine is the line of a holder that yields; after yieldTime it is named to those who wait for it.
const (
	yieldLine = "yields"
	yieldTime = 10 * time.Second
)

// Watch is the right to watch over the agents of a home.
type Watch struct {
	Home string // $ORANGE_HOME
	// Yields says that this process watches only as long as no other one wants to: AskToYield of package proc asks it.
	Yields bool
}

// Try takes the lease, if no other process has it, and notes that this process has it.
func (l Watch) Try() (release func(), free bool, err error) {
	unlock, free, err := l.TryLock()
	if !free || err != nil {
		return nil, free, err
	}
	if err := l.note(); err != nil {
		unlock()
		return nil, true, err
	}
	return func() {
		l.forget()
		unlock()
	}, true, nil
}

// TryLock takes the lease, if no other process has it, without a note: its holder does not watch.
func (l Watch) TryLock() (release func(), free bool, err error) {
	return mirror.Files{Home: l.Home}.TryLock(name)
}

// Wait takes the lease as soon as it is free, and asks a holder to yield that does. release is nil where ctx ended
// before that. It calls waits with the process that has it, and again when that changes: another process has it, or the
// one that has it does not watch.
func (l Watch) Wait(ctx context.Context, log *slog.Logger, waits func(holder task.Watcher)) (release func(),
	err error) {
	const (
		often  = 250 * time.Millisecond
		seldom = 2 * time.Second // a look at a process is another program on some systems
	)
	unknown := task.Watcher{}.Name()
	reported, looked, asked := "", time.Time{}, time.Time{}
	for ctx.Err() == nil {
		release, free, err := l.Try()
		if free || err != nil {
			return release, err
		}
		if reported == "" || reported == unknown || time.Since(looked) >= seldom {
			looked = time.Now()
			holder := l.Watcher()
			found, _ := holder.Trouble(looked)
			if holder.Yields {
				if err := proc.AskToYield(task.Process{PID: holder.PID, Began: holder.Began}); err != nil {
					return nil, fmt.Errorf("have the server watch no more: %w", err)
				}
				if asked.IsZero() {
					asked = looked
				}
				if looked.Sub(asked) < yieldTime {
					proc.Pause(ctx, often)
					continue
				}
			}
			if now := holder.Name() + found; now != reported {
				waits(holder)
				log.Info("watch waits for another's end", "component", "monitor", "process", os.Getpid(),
					"holder", holder.Name(), "trouble", found)
				reported = now
			}
		}
		proc.Pause(ctx, often)
	}
	return nil, nil
}

// file names the process that has the lease; its time is when that process reported last that it watches.
func (l Watch) file() string { return filepath.Join(l.Home, "locks", name+".holder") }

// note notes that this process has the lease.
func (l Watch) note() error {
	self, err := proc.Self()
	if err == nil {
		text := strconv.Itoa(self.PID) + "\n" + self.Began + "\n"
		if l.Yields {
			text += yieldLine + "\n"
		}
		err = proc.WriteFile(l.file(), []byte(text), task.PrivateFile)
	}
	if err != nil {
		return fmt.Errorf("note who watches: %w", err)
	}
	return nil
}

// forget takes the note back, before the lease is given back. That it stays changes nothing: its process is gone.
func (l Watch) forget() { _ = os.Remove(l.file()) }

// Heartbeat makes the function that shows others that this process watches, seldom enough to cost nothing. That it
// cannot is no reason to end a watch.
func (l Watch) Heartbeat(log *slog.Logger) func() {
	last := time.Now()
	return func() {
		now := time.Now()
		if now.Sub(last) < task.HeardEvery-time.Second {
			return
		}
		last = now
		err := os.Chtimes(l.file(), now, now)
		if errors.Is(err, os.ErrNotExist) {
			err = l.note()
		}
		if err != nil {
			log.Warn("others cannot hear of this watch", "component", "monitor", "error", err.Error())
		}
	}
}

// Beat shows others that this process watches, until ctx ends.
func (l Watch) Beat(ctx context.Context, log *slog.Logger) {
	beat := l.Heartbeat(log)
	for proc.Pause(ctx, task.HeardEvery); ctx.Err() == nil; proc.Pause(ctx, task.HeardEvery) {
		beat()
	}
}

// Watcher is the process that has noted that it has the lease, if it is still there. The lease itself is not
// tried: a process that wants it at that moment would not get it.
func (l Watch) Watcher() task.Watcher {
	info, err := os.Stat(l.file())
	if err != nil {
		return task.Watcher{} // a process has the lease and has not noted itself yet, or none has it
	}
	text, err := proc.ReadFile(l.file())
	if err != nil {
		return task.Watcher{}
	}
	number, rest, _ := strings.Cut(string(text), "\n")
	began, how, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return task.Watcher{}
	}
	p := task.Process{PID: pid, Began: strings.TrimSpace(began)}
	if alive, err := proc.Alive(p); err != nil || !alive {
		return task.Watcher{}
	}
	stopped, err := proc.Stopped(p)
	return task.Watcher{PID: pid, Heard: info.ModTime().Local(), Stopped: stopped && err == nil,
		Yields: strings.TrimSpace(how) == yieldLine, Began: p.Began}
}

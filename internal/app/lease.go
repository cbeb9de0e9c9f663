package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orange/internal/proc"
	"orange/internal/task"
)

// monitorLock is the lease of the monitor: the kernel gives it back however its holder ends.
const monitorLock = "monitor"

// Monitor watches until ctx ends. Where another process has the lease, it waits for its end first.
func (h *house) Monitor(ctx context.Context, say func(string)) error {
	return h.watchOver(ctx, watch{
		waits: func(w task.Watcher) {
			if found, advice := w.Trouble(time.Now()); found != "" {
				say(found + "; " + advice)
				return
			}
			say("another monitor is at work (process " + w.Name() + "); waiting for its end")
		},
		begins: func() { say("watching " + h.dir) },
		tells:  say,
	})
}

// watch is who hears of a watch over agents.
type watch struct {
	waits  func(holder task.Watcher) // another process has the lease: this one waits for its end
	begins func()
	tells  func(text string) // something of a task that a person wants to know
}

func (h *house) watchOver(ctx context.Context, w watch) error {
	night, err := h.night(w.tells)
	if err != nil {
		return err
	}
	release, err := h.lease(ctx, w.waits)
	if release == nil {
		return err
	}
	defer release()
	if err := h.noteWatcher(); err != nil {
		return err
	}
	defer h.forgetWatcher()
	if err := h.dropTickets(); err != nil {
		return err
	}
	h.engine.Facts = h.looker(0) // a watch waits for nobody: what is being found out is asked for again
	w.begins()
	h.engine.Log.Info("watch begins", "component", "monitor", "process", os.Getpid())
	night.Run(ctx)
	h.engine.Log.Info("watch ends", "component", "monitor", "process", os.Getpid())
	return nil
}

// lease is the right to watch: nil where ctx ended before it could be had. It tells who has it, and again when
// that changes: another process has it, or the one that has it does not watch.
func (h *house) lease(ctx context.Context, waits func(holder task.Watcher)) (release func(), err error) {
	const (
		often  = 250 * time.Millisecond
		seldom = 2 * time.Second // a look at a process is another program on some systems
	)
	unknown := task.Watcher{}.Name()
	told, looked := "", time.Time{}
	for ctx.Err() == nil {
		release, free, err := h.files.TryLock(monitorLock)
		if free || err != nil {
			return release, err
		}
		if told == "" || told == unknown || time.Since(looked) >= seldom {
			looked = time.Now()
			holder := watcher(h.dir)
			found, _ := holder.Trouble(looked)
			if now := holder.Name() + found; now != told {
				waits(holder)
				h.engine.Log.Info("watch waits for another's end", "component", "monitor", "process", os.Getpid(),
					"holder", holder.Name(), "trouble", found)
				told = now
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(often):
		}
	}
	return nil, nil
}

// MonitorOnce does everything that there is to do now. Where another process has the lease it does nothing, and
// says so: that one does it, or a person has to know why it does not.
func (h *house) MonitorOnce(ctx context.Context, say func(string)) error {
	night, err := h.night(say)
	if err != nil {
		return err
	}
	release, free, err := h.files.TryLock(monitorLock)
	if err != nil {
		return err
	}
	if !free {
		holder := watcher(h.dir)
		if found, advice := holder.Trouble(time.Now()); found != "" {
			return fmt.Errorf("nothing was done: %s; %s", found, advice)
		}
		return fmt.Errorf("nothing was done: another monitor is at work (process %s), and does all of it",
			holder.Name())
	}
	defer release()
	if err := h.noteWatcher(); err != nil {
		return err
	}
	defer h.forgetWatcher()
	if err := h.dropTickets(); err != nil {
		return err
	}
	ctx, off := context.WithCancel(ctx)
	defer off()
	go h.keepHeard(ctx)
	return night.Once(ctx)
}

// keepHeard lets others hear of a look that may take its time.
func (h *house) keepHeard(ctx context.Context) {
	heard := h.heard()
	tick := time.NewTicker(task.HeardEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			heard()
		}
	}
}

// holderFile names the process that has the lease; its time is when that process let others hear of it last.
func holderFile(dir string) string { return filepath.Join(dir, "locks", monitorLock+".holder") }

// noteWatcher notes that this process has the lease.
func (h *house) noteWatcher() error {
	self, err := proc.Self()
	if err == nil {
		err = os.WriteFile(holderFile(h.dir), []byte(strconv.Itoa(self.PID)+"\n"+self.Began+"\n"), task.PrivateFile)
	}
	if err != nil {
		return fmt.Errorf("note who watches: %w", err)
	}
	return nil
}

// forgetWatcher takes the note back, before the lease is given back. That it stays changes nothing: its process
// is gone.
func (h *house) forgetWatcher() { _ = os.Remove(holderFile(h.dir)) }

// heard lets others hear that this process watches, seldom enough to cost nothing. That it cannot is no reason to
// end a watch.
func (h *house) heard() func() {
	last := time.Now()
	return func() {
		now := time.Now()
		if now.Sub(last) < task.HeardEvery-time.Second {
			return
		}
		last = now
		err := os.Chtimes(holderFile(h.dir), now, now)
		if errors.Is(err, os.ErrNotExist) {
			err = h.noteWatcher()
		}
		if err != nil {
			h.engine.Log.Warn("others cannot hear of this watch", "component", "monitor", "error", err.Error())
		}
	}
}

// watcher is the process that has noted that it has the lease, if it is still there. The lease itself is not
// tried: who wants it at that moment would not get it.
func watcher(dir string) task.Watcher {
	file := holderFile(dir)
	info, err := os.Stat(file)
	if err != nil {
		return task.Watcher{} // it has the lease and has not noted itself yet, or nobody has it
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return task.Watcher{}
	}
	number, began, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return task.Watcher{}
	}
	p := task.Process{PID: pid, Began: strings.TrimSpace(began)}
	if alive, err := proc.Alive(p); err != nil || !alive {
		return task.Watcher{}
	}
	stopped, err := proc.Stopped(p)
	return task.Watcher{PID: pid, Heard: info.ModTime().Local(), Stopped: stopped && err == nil}
}

// watchers tells the doctor who watches.
type watchers struct{ dir string }

func (w watchers) Watcher() task.Watcher { return watcher(w.dir) }

package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/follow"
	"orange/internal/launch"
	"orange/internal/mirror"
	"orange/internal/monitor"
	"orange/internal/pool"
	"orange/internal/proc"
	"orange/internal/sqlite"
	"orange/internal/task"
)

// usualStall is how long an agent may do nothing before its task is marked, where nobody says.
const usualStall = 15 * time.Minute

// night joins the monitor to the rooms that it needs.
func (h *house) night(say func(string)) (*monitor.Monitor, error) {
	config, err := h.home.Config()
	if err != nil {
		return nil, err
	}
	stall := config.StalledAfter
	if stall == 0 {
		stall = usualStall
	}
	return &monitor.Monitor{
		Sessions: h.server, Processes: proc.System{Grace: grace},
		Traces: traces{h.pool, h},
		Record: watchedRecord{h.store, h.record()},
		Engine: h.engine, Keeper: h.engine, Rules: h.home, Forge: watchedRequests{h.gitHub()},
		Hint: h.server.AwaitDeath, Heard: h.lease.Heartbeat(h.engine.Log), Now: time.Now, Log: h.engine.Log,
		Stall: stall,
		Tell: func(ctx context.Context, t task.Task, text string) {
			say(fmt.Sprintf("%s %s: %s", t.Project+"/"+t.Branch, t.ID, text))
			h.notify(ctx, config.Notify, t, text)
		},
	}, nil
}

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

// watch has the functions that are called for the events of a watch over agents.
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
	release, err := h.lease.Wait(ctx, h.engine.Log, w.waits)
	if release == nil {
		return err
	}
	defer release()
	if err := launch.DropTickets(h.dir); err != nil {
		return err
	}
	h.engine.Facts = h.looker(0) // a watch waits for nothing: what is being found out is asked for again
	w.begins()
	h.engine.Log.Info("watch begins", "component", "monitor", "process", os.Getpid())
	night.Run(ctx)
	h.engine.Log.Info("watch ends", "component", "monitor", "process", os.Getpid())
	return nil
}

// MonitorOnce does everything that there is to do now. Where another process has the lease it does nothing, and
// says so: that one does it, or a person has to know why it does not.
func (h *house) MonitorOnce(ctx context.Context, say func(string)) error {
	night, err := h.night(say)
	if err != nil {
		return err
	}
	release, free, err := h.lease.Try()
	if err != nil {
		return err
	}
	if !free {
		holder := h.lease.Watcher()
		if found, advice := holder.Trouble(time.Now()); found != "" {
			return fmt.Errorf("nothing was done: %s; %s", found, advice)
		}
		return fmt.Errorf("nothing was done: another monitor is at work (process %s), and does all of it",
			holder.Name())
	}
	defer release()
	if err := launch.DropTickets(h.dir); err != nil {
		return err
	}
	ctx, off := context.WithCancel(ctx)
	defer off()
	go h.lease.Beat(ctx, h.engine.Log)
	return night.Once(ctx)
}

// notifyPatience bounds a program that tells a person something.
const notifyPatience = 10 * time.Second

// notify runs the person's own program. That it failed is only logged: nothing depends on it.
func (h *house) notify(ctx context.Context, argv []string, t task.Task, text string) {
	if len(argv) == 0 {
		return
	}
	ctx, off := context.WithTimeout(ctx, notifyPatience)
	defer off()
	put := strings.NewReplacer("{message}", text, "{task}", t.ID, "{branch}", t.Branch, "{project}", t.Project)
	args := make([]string, len(argv)-1)
	for i, word := range argv[1:] {
		args[i] = put.Replace(word)
	}
	if _, err := proc.Run(ctx, proc.Command{Name: argv[0], Args: args}); err != nil {
		h.engine.Log.Warn("the notification failed", "component", "monitor", "task", t.ID, "error", err.Error())
	}
}

// watchedRecord is the record, and reports when a process has written to it.
type watchedRecord struct {
	*sqlite.Store
	file follow.Source
}

func (r watchedRecord) Watch(ctx context.Context, changed func()) error {
	return r.file.Watch(ctx, changed)
}

// traces are what agents leave in files.
type traces struct {
	*pool.Pool
	house *house
}

func (t traces) Notes(ctx context.Context, noted func(hook int64)) error {
	return mirror.Watch(ctx, launch.Folder(t.house.dir), func(path string) {
		hook, isNote := launch.NoteOf(path)
		if !isNote {
			return
		}
		// else it is being written, or its agent's process tells
		if _, whole, err := t.Ending(hook); whole && err == nil {
			noted(hook)
		}
	})
}

func (t traces) Ending(hook int64) (task.Ending, bool, error) {
	return launch.Ending(t.house.dir, hook)
}

func (t traces) Stamp(one task.Task) string {
	var out bytes.Buffer
	dir := t.house.files.Dir(one.Project, one.ID)
	names := []string{"TASK.md", "history.jsonl"}
	// else whoever makes them equal tells why not
	if def, err := t.house.home.Pinned(context.Background(), one.Workflow); err == nil {
		for _, p := range def.Projections {
			names = append(names, p.File)
		}
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			fmt.Fprintf(&out, "%s %d %d;", info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return out.String()
}

func (t traces) Known(id string) (bool, error) { return hasFolder(t.house.dir, id) }

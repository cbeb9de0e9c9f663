package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orange/internal/harness"
	"orange/internal/mirror"
	"orange/internal/monitor"
	"orange/internal/proc"
	"orange/internal/sqlite"
	"orange/internal/task"
)

// usualStall is how long an agent may do nothing before its task is marked, where nobody says.
const usualStall = 15 * time.Minute

// monitorLock is the lease of the monitor: the kernel gives it back however its holder ends.
const monitorLock = "monitor"

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
		Sessions: watchtower{house: h}, Processes: watched{}, Traces: traces{house: h}, Record: ledger{h.store, h.dir},
		Engine: h.engine, Keeper: h.engine, Rules: h.home, Forge: watchedRequests{h.gitHub()}, Hint: h.server.AwaitDeath, Now: time.Now, Log: h.engine.Log, Stall: stall,
		Tell: func(ctx context.Context, t task.Task, text string) {
			say(fmt.Sprintf("%s %s: %s", t.Project+"/"+t.Branch, t.ID, text))
			h.notify(ctx, config.Notify, t, text)
		},
	}, nil
}

// Monitor watches until ctx ends. Where another process has the lease, it waits for its end first.
func (h *house) Monitor(ctx context.Context, say func(string)) error {
	return h.watchOver(ctx, watch{
		waits: func(holder string) {
			say("another monitor is at work (process " + holder + "); waiting for its end")
		},
		begins: func() { say("watching " + h.dir) },
		tells:  say,
	})
}

// watch is who hears of a watch over agents.
type watch struct {
	waits  func(holder string) // another process watches: this one waits for its end
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
	if err := os.WriteFile(h.holderFile(), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		return fmt.Errorf("note who watches: %w", err)
	}
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

// lease is the right to watch: nil where ctx ended before it could be had. It tells who has it, and who has it then if that one ended
// and another one was quicker.
func (h *house) lease(ctx context.Context, waits func(holder string)) (release func(), err error) {
	const often = 250 * time.Millisecond
	told := ""
	for ctx.Err() == nil {
		release, free, err := h.files.TryLock(monitorLock)
		if free || err != nil {
			return release, err
		}
		if holder := h.holder(); holder != told {
			waits(holder)
			h.engine.Log.Info("watch waits for another's end", "component", "monitor", "process", os.Getpid())
			told = holder
		}
		select {
		case <-ctx.Done():
		case <-time.After(often):
		}
	}
	return nil, nil
}

// MonitorOnce does everything that there is to do now. It needs no lease: a monitor that is at work beside it does nothing twice.
func (h *house) MonitorOnce(ctx context.Context, say func(string)) error {
	night, err := h.night(say)
	if err == nil {
		err = h.dropTickets()
	}
	if err != nil {
		return err
	}
	return night.Once(ctx)
}

func (h *house) holderFile() string { return filepath.Join(h.dir, "locks", monitorLock+".holder") }

func (h *house) holder() string {
	text, err := os.ReadFile(h.holderFile())
	who := strings.TrimSpace(string(text))
	if err != nil || who == "" { // it has the lease and has not noted itself yet
		return "unknown"
	}
	return who
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

// watchtower lends the tmux room to the monitor.
type watchtower struct{ house *house }

func (w watchtower) Look(ctx context.Context) ([]monitor.Pane, error) {
	panes, err := w.house.server.Panes(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]monitor.Pane, 0, len(panes))
	for _, p := range panes {
		if p.Task == "" {
			continue
		}
		hook, _ := strconv.ParseInt(p.Hook, 10, 64) // a window that no hook started has none
		out = append(out, monitor.Pane{
			WindowID: p.WindowID, Task: p.Task, Role: p.Role, Hook: hook, Dead: p.Dead, Activity: p.Activity,
			Ending: task.Ending{Known: p.StatusKnown, Status: p.Status, Signal: p.Signal},
		})
	}
	return out, nil
}

func (w watchtower) EndWindow(ctx context.Context, id string) error {
	return w.house.server.KillWindow(ctx, id)
}

// LastWords are the last lines of a dead agent's window.
func (w watchtower) LastWords(ctx context.Context, death task.Death) (string, error) {
	panes, err := w.house.server.Panes(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range panes {
		if p.Task == death.Task && p.Role == death.Role && p.Hook == strconv.FormatInt(death.Hook, 10) {
			return w.house.server.LastWords(ctx, p.ID, lastWords)
		}
	}
	return "", nil
}

// lastWords is how many lines of a dead agent's window are kept.
const lastWords = 20

// watched lends the process room to the monitor.
type watched struct{}

func (watched) Watch(ctx context.Context, p task.Waiter) error {
	return proc.Watch(ctx, proc.Process{PID: p.PID, Started: p.Began})
}

func (watched) Alive(p task.Waiter) (bool, error) {
	return proc.Alive(proc.Process{PID: p.PID, Started: p.Began})
}

func (watched) Orphaned(p task.Waiter) (bool, error) {
	_, name, err := proc.Parent(p.PID)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil // it ended while we looked
	}
	return !strings.HasPrefix(name, "tmux"), err
}

func (watched) End(ctx context.Context, p task.Waiter) error {
	return proc.EndGroup(ctx, p.PID, grace)
}

// ledger is the record, and tells when somebody has written it.
type ledger struct {
	*sqlite.Store
	dir string
}

func (l ledger) Watch(ctx context.Context, changed func()) error {
	record := filepath.Join(l.dir, recordName)
	// The folder and not the file: the log of the database comes and goes with those who have it open.
	return mirror.Watch(ctx, l.dir, func(path string) {
		if path == "" || path == record || path == record+"-wal" {
			changed()
		}
	})
}

// traces are what agents leave in files.
type traces struct{ house *house }

// noteEnd is how the name of a launcher's note ends; the hook that started the agent comes before it.
const noteEnd = ".exit"

func (t traces) launches() string { return filepath.Join(t.house.dir, "launch") }

func (t traces) Notes(ctx context.Context, noted func(hook int64)) error {
	return mirror.Watch(ctx, t.launches(), func(path string) {
		number, isNote := strings.CutSuffix(filepath.Base(path), noteEnd)
		hook, err := strconv.ParseInt(number, 10, 64)
		if !isNote || err != nil {
			return
		}
		if _, whole, err := t.Ending(hook); whole && err == nil { // else it is being written, or its agent's process tells
			noted(hook)
		}
	})
}

func (t traces) Ending(hook int64) (task.Ending, bool, error) {
	text, err := os.ReadFile(filepath.Join(t.launches(), strconv.FormatInt(hook, 10)+noteEnd))
	if errors.Is(err, os.ErrNotExist) {
		return task.Ending{}, false, nil
	}
	if err != nil {
		return task.Ending{}, false, fmt.Errorf("read how the agent ended: %w", err)
	}
	var note harness.Note
	if json.Unmarshal(text, &note) != nil {
		return task.Ending{}, false, nil // it was cut short: as good as none
	}
	return task.Ending{Known: true, Status: note.Status, Signal: note.Signal, Unstarted: note.Unstarted}, true, nil
}

func (t traces) Stamp(one task.Task) string {
	var out bytes.Buffer
	dir := t.house.files.Dir(one.Project, one.ID)
	names := []string{"TASK.md", "history.jsonl"}
	if def, err := t.house.home.Pinned(context.Background(), one.Workflow); err == nil { // else whoever makes them equal tells why not
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

func (t traces) Touched(_ context.Context, one task.Task) (time.Time, error) {
	slot, err := desk(t).slot(one)
	if err != nil {
		return time.Time{}, err
	}
	last, err := slot.Touched()
	if err != nil {
		return time.Time{}, err
	}
	if info, err := os.Stat(t.house.files.Document(one.Project, one.ID)); err == nil && info.ModTime().After(last) {
		last = info.ModTime()
	}
	return last, nil
}

func (t traces) Known(id string) (bool, error) {
	projects, err := os.ReadDir(filepath.Join(t.house.dir, "tasks"))
	if err != nil { // a home whose agents live has that folder
		return false, fmt.Errorf("look for the task's folder: %w", err)
	}
	for _, p := range projects {
		_, err := os.Lstat(filepath.Join(t.house.dir, "tasks", p.Name(), id))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("look for the task's folder: %w", err)
		}
	}
	return false, nil
}

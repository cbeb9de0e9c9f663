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

	"orange/internal/follow"
	"orange/internal/harness"
	"orange/internal/mirror"
	"orange/internal/monitor"
	"orange/internal/proc"
	"orange/internal/sqlite"
	"orange/internal/task"
	"orange/internal/tmux"
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
		Sessions: h.server, Processes: proc.System{Grace: grace}, Traces: traces{house: h},
		Record: watchedRecord{h.store, h.record()},
		Engine: h.engine, Keeper: h.engine, Rules: h.home, Forge: watchedRequests{h.gitHub()},
		Hint: h.server.AwaitDeath, Heard: h.heard(), Now: time.Now, Log: h.engine.Log, Stall: stall,
		Tell: func(ctx context.Context, t task.Task, text string) {
			say(fmt.Sprintf("%s %s: %s", t.Project+"/"+t.Branch, t.ID, text))
			h.notify(ctx, config.Notify, t, text)
		},
	}, nil
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

// agentScreens reads what the agents' windows show.
type agentScreens struct{ tmux.Server }

// LastWords are the last lines of a dead agent's window.
func (s agentScreens) LastWords(ctx context.Context, death task.Death) (string, error) {
	panes, err := s.Panes(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range panes {
		if p.Task == death.Task && p.Role == death.Role && p.HookID() == death.Hook {
			return s.Server.LastWords(ctx, p.ID, lastWords)
		}
	}
	return "", nil
}

// lastWords is how many lines of a dead agent's window are kept.
const lastWords = 20

// watchedRecord is the record, and reports when a process has written to it.
type watchedRecord struct {
	*sqlite.Store
	file follow.Source
}

func (r watchedRecord) Watch(ctx context.Context, changed func()) error {
	return r.file.Watch(ctx, changed)
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
		// else it is being written, or its agent's process tells
		if _, whole, err := t.Ending(hook); whole && err == nil {
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

func (t traces) Known(id string) (bool, error) { return hasFolder(t.house.dir, id) }

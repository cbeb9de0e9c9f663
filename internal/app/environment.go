package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/harness"
	"orange/internal/task"
	"orange/internal/tmux"
)

// environments has the environments of tasks in the memory of the terminal server, each under its task's id: in
// no file and in no argument. A process of an agent leaves its own before it does anything, so that what it
// starts never runs in what the agent made of it.
type environments struct{ house *house }

// Keep keeps the environment of this process for a task.
func (e environments) Keep(ctx context.Context, id string) error {
	release, err := e.house.files.Lock(ctx, keepLock(id))
	if err != nil {
		return err
	}
	defer release()
	return e.keep(ctx, id)
}

// keepLock is the name of the lock of whoever keeps an environment for a task, or looks whether one is kept
// before they do.
func keepLock(id string) string { return id + ".environment" }

func (e environments) keep(ctx context.Context, id string) error {
	own := withoutAgent(os.Environ())
	if err := e.house.configureTmux(); err != nil {
		return err
	}
	if err := e.house.noteBearings(own); err != nil {
		return err
	}
	return e.house.server.Keep(ctx, id, []byte(strings.Join(own, "\x00")))
}

func (e environments) Drop(ctx context.Context, id string) error { return e.house.server.Drop(ctx, id) }

// keptIn is the environment that a terminal server keeps for a task; nil where it keeps none.
func keptIn(ctx context.Context, server tmux.Server, id string) ([]string, error) {
	text, err := server.Kept(ctx, id)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(string(text), "\x00"), nil
}

// of is what a task's programs run in. Where none is kept, after a reboot above all, it is that of this process,
// which is a person's or the service's; a task with a workspace has it from then on. Nobody keeps one between the
// look and the keeping: a person's would be lost.
func (e environments) of(ctx context.Context, t task.Task) ([]string, error) {
	release, err := e.house.files.Lock(ctx, keepLock(t.ID))
	if err != nil {
		return nil, err
	}
	defer release()
	base, err := keptIn(ctx, e.house.server, t.ID)
	if err != nil {
		return nil, fmt.Errorf("look for the environment of task %s: %w", t.ID, err)
	}
	if base == nil {
		base = withoutAgent(os.Environ())
		if t.Workspace != "" {
			if err := e.keep(ctx, t.ID); err != nil {
				return nil, err
			}
		}
	}
	return harness.Layer(base), nil // what the person has set for every task lies over it
}

// enter makes the environment that is kept for a task that of this process, so that every program that it starts
// finds what the task's programs find. Where none is kept the process has its own.
func (e environments) enter(ctx context.Context, id string) {
	kept, err := keptIn(ctx, e.house.server, id)
	if err != nil {
		e.house.engine.Log.Warn("the environment of a task could not be looked at", "component", "app", "task",
			id, "error", err.Error())
	}
	if kept != nil {
		become(kept)
	}
}

// leaveAgents leaves the environment of the agent that started this process, once: for that of the agent's task,
// or, where none is kept or the terminal server cannot be reached, for the bearings alone. Even the way to the
// server is not taken from what the agent says.
func (e environments) leaveAgents(ctx context.Context, id string) {
	e.house.left.Do(func() {
		bearings, err := e.house.bearings()
		if err != nil {
			e.house.engine.Log.Warn("the bearings could not be read", "component", "app", "error", err.Error())
		}
		if len(bearings) == 0 {
			return // nothing was started from this home yet, and so no agent
		}
		become(bearings)
		if id != "" {
			e.enter(ctx, id)
		}
	})
}

// become gives this process another environment. What Orange set for it, and what describes its terminal, stays.
func become(env []string) {
	wanted := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if !stays(name) {
			wanted[name] = value
		}
	}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if _, have := wanted[name]; !have && !stays(name) {
			_ = os.Unsetenv(name) // it fails for no name that the environment gave
		}
	}
	for name, value := range wanted { // the order does not matter
		_ = os.Setenv(name, value) // it fails for no name that an environment had
	}
}

func stays(name string) bool { return strings.HasPrefix(name, "ORANGE_") || harness.OfTerminal(name) }

// bearingNames are the variables by which programs, their settings and the terminal server are found. Their
// values are no secrets.
func bearingNames() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "TMUX_TMPDIR",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
	}
}

func (h *house) bearingsFile() string { return filepath.Join(h.dir, "bearings.json") }

// noteBearings notes the bearings of an environment that is kept for some task.
func (h *house) noteBearings(env []string) error {
	var found []string
	for _, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); slices.Contains(bearingNames(), name) {
			found = append(found, pair)
		}
	}
	text, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return fmt.Errorf("note how programs are found: %w", err)
	}
	text = append(text, '\n')
	if have, err := os.ReadFile(h.bearingsFile()); err == nil && bytes.Equal(have, text) {
		return nil
	}
	temporary := fmt.Sprintf("%s.%d", h.bearingsFile(), os.Getpid())
	if err := os.WriteFile(temporary, text, task.PrivateFile); err != nil {
		return fmt.Errorf("note how programs are found: %w", err)
	}
	if err := os.Rename(temporary, h.bearingsFile()); err != nil {
		return fmt.Errorf("note how programs are found: %w", err)
	}
	return nil
}

func (h *house) bearings() ([]string, error) {
	text, err := os.ReadFile(h.bearingsFile())
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("read %q: %w", h.bearingsFile(), err)
	}
	return found, nil
}

package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/pool"
	"orange/internal/proc"
	"orange/internal/record"
	"orange/internal/task"
)

// Respawn starts the agent of the present status again, if it is dead.
func (h *house) Respawn(ctx context.Context, id string, actor task.Actor) (record.Outcome, error) {
	return h.engine.Respawn(ctx, id, h.agents.Lives(ctx), actor)
}

// Retry performs failed hooks again.
func (h *house) Retry(ctx context.Context, id string, actor task.Actor) (record.Outcome, error) {
	return h.engine.Retry(ctx, id, actor)
}

// Delete forgets a task.
func (h *house) Delete(ctx context.Context, id string, actor task.Actor) (string, error) {
	return h.engine.Delete(ctx, id, actor)
}

// Settle performs what a task owes: in the environment that is kept for the task, but for a person, whose own
// keys a push may need.
func (h *house) Settle(ctx context.Context, id string, person bool) error {
	if !person {
		h.environments.Enter(ctx, id)
	}
	return h.engine.Settle(ctx, id)
}

// Wait waits until it is the caller's turn.
func (h *house) Wait(ctx context.Context, id string, actor task.Actor, timeout time.Duration) (record.Waited, error) {
	self, err := proc.Self()
	if err != nil {
		return record.Waited{}, err
	}
	return h.engine.Wait(ctx, h.store, id, actor, self, timeout)
}

// Here is the task and the project of the folder that the command stands in.
func (h *house) Here(ctx context.Context) (id, project string, err error) {
	if own := os.Getenv("ORANGE_TASK_ID"); own != "" {
		return own, os.Getenv("ORANGE_PROJECT"), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	holder, found, err := h.pool.Holder(ctx, dir)
	if err != nil {
		return "", "", err
	}
	if found {
		s, err := h.store.Load(ctx, holder)
		return holder, s.Task.Project, err
	}
	all, err := h.home.Projects()
	if err != nil {
		return "", "", err
	}
	longest := ""
	for _, p := range all {
		if pool.Inside(dir, p.Path) && len(p.Path) > len(longest) {
			longest, project = p.Path, p.Name
		}
	}
	return "", project, nil
}

// Fill gives a new task what nobody said of it: its project's workflow, and the person's harnesses or else the
// first known program that is installed.
func (h *house) Fill(_ context.Context, n task.New) (task.New, error) {
	config, err := h.home.Config()
	if err != nil {
		return n, err
	}
	prefer := decide.Preferences{Harness: config.Harness, ReviewHarness: config.ReviewHarness}
	if n.Harness == "" && prefer.Harness == "" {
		prefer.Harness = h.installed()
	}
	n = decide.WithDefaults(n, prefer)
	for _, name := range []string{n.Harness, n.ReviewHarness} {
		if _, err := h.home.Harness(name); err != nil {
			return n, err
		}
	}
	return n, nil
}

// installed is the first of the usual programs that is on PATH, or the first of all where none is.
func (h *house) installed() string {
	usual := decide.UsualHarnesses()
	for _, name := range usual {
		one, err := h.home.Harness(name)
		if err != nil {
			continue // a file of the person's that is wrong is told when it is asked for by name
		}
		if _, err := proc.Find(one.Program, os.Getenv("PATH")); err == nil {
			return name
		}
	}
	return usual[0]
}

// Tasks lists tasks from the record.
func (h *house) Tasks(ctx context.Context, f record.Filter) ([]task.Task, error) {
	return h.store.List(ctx, f)
}

// History is a task's events.
func (h *house) History(ctx context.Context, id string) ([]history.Event, error) {
	if _, err := h.store.Load(ctx, id); err != nil {
		return nil, err
	}
	return h.store.Events(ctx, id, 0)
}

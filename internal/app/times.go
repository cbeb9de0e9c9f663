package app

import (
	"context"
	"errors"

	"orange/internal/decide"
	"orange/internal/stats"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Standings tell how tasks stand in time. Those that cannot be told are missing, and the error says why.
func (h *house) Standings(ctx context.Context, tasks []task.Task) (map[string]task.Timing, error) {
	out := make(map[string]task.Timing, len(tasks))
	words := map[string]task.Timeouts{}
	silent := map[string]bool{} // projects and workflows that could not be read
	now := h.engine.Now()
	var all error
	for i := range tasks {
		t := &tasks[i]
		if silent[t.Workflow.Digest] || silent["project "+t.Project] {
			continue
		}
		def, err := h.home.Pinned(ctx, t.Workflow)
		if err != nil {
			silent[t.Workflow.Digest] = true
			all = errors.Join(all, err)
			continue
		}
		own, asked := words[t.Project]
		if !asked {
			if own, err = h.home.Timeouts(t.Project); err != nil {
				silent["project "+t.Project] = true
				all = errors.Join(all, err)
				continue
			}
			words[t.Project] = own
		}
		out[t.ID] = decide.TimingOf(def, own, *t, now)
	}
	return out, all
}

// Stats tell the numbers of tasks, each from its history.
func (h *house) Stats(ctx context.Context, tasks []task.Task) ([]stats.Stats, error) {
	out := make([]stats.Stats, 0, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		def, err := h.home.Pinned(ctx, t.Workflow)
		if err != nil {
			return nil, err
		}
		events, err := h.store.Events(ctx, t.ID, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, stats.Of(*t, events, marksOf(def), h.engine.Now()))
	}
	return out, nil
}

// LogEntries tell a task's history in the form that is handed to other programs.
func (h *house) LogEntries(ctx context.Context, id string) ([]stats.LogEntry, error) {
	_, def, err := h.Pinned(ctx, id)
	if err != nil {
		return nil, err
	}
	events, err := h.store.Events(ctx, id, 0)
	return stats.LogEntries(id, events, marksOf(def)), err
}

func marksOf(def *workflow.Definition) func(task.Status) stats.Marks {
	return func(status task.Status) stats.Marks { return decide.Marks(def, status) }
}

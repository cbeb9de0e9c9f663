package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// World is what the processes of a simulation share: the record and the folders, branches and agents of all tasks.
// One process at a time acts in it.
type World struct {
	Workflow *workflow.Definition // of all tasks
	Project  task.Project         // of all tasks
	Record   Record
	Folders  Folders
	Now      func() time.Time
	Observer Observer
	Agents   []*Agent // all that were ever started, the oldest first

	branches map[string]*TaskBranch

	mu    sync.Mutex
	locks map[string]any            // the process that holds each
	cache map[string]map[string]any // answers of the record, by task

	histories map[string][]history.Event // as far as they were read, by task
}

// Observer hears of every change of the record.
type Observer interface {
	// Committed has the task after a change, and its open seats before it where the change may end some.
	Committed(v ProcessView, c record.Change, t task.Task, open []record.Seat)
	Begun(v ProcessView, hook int64)
	Deleted(id string)
}

// ProcessView is a world as one process sees it.
type ProcessView struct {
	*World
	Process Process
}

// Ports are those of an engine that works on a record; the caller sets what it has of its own: Work, Facts, Perform,
// RunHooks, Environments, Random and Patience.
func (v ProcessView) Ports(rec Record) engine.Ports {
	return engine.Ports{
		Record: rec, Folder: v.TaskFolders(), Rules: SingleWorkflow{v.Workflow}, Agents: v.Terminal(),
		Now: v.Now, Log: slog.New(slog.DiscardHandler),
	}
}

// Load reads the record of a task. It is no step of a process.
func (w *World) Load(ctx context.Context, id string) (record.Snapshot, error) {
	got, err := remember(w, id, "load", func() (record.Snapshot, error) { return w.Record.Load(ctx, id) })
	got.Owed, got.Spent, got.Entry = slices.Clone(got.Owed), slices.Clone(got.Spent), slices.Clone(got.Entry)
	return got, err
}

// Events are the history of a task. To read them is no step of a process.
func (w *World) Events(ctx context.Context, id string) ([]history.Event, error) {
	got, err := remember(w, id, "events", func() ([]history.Event, error) { return w.longer(ctx, id) })
	return slices.Clone(got), err
}

// longer is the history of a task: what was read before, and what came since. Histories only grow.
func (w *World) longer(ctx context.Context, id string) ([]history.Event, error) {
	w.mu.Lock()
	known := w.histories[id]
	w.mu.Unlock()
	more, err := w.Record.Events(ctx, id, len(known))
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.histories == nil {
		w.histories = map[string][]history.Event{}
	}
	w.histories[id] = append(slices.Clip(known), more...)
	return w.histories[id], nil
}

// OpenSeats are those of a task, or of all tasks if id is empty. To read them is no step of a process.
func (w *World) OpenSeats(ctx context.Context, id string) ([]record.Seat, error) {
	got, err := remember(w, id, "seats", func() ([]record.Seat, error) { return w.Record.OpenSeats(ctx, id) })
	return slices.Clone(got), err
}

// List has the tasks that a filter lets through. To read them is no step of a process.
func (w *World) List(ctx context.Context, f record.Filter) ([]task.Task, error) {
	got, err := remember(w, "", fmt.Sprintf("list %+v", f), func() ([]task.Task, error) {
		return w.Record.List(ctx, f)
	})
	return slices.Clone(got), err
}

// remember asks the record once, until a process changes what the answer may depend on: the database is what
// takes the time. About is the task that the question is about; empty for a question about many.
func remember[T any](w *World, about, what string, ask func() (T, error)) (T, error) {
	w.mu.Lock()
	have, found := w.cache[about][what]
	w.mu.Unlock()
	if found {
		return have.(T), nil
	}
	got, err := ask()
	if err != nil {
		return got, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cache == nil {
		w.cache = map[string]map[string]any{}
	}
	if w.cache[about] == nil {
		w.cache[about] = map[string]any{}
	}
	w.cache[about][what] = got
	return got, nil
}

// forget drops the answers about a task, and those about many; all answers if id is empty.
func (w *World) forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == "" {
		clear(w.cache)
		return
	}
	delete(w.cache, id)
	delete(w.cache, "")
}

// FreeLocks frees the locks of a process that has ended.
func (w *World) FreeLocks(process any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.locks, func(_ string, owner any) bool { return owner == process })
}

func (w *World) isLocked(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locks[name] != nil
}

func (w *World) lock(name string, process any) (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locks == nil {
		w.locks = map[string]any{}
	}
	w.locks[name] = process
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.locks[name] == process {
			delete(w.locks, name)
		}
	}
}

// SingleWorkflow is the workflow of all tasks. No project has timeouts of its own.
type SingleWorkflow struct{ Workflow *workflow.Definition }

// Present is the workflow, whatever the name.
func (s SingleWorkflow) Present(string) (*workflow.Definition, error) { return s.Workflow, nil }

// Tried is the workflow, whatever the name.
func (s SingleWorkflow) Tried(string, task.Project) (*workflow.Definition, error) {
	return s.Workflow, nil
}

// Named is the workflow, whatever the name.
func (s SingleWorkflow) Named(context.Context, string, task.Project) (*workflow.Definition, []string, error) {
	return s.Workflow, nil, nil
}

// Pinned is the workflow.
func (s SingleWorkflow) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return s.Workflow, nil
}

// Timeouts are none.
func (s SingleWorkflow) Timeouts(string) (task.Timeouts, error) { return nil, nil }

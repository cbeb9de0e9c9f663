package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"orange/internal/engine/monitor"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/tmux"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world pretends to be everything that the monitor looks at, and notes what it does.
type world struct {
	def       *workflow.Definition // of every task
	stamps    map[string]uint64    // those that were kept
	kept      int                  // how often
	mu        sync.Mutex
	panes     []tmux.Pane
	blind     error
	looks     int
	seats     []record.Seat
	tasks     []task.Task
	seatsRead int         // how often the seats were asked for
	lists     int         // of tasks that were read
	numbered  []task.Task // as they were when number was given
	number    int64
	wrote     chan struct{}
	heard     chan struct{}
	alive     map[int]bool
	orphaned  map[int]bool
	deaf      bool
	failing   bool                  // a hook of the first task fails at every try, as it did before
	ends      map[int]chan struct{} // by process
	notes     map[int64]task.Ending
	noted     chan int64
	known     map[string]bool
	touched   time.Time
	again     time.Time
	next      time.Time     // what is answered to who asks for timeouts
	limits    task.Timeouts // of every project
	requests  []record.PullRequest
	fails     map[string]error
	did       []string
	told      []string
	waited    []string          // the tasks that were to be started because others are done
	broken    string            // the mark that such a task gets
	merges    []string          // the tasks whose merges were looked at
	cut       map[string]string // the notices of those that were cut short
	hint      chan struct{}
	judging   func() // what happens while a death is judged
}

func (w *world) note(format string, args ...any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	w.did = append(w.did, line)
	return w.fails[line]
}

func (w *world) Panes(context.Context) ([]tmux.Pane, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	return slices.Clone(w.panes), w.blind
}

func (w *world) KillWindow(_ context.Context, id string) error { return w.note("end-window %s", id) }

func (w *world) Watch(ctx context.Context, p task.Process) error {
	w.mu.Lock()
	deaf, end := w.deaf, w.ends[p.PID]
	w.mu.Unlock()
	if deaf {
		return errors.ErrUnsupported
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-end:
		return nil
	}
}

func (w *world) Alive(p task.Process) (bool, error) { return w.alive[p.PID], w.fails["alive"] }

func (w *world) Orphaned(p task.Process) (bool, error) { return w.orphaned[p.PID], nil }

func (w *world) EndGroup(_ context.Context, leader int) error { return w.note("end %d", leader) }

func (w *world) Ending(hook int64, _ string) (task.Ending, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	end, found := w.notes[hook]
	return end, found, nil
}

func (w *world) Notes(ctx context.Context, noted func(hook int64)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case hook := <-w.noted:
			noted(hook)
		}
	}
}

func (w *world) Stamp(t *task.Task) uint64 { return uint64(t.Version)<<32 + uint64(len(t.Summary)) }

func (w *world) Stamps() map[string]uint64 { return maps.Clone(w.stamps) }

func (w *world) KeepStamps(stamps map[string]uint64) error {
	w.stamps, w.kept = maps.Clone(stamps), w.kept+1
	return nil
}

func (w *world) Touched(context.Context, task.Task) (time.Time, error) { return w.touched, nil }

func (w *world) Known(id string) (bool, error) { return w.known[id], nil }

func (w *world) OpenSeats(context.Context, string) ([]record.Seat, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seatsRead++
	return slices.Clone(w.seats), nil
}

func (w *world) List(_ context.Context, f record.Filter) ([]task.Task, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists++
	found := slices.DeleteFunc(slices.Clone(w.tasks), func(t task.Task) bool {
		return f.Live && !t.Live || f.Over && (t.Live || t.Workspace == "") || !f.EndedSince.IsZero() &&
			(t.Live || t.UpdatedAt.Before(f.EndedSince))
	})
	slices.SortStableFunc(found, func(a, b task.Task) int { return over(a) - over(b) })
	return found, nil
}

func over(t task.Task) int {
	if t.Live {
		return 0
	}
	return 1
}

// Changed is another number whenever a task is another one than it was when the last number was given.
func (w *world) Changed(context.Context) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !reflect.DeepEqual(w.tasks, w.numbered) {
		w.numbered = slices.Clone(w.tasks)
		w.number++
	}
	return w.number, nil
}

func (w *world) Writes(ctx context.Context) (int64, error) {
	number, err := w.Changed(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	return number + int64(len(w.seats)), err
}

// watchRecord hears of a change of the record at once.
func (w *world) watchRecord(ctx context.Context, changed func()) error {
	changed()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wrote:
			changed()
		}
	}
}

func (w *world) Died(_ context.Context, d task.Death) (record.Outcome, error) {
	w.mu.Lock()
	judging := w.judging
	w.mu.Unlock()
	if judging != nil {
		judging()
	}
	err := w.note("died %s %s %d: %s", d.Task, d.Role, d.Hook, d.Ending)
	return record.Outcome{Moved: err == nil, Task: task.Task{ID: d.Task}, Asks: "look"}, err
}

func (w *world) RespawnDead(ctx context.Context, id string) (time.Time, error) {
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	return w.again, w.note("revive %s", id)
}

func (w *world) Stalled(_ context.Context, id string, since time.Time) (bool, error) {
	if since.IsZero() {
		return false, w.note("works %s", id)
	}
	return true, w.note("stalled %s %s", id, since.Format("15:04"))
}

func (w *world) EndUnusedSeats(_ context.Context, id string, hook int64) error {
	return w.note("vacate %s %d", id, hook)
}

func (w *world) Timeouts(_ context.Context, id string) (time.Time, string, error) {
	w.mu.Lock()
	next := w.next
	w.mu.Unlock()
	return next, "late", w.note("timeouts %s", id)
}

func (w *world) Resume(context.Context) error { return w.note("resume") }

func (w *world) Finish(context.Context) error {
	if w.failing {
		w.tasks[0].Version++
	}
	return w.note("finish")
}

func (w *world) StartWaiting(_ context.Context, id string, fetch bool) (record.Outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waited = append(w.waited, fmt.Sprint(id, " ", fetch))
	return record.Outcome{Task: task.Task{ID: id, Attention: w.broken}}, nil
}

func (w *world) GoOnMerging(_ context.Context, id string) (string, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.merges = append(w.merges, id)
	told, open := w.cut[id]
	return told, open, w.fails["merge "+id]
}

func (w *world) StartNext(_ context.Context, project string) (string, error) {
	return "", w.note("start-next %s", project)
}

func (w *world) Free(_ context.Context, id string) error { return w.note("free %s", id) }

func (w *world) Sync(_ context.Context, id string) error { return w.note("sync %s", id) }

func (w *world) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return w.def, nil
}

func rules() *workflow.Definition {
	return &workflow.Definition{
		States: []workflow.State{
			{Name: "build", Role: "worker"},
			{Name: "check", Role: "reviewer", Respawn: workflow.RespawnAuto, RespawnPrompt: workflow.Named{
				Name: "again"}},
			{Name: "ready"}, {Name: "merged", Terminal: true},
		},
		Transitions: []workflow.Transition{{From: "build", To: "check", By: []string{"worker"}},
			{From: "check", To: "build", By: []string{"reviewer"}}, {From: "ready", To: "merged"}},
		Moves: []workflow.Move{{Command: workflow.MoveMerge, To: "merged"}},
		Exit: workflow.Exit{
			PollInterval: 600, Rules: []workflow.Rule{{Status: "build", Action: workflow.ActionCrash}}},
	}
}

func (w *world) PRSeen(_ context.Context, id string, pr record.PullRequest) (string, error) {
	return "ended", w.note("pull-request %s %s", id, pr.State)
}

func (w *world) PRJudged(context.Context, string, record.PRLook) (string, error) { return "", nil }

func (w *world) Look(_ context.Context, project string, addresses []string) ([]record.PRLook, error) {
	err := w.note("standing %s %d", project, len(addresses))
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []record.PRLook
	for _, pr := range w.requests {
		found = append(found, record.PRLook{PullRequest: pr})
	}
	return found, err
}

// words is the world as the rules: they have Timeouts of their own.
type words struct{ *world }

func (w words) Timeouts(string) (task.Timeouts, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limits, w.fails["limits"]
}

func newMonitor() (*monitor.Monitor, *world) {
	w := &world{
		def: rules(), alive: map[int]bool{}, orphaned: map[int]bool{}, ends: map[int]chan struct{}{},
		notes: map[int64]task.Ending{}, noted: make(chan int64),
		known: map[string]bool{}, wrote: make(chan struct{}, 1), heard: make(chan struct{}, 1),
		fails: map[string]error{}, hint: make(chan struct{}),
	}
	return &monitor.Monitor{
		Agents: w, Record: w, Engine: w, Rules: words{w}, WatchRecord: w.watchRecord, PullRequests: w.Look,
		Hint: func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-w.hint:
				return nil
			}
		},
		Tell: func(_ context.Context, t task.Task, text string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, t.ID+": "+text)
		},
		Heartbeat: func() {
			select {
			case w.heard <- struct{}{}:
			default: // it was heard and not looked at since
			}
		},
		Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler), Stall: 10 * time.Minute,
	}, w
}

// busy is a live task that is being worked on, with its agent's seat and window.
func (w *world) busy(id string, status task.Status, role string, number int) {
	w.tasks = append(w.tasks, task.Task{ID: id, Project: "garden", Status: status, Workspace: "garden--1",
		Session: "s", Live: true, EnteredAt: noon.Add(-time.Hour)})
	w.seats = append(w.seats, record.Seat{Hash: "seat of " + id, Task: id, Role: role, Hook: int64(number),
		PID: 1000 + number})
	w.panes = append(w.panes, tmux.Pane{WindowID: fmt.Sprintf("@%d", number), Task: id, Role: role,
		Hook: strconv.Itoa(number), Activity: noon.Add(-time.Minute)})
	w.ends[1000+number] = make(chan struct{})
	w.alive[1000+number] = true
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantDid compares what was done with what should have been, the usual rounds of every look apart.
func wantDid(t *testing.T, w *world, want ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var got []string
	for _, line := range w.did {
		if line != "resume" && line != "finish" && !slices.ContainsFunc(w.tasks, func(t task.Task) bool {
			return line == "sync "+t.ID
		}) {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("it did\n  %q\nwant\n  %q", got, want)
	}
	w.did = nil
}

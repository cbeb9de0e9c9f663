// Package hook performs hooks, one file a hook. Each looks first and does only what is not done yet,
// so that a hook may be performed again after a crash.
//
// It owns what a hook does to sessions, workspaces and branches. It does not own when a hook is performed, nor in
// which order: engine does. It never changes a task: what it did is handed back as a record.Effect.
package hook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/conflict"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/work/forge"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// Sessions is the terminal that agents run in.
type Sessions interface {
	// PanesOf lists the panes of one task.
	PanesOf(ctx context.Context, task string) ([]tmux.Pane, error)
	Start(ctx context.Context, start tmux.Start) (tmux.Pane, error)
	KillWindow(ctx context.Context, id string) error
	KillSession(ctx context.Context, id string) error
	Type(ctx context.Context, pane, text string, typing tmux.Typing) error
}

// Processes runs programs, ends what agents started, and distinguishes the living from the dead.
type Processes interface {
	Lookup(pid int) (task.Process, error)
	Alive(p task.Process) (bool, error)
	EndGroup(ctx context.Context, leader int) error
	// EndMarked ends the processes that were started with every one of these KEY=value pairs.
	EndMarked(ctx context.Context, pairs ...string) error
	FindProgram(name, path string) (string, error)
	// RunLimited runs a program to its end. A status other than 0 is no error, and neither is a broken limit.
	RunLimited(ctx context.Context, c proc.Command, l proc.Limits) (proc.LimitedResult, error)
}

// Work is the worktrees of tasks, their branches and pull requests.
type Work interface {
	// Prepare, and Release below, answer what would have been lost and was kept, what was set aside, and what was
	// taken back of the worktree's own git configuration.
	Prepare(ctx context.Context, t task.Task) (worktree.Cleared, error)
	// MissingOf says what is not there any more of the task's worktree, or of its branch; empty where both are there.
	// left reports that agents which lived in the worktree have no folder any more.
	MissingOf(ctx context.Context, t task.Task) (what string, left bool, err error)
	View(ctx context.Context, t task.Task) (worktree.View, error)
	Equip(ctx context.Context, t task.Task, files []harness.File, exclude []string) error
	Release(ctx context.Context, t task.Task) (worktree.Cleared, error)
	// DeleteRemoteBranch deletes what is merged. landed is the commit that a pull request was merged from; empty
	// where none was.
	DeleteRemoteBranch(ctx context.Context, t task.Task, landed string) (git.Deleted, error)
	// Push brings the task's branch to origin, or the named one of its commits, and answers what origin has now; empty
	// where there is no origin. moved reports whether origin had another one.
	Push(ctx context.Context, t task.Task, wanted string) (commit string, moved bool, err error)
	// Find lists the pull requests of a branch, whatever their state, the newest first.
	Find(ctx context.Context, p task.Project, branch string) ([]record.PullRequest, error)
	Create(ctx context.Context, p task.Project, d forge.Draft) (record.PullRequest, error)
}

// Setup is what the person has set up.
type Setup interface {
	Harness(name string) (*harness.Harness, error)
	// TaskDir is a task's folder.
	TaskDir(t task.Task) string
	// Document is the task's document as it is now.
	Document(t task.Task) ([]byte, error)
	// Environment is what the task's programs and agents run in; from then on it is kept for the task while that
	// has a workspace.
	Environment(ctx context.Context, t task.Task) ([]string, error)
}

// Record tells who waits for a task, and what is on record of the limits at which agents have ended.
type Record interface {
	Waiters(ctx context.Context, id, role string) ([]task.Process, error)
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
}

// Executor performs hooks. Every field but Conflicts and Need is required.
type Executor struct {
	Sessions  Sessions
	Processes Processes
	Work      Work
	Setup     Setup
	Record    Record
	// StartNext starts the task that has waited longest for a workspace of the project.
	StartNext func(ctx context.Context, project string) (string, error)
	Now       func() time.Time
	System    string // the operating system, as runtime.GOOS has it
	Home      string // $ORANGE_HOME
	Self      string // the running program, which agents find as "orange" on their PATH
	// Conflicts is what was found last of the conflicts of a project's live tasks; nil if no one knows.
	Conflicts func(ctx context.Context, project string) (conflict.Overview, error)
	// Need is why a person should look after a task now, in words; with an error it has what is known. It is nil if no
	// one knows.
	Need func(ctx context.Context, t task.Task) (record.Need, error)
}

// Perform performs one hook. A hook that works in a worktree which others have removed, or on a branch, has both made
// again first.
func (h *Executor) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	before, err := h.makeAgain(ctx, job)
	if err != nil {
		return before, err
	}
	effect, err := h.perform(ctx, job)
	effect.Events = append(before.Events, effect.Events...)
	effect.EndSeats = append(before.EndSeats, effect.EndSeats...)
	effect.Session = cmp.Or(effect.Session, before.Session)
	for _, e := range before.Events {
		if err != nil && e.Reason != "" { // the record has no events of a hook that failed
			err = fmt.Errorf("%w; before that: %s", err, e.Reason)
		}
	}
	return effect, err
}

func (h *Executor) perform(ctx context.Context, job record.Job) (record.Effect, error) {
	switch job.Hook.Action {
	case action.AcquireWorkspace:
		return h.acquireWorkspace(ctx, job)
	case action.ReleaseWorkspace:
		return h.releaseWorkspace(ctx, job)
	case action.SpawnAgent, action.SpawnReviewer:
		return h.spawnAgent(ctx, job)
	case action.SetAside:
		return h.setAside(ctx, job)
	case action.KillSession:
		return h.killSession(ctx, job)
	case action.KillReviewer:
		return h.killAgent(ctx, job, task.RoleReviewer)
	case action.KillAgent:
		return h.killAgent(ctx, job, job.Hook.Role)
	case action.NotifyWorker:
		return h.notifyWorker(ctx, job)
	case action.SpawnNext:
		return h.spawnNext(ctx, job)
	case action.DeleteRemoteBranch:
		return h.deleteRemoteBranch(ctx, job)
	case action.PushBranch:
		return h.pushBranch(ctx, job)
	case action.CreatePR:
		return h.createPR(ctx, job)
	case action.UpdatePR:
		return h.updatePR(ctx, job)
	case action.Notify:
		return h.notify(ctx, job)
	case action.RunCommand:
		return h.runCommand(ctx, job)
	}
	// A newer program may have queued what this one does not know: that is a failure, never a skip in silence.
	return record.Effect{}, fmt.Errorf("cannot perform the hook %q: this orange does not know it; use the one "+
		"that queued it", job.Hook.Action)
}

// panesOf lists the panes of the job's task.
func (h *Executor) panesOf(ctx context.Context, job record.Job) ([]tmux.Pane, error) {
	own, err := h.Sessions.PanesOf(ctx, job.Task.ID)
	if err != nil {
		return nil, fmt.Errorf("look at the sessions: %w", err)
	}
	return own, nil
}

// end ends one window with everything that its program started in its process group. The effect then ends the seat of
// the agent that has ended by it, also where the rest fails: else its end would be taken for a death. An agent that
// outlives the attempt keeps its seat, by which the monitor watches it.
func (h *Executor) end(ctx context.Context, p tmux.Pane, effect *record.Effect) error {
	err := h.closeWindow(ctx, p)
	gone := err == nil
	if err != nil && !p.Dead { // else its number may be another process's by now
		lives, unknown := h.Processes.Alive(task.Process{PID: p.PID})
		gone = unknown == nil && !lives
	}
	if gone && !slices.Contains(effect.EndSeats, p.Role) {
		effect.EndSeats = append(effect.EndSeats, p.Role)
	}
	return err
}

func (h *Executor) closeWindow(ctx context.Context, p tmux.Pane) error {
	if err := h.Sessions.KillWindow(ctx, p.WindowID); err != nil {
		return fmt.Errorf("end window %q: %w", p.WindowID, err)
	}
	if p.Dead {
		return nil // its number may be another process's by now
	}
	if err := h.Processes.EndGroup(ctx, p.PID); err != nil {
		return fmt.Errorf("end the programs of window %q: %w", p.WindowID, err)
	}
	return nil
}

// marks are the variables that tell a task's agents, and all that they started, from every other process.
func (h *Executor) marks(t task.Task, role string) []string {
	out := []string{"ORANGE_HOME=" + h.Home, "ORANGE_TASK_ID=" + t.ID}
	if role != "" {
		out = append(out, "ORANGE_ROLE="+role)
	}
	return out
}

// clearedEvents are the events about what was found in a workspace.
func clearedEvents(c worktree.Cleared) []history.Event {
	var events []history.Event
	add := func(data map[string]string) {
		events = append(events, history.Event{Type: history.WorkRescued, Data: data})
	}
	for _, one := range c.Rescued {
		data := map[string]string{"ref": one.Ref}
		if len(one.Files) > 0 {
			data["files"] = printable.Names(one.Files, mostNamed)
		}
		add(data)
	}
	for _, one := range c.Aside {
		add(map[string]string{"aside": one.String()})
	}
	for _, what := range c.TakenBack {
		add(map[string]string{"taken_back": what + ", which was changed in the worktree's own git configuration"})
	}
	for _, note := range c.Notes {
		events = append(events, history.Event{Type: history.StartNoted, Reason: note})
	}
	return events
}

// mostNamed is how many files a message names.
const mostNamed = 10

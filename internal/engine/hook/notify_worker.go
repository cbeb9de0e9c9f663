package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/tmux"
)

// notifyWorker tells the worker that it is its turn: through the command with which it waits, or by typing, or,
// where no worker lives, by starting one with the respawn prompt.
func (h *Executor) notifyWorker(ctx context.Context, job record.Job) (record.Effect, error) {
	view, err := h.Work.View(ctx, job.Task)
	if err != nil {
		return record.Effect{}, err
	}
	template := job.Prompt
	if template == "" {
		template = "The task is now {status}. Read {task_file} and go on."
	}
	text := strings.TrimSpace(workflow.Expand(template, h.variables(job, view)))
	notice := &record.Notice{Seq: job.Hook.Event, Role: task.RoleWorker, Text: text}
	waits, err := h.waits(ctx, job.Task.ID, task.RoleWorker)
	if err != nil {
		return record.Effect{}, err
	}
	told := record.Effect{NewNotice: notice, Events: []history.Event{notifiedEvent(history.HowWait)},
		Said: "the worker waits and gets the notice"}
	if waits && job.Hook.Attempts == 0 {
		return told, nil
	}
	own, err := h.panesOf(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	mine := strconv.FormatInt(job.Hook.ID, 10)
	// by an attempt that was cut short
	begun := slices.ContainsFunc(own, func(p tmux.Pane) bool { return p.Hook == mine })
	if waits && !begun {
		return told, nil
	}
	if p, found := sitting(own); found && !begun {
		if err := h.typeInto(ctx, job, p, text); err != nil {
			return record.Effect{}, err
		}
		return record.Effect{NewNotice: notice, Events: []history.Event{notifiedEvent(history.HowTyped)},
			Said: "told the worker"}, nil
	}
	if job.Respawn == "" && !begun {
		return record.Effect{NewNotice: notice, Said: "no worker to tell"}, nil
	}
	job.Prompt = job.Respawn
	job.Hook.Harness = task.HarnessTask
	if job.Hook.Permissions == "" {
		job.Hook.Permissions = task.PermissionsFull
	}
	effect, err := h.spawnAgent(ctx, job)
	effect.NewNotice = notice
	return effect, err
}

// sitting is the window of the living worker; where there is none, that of another role's agent which has the
// worker's part.
func sitting(own []tmux.Pane) (tmux.Pane, bool) {
	var found tmux.Pane
	for _, p := range own {
		switch {
		case p.Role == "" || p.Role == task.RoleReviewer || p.Dead: // a window without a role is a person's own
		case p.Role == task.RoleWorker:
			return p, true
		case found.ID == "":
			found = p
		}
	}
	return found, found.ID != ""
}

func notifiedEvent(how string) history.Event {
	return history.Event{Type: history.AgentNotified,
		Data: map[string]string{"role": task.RoleWorker, history.DataHow: how}}
}

// waits reports whether a living command waits for a task on behalf of a role.
func (h *Executor) waits(ctx context.Context, id, role string) (bool, error) {
	waiters, err := h.Record.Waiters(ctx, id, role)
	if err != nil {
		return false, err
	}
	for _, w := range waiters {
		alive, err := h.Processes.Alive(w)
		if err != nil {
			return false, fmt.Errorf("check whether the %s waits: %w", role, err)
		}
		if alive {
			return true, nil
		}
	}
	return false, nil
}

const (
	typingPatience = 30 * time.Second // how long a notice waits for a safe moment
	typingQuiet    = 10 * time.Second // how long an attached person's keys must rest
)

func (h *Executor) typeInto(ctx context.Context, job record.Job, p tmux.Pane, text string) error {
	typing, err := h.typing(job.Harness())
	if err != nil {
		return err
	}
	if err := h.Sessions.Type(ctx, p.ID, text, typing); err != nil {
		return fmt.Errorf("tell the worker: %w%s", err, wayOut(err, job, p))
	}
	return nil
}

// wayOut is what a person can do where a text could not be typed. What a program shows while it waits differs between
// its versions, and only a person can see that a file describes another one.
func wayOut(err error, job record.Job, p tmux.Pane) string {
	unsafe, is := errors.AsType[*tmux.NotSafe](err)
	if !is {
		return ""
	}
	out := "; look at its window: orange task attach " + job.Task.ID + " --role " + p.Role
	if unsafe.Reason == tmux.NotReady {
		out += fmt.Sprintf("; if it does wait there, %q in the file of the harness %q does not fit its version",
			"ready", job.Harness())
	}
	return out
}

// typing is how a text is typed for the agents of a harness.
func (h *Executor) typing(name string) (tmux.Typing, error) {
	agent, err := h.Setup.Harness(name)
	if err != nil {
		return tmux.Typing{}, err
	}
	return tmux.Typing{Ready: agent.Ready, Dialog: agent.Dialog, Pause: agent.Pause, Patience: typingPatience,
		Quiet: typingQuiet}, nil
}

package hook

import (
	"context"
	"fmt"

	"orange/internal/task"
)

// killSession ends the task's whole session: every agent of it, and what they left running.
func (h *Hands) killSession(ctx context.Context, job task.Job) (task.Effect, error) {
	own, err := h.own(ctx, job)
	if err != nil {
		return task.Effect{}, err
	}
	ended := map[string]bool{}
	for _, p := range own {
		if !ended[p.SessionID] {
			ended[p.SessionID] = true
			if err := h.Sessions.KillSession(ctx, p.SessionID); err != nil {
				return task.Effect{}, fmt.Errorf("end session %q: %w", p.Session, err)
			}
		}
	}
	effect := task.Effect{EndSeats: []string{task.EveryRole}, Said: "no session to end"}
	for _, p := range own {
		if !p.Dead {
			if err := h.Processes.EndGroup(ctx, p.PID); err != nil {
				return task.Effect{}, fmt.Errorf("end the programs of session %q: %w", p.Session, err)
			}
		}
	}
	if err := h.Processes.EndStrays(ctx, h.marks(job.Task, "")...); err != nil {
		return task.Effect{}, fmt.Errorf("end what the agents left running: %w", err)
	}
	if len(own) > 0 {
		effect.Events = []task.Event{stopped("all", own[0])}
		effect.Said = "ended session " + own[0].Session
	}
	none := ""
	effect.Session = &none
	return effect, nil
}

// killReviewer ends the reviewer's window. The worker lives on.
func (h *Hands) killReviewer(ctx context.Context, job task.Job) (task.Effect, error) {
	own, err := h.own(ctx, job)
	if err != nil {
		return task.Effect{}, err
	}
	effect := task.Effect{EndSeats: []string{task.RoleReviewer}, Said: "no reviewer to end"}
	for _, p := range own {
		if p.Role != task.RoleReviewer {
			continue
		}
		if err := h.end(ctx, p); err != nil {
			return task.Effect{}, err
		}
		effect.Events = append(effect.Events, stopped(task.RoleReviewer, p))
		effect.Said = "ended the reviewer"
	}
	if err := h.Processes.EndStrays(ctx, h.marks(job.Task, task.RoleReviewer)...); err != nil {
		return task.Effect{}, fmt.Errorf("end what the reviewer left running: %w", err)
	}
	return effect, nil
}

func stopped(role string, p Pane) task.Event {
	return task.Event{Type: task.AgentStopped, Data: map[string]string{"role": role, "session": p.Session}}
}

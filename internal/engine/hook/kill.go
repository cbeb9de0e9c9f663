package hook

import (
	"context"
	"fmt"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/run/tmux"
)

// killSession ends the task's whole session: every agent of it, and what they left running.
func (h *Executor) killSession(ctx context.Context, job record.Job) (record.Effect, error) {
	own, err := h.panesOf(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	ended := map[string]bool{}
	for _, p := range own {
		if !ended[p.SessionID] {
			ended[p.SessionID] = true
			if err := h.Sessions.KillSession(ctx, p.SessionID); err != nil {
				return record.Effect{}, fmt.Errorf("end session %q: %w", p.Session, err)
			}
		}
	}
	effect := record.Effect{EndSeats: []string{record.EveryRole}, Said: "no session to end"}
	for _, p := range own {
		if !p.Dead {
			if err := h.Processes.EndGroup(ctx, p.PID); err != nil {
				return record.Effect{}, fmt.Errorf("end the programs of session %q: %w", p.Session, err)
			}
		}
	}
	if err := h.Processes.EndMarked(ctx, h.marks(job.Task, "")...); err != nil {
		return record.Effect{}, fmt.Errorf("end what the agents left running: %w", err)
	}
	if len(own) > 0 {
		effect.Events = []history.Event{stoppedEvent("all", own[0])}
		effect.Said = "ended session " + own[0].Session
	}
	none := ""
	effect.Session = &none
	return effect, nil
}

// killAgent ends the windows of one role. Every other agent of the task lives on.
func (h *Executor) killAgent(ctx context.Context, job record.Job, role string) (record.Effect, error) {
	if role == "" { // a window without a role is a person's own
		return record.Effect{}, fmt.Errorf("cannot end an agent: the hook %s does not say whose; name its role "+
			"in the workflow", job.Hook.Action)
	}
	own, err := h.panesOf(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	effect := record.Effect{EndSeats: []string{role}, Said: fmt.Sprintf("no %s to end", role)}
	for _, p := range own {
		if p.Role != role {
			continue
		}
		if err := h.end(ctx, p, &effect); err != nil {
			return record.Effect{}, err
		}
		effect.Events = append(effect.Events, stoppedEvent(role, p))
		effect.Said = "ended the " + role
	}
	if err := h.Processes.EndMarked(ctx, h.marks(job.Task, role)...); err != nil {
		return record.Effect{}, fmt.Errorf("end what the %s left running: %w", role, err)
	}
	return effect, nil
}

func stoppedEvent(role string, p tmux.Pane) history.Event {
	return history.Event{Type: history.AgentStopped, Data: map[string]string{"role": role, "session": p.Session}}
}

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func taskRespawn(p *Program) *cobra.Command {
	var all bool
	var key requestKey
	one := p.onKeyed(nil, &key, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
		out, err := h.Commands.Respawn(ctx, id, actor)
		if err != nil {
			return err
		}
		return p.tellDone(out, respawnWords(out.Event)+id, actor)
	})
	every := p.runForPerson("start the agents of all tasks again",
		func(ctx context.Context, h *Services, _ []string) error { return respawnAll(ctx, &p.finder, h) })
	c := &cobra.Command{
		Use: "respawn [ID]", Short: "Start the agent of the present status again, when it has died",
		Long: `Start the agent of the present status again, when it has died. Where its program can, it goes on
with the conversation of the dead one. A task that has no workspace any more gets one first; if none
is free, it waits for one in its status.

With --all every dead agent is started again, as after a reboot: those of every project, or of the
one that --project names. Tasks that wait for a person are left alone.`,
		Args: between(0, 1), Example: "  orange task respawn 4Fz\n  orange task respawn --all",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usage("found %q and --all: name one of them", args[0])
			case all && key.given():
				return usage("found --key and --all: a key is of one task")
			case all:
				return every(c, args)
			}
			return one(c, args)
		},
	}
	key.flag(c)
	c.Flags().BoolVar(&all, "all", false, "every dead agent of every project")
	return c
}

// respawned is what became of one task when all agents were to be started again.
type respawned struct {
	Task string `json:"task"`
	Role string `json:"role,omitempty"`
	Why  string `json:"why,omitempty"` // why it was not started again
}

// respawnAll starts every dead agent again. One that cannot be started keeps no other from it.
func respawnAll(ctx context.Context, p *finder, h *Services) error {
	tasks, err := h.Queries.Tasks(ctx, record.Filter{Project: p.project, Live: true})
	if err != nil {
		return err
	}
	sessions, blind := h.Queries.Sessions(ctx, tasks)
	var started, left, failed []respawned
	for _, t := range tasks {
		switch sessions[t.ID] {
		case record.AgentDead:
		case record.AgentUnknown:
			why := "its agent could not be looked at"
			if blind != nil {
				why += ": " + blind.Error()
			}
			failed = append(failed, respawned{Task: t.ID, Why: why})
			continue
		default:
			continue
		}
		out, err := respawnOne(ctx, h, t.ID)
		switch _, refused := errors.AsType[*rejection.Rejection](err); {
		case refused:
			left = append(left, respawned{Task: t.ID, Why: err.Error()})
		case err != nil:
			failed = append(failed, respawned{Task: t.ID, Why: err.Error()})
		default:
			started = append(started, respawned{Task: t.ID, Role: out.Event.Data["role"]})
		}
	}
	return sayRespawned(&p.printer, started, left, failed)
}

func respawnOne(ctx context.Context, h *Services, id string) (record.Outcome, error) {
	actor, err := h.Identity.Actor(ctx, id, "")
	if err != nil {
		return record.Outcome{}, err
	}
	out, err := h.Commands.Respawn(ctx, id, actor)
	if err != nil {
		return out, err
	}
	if failed := failedHooks(out); len(failed) > 0 {
		return out, errors.New(failed[0])
	}
	return out, nil
}

func sayRespawned(p *printer, started, left, failed []respawned) error {
	if p.json {
		if err := p.printJSON(map[string]any{"respawned": orEmpty(started), "left": orEmpty(left),
			"failed": orEmpty(failed)}); err != nil {
			return err
		}
	} else {
		for _, one := range started {
			p.say("respawned the %s of %s", one.Role, one.Task)
		}
		switch {
		case len(started)+len(failed) > 0:
		case len(left) > 0:
			p.say("no agent that has died is the one to act next; these tasks wait for a person:")
			for _, one := range left {
				p.say("  %s", one.Task)
			}
		default:
			p.say("no agent of a live task is dead")
		}
		for _, one := range failed {
			p.warn("%s: %s", one.Task, one.Why)
		}
	}
	if len(failed) > 0 {
		return &ended{exitFailed}
	}
	return nil
}

// respawnWords begin the sentence about what a respawn did to a task.
func respawnWords(e history.Event) string {
	if role := e.Data["role"]; role != "" {
		return "respawned the " + role + " of "
	}
	return "got a workspace again: "
}

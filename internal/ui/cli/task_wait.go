package cli

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// waitDefault stays below the time limits that agent programs put on the commands they run.
const waitDefault = 100 * time.Second

func taskWait(p *Program) *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use: "wait [ID]", Short: "Wait until it is your turn", Args: between(0, 1),
		Long: `Wait until it is your turn. A worker waits until its review is over. A person waits until the agents
need one: also if an agent is at a dialog, rests at its prompt, is at a limit, or has died.
Ends after --timeout with "not yet: run it again", so that it fits into any time limit: with exit
status 0 for an agent, and 5 for a person, whose next command would come too early.`,
		Example: "  orange task wait\n  orange task wait 4Fz --timeout 10m && orange task diff 4Fz",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			actor, err := h.Identity.Looker(ctx, id)
			if err != nil {
				return err
			}
			waited, err := h.Commands.Wait(ctx, id, actor, timeout)
			if err != nil {
				return err
			}
			person := actor.Role == task.RoleHuman
			if person && !waited.Blocked && waited.Need.Kind == "" {
				_, needs, err := h.Queries.Needs(ctx, []task.Task{waited.Task})
				if err != nil {
					p.warn("the task's agents cannot be looked at: %v", err)
				}
				waited.Need = needs[waited.Task.ID]
			}
			if err := sayWaited(&p.printer, waited); err != nil || !person || !waited.Blocked {
				return err
			}
			return &ended{exitNotYet}
		}),
	}
	c.Flags().DurationVar(&timeout, "timeout", waitDefault, "how long at most")
	return c
}

func sayWaited(p *printer, w record.Waited) error {
	if p.json {
		return p.printJSON(map[string]any{
			"task": view(w.Task, "").waiting(w.Before), "ready": !w.Blocked, "about": w.About, "notice": w.Notice,
			"may_ask": orEmpty(w.MayAsk), "said": orEmpty(w.Said),
			"needs_you": w.Need,
		})
	}
	for _, said := range w.Said {
		p.say("%s says: %s", said.By, said.Text)
	}
	if w.Blocked {
		p.say("not yet: the task is %s. %s\nrun it again: orange task wait %s", w.Task.Status, w.About, w.Task.ID)
		return nil
	}
	p.say("status: %s. %s", w.Task.Status, w.About)
	if len(w.Before) > 0 {
		p.say("it starts by itself once these are done and the default branch has their commits:")
	}
	for _, b := range w.Before {
		p.say("  task %s: %s", b.ID, cmp.Or(b.Found, "it is "+strconv.Quote(string(b.Status))))
	}
	if w.Need.Kind != "" {
		p.need(w.Need)
	}
	if !w.Task.StalledAt.IsZero() {
		p.say("its agent lives and has done nothing since %s", p.clock(w.Task.StalledAt, time.DateTime))
	}
	if w.Notice != "" {
		p.say("%s", w.Notice)
	}
	if w.Task.Attention != "" && w.Need.Kind == "" {
		p.say("attention: %s", w.Task.Attention)
	}
	if len(w.MayAsk) > 0 {
		p.say("you may ask for: %s", strings.Join(w.MayAsk, ", "))
	}
	return nil
}

package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/record"
)

// waitDefault stays below the time limits that agent programs put on the commands they run.
const waitDefault = 100 * time.Second

func (p *Program) taskWait() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use: "wait [ID]", Short: "Wait until it is your turn", Args: between(0, 1),
		Long: `Wait until it is your turn. A worker waits until its review is over. A person waits until the agents
need one: also if an agent is at a dialog, rests at its prompt, is at a limit, or has died.
Ends after --timeout with "not yet: run it again" and exit status 0, so that it fits into any time
limit.`,
		Example: "  orange task wait\n  orange task wait 4Fz --timeout 10m",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			actor, err := h.Identity.Looker(ctx, id)
			if err != nil {
				return err
			}
			waited, err := h.Commands.Wait(ctx, id, actor, timeout)
			if err != nil {
				return err
			}
			return p.waited(waited)
		}),
	}
	c.Flags().DurationVar(&timeout, "timeout", waitDefault, "how long at most")
	return c
}

func (p *Program) waited(w record.Waited) error {
	if p.json {
		return p.printJSON(map[string]any{
			"task": view(w.Task, ""), "ready": !w.Blocked, "about": w.About, "notice": w.Notice,
			"open": orEmpty(w.Open), "said": orEmpty(w.Said),
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
	if w.Need.Kind != "" {
		p.say("needs you: %v", w.Need)
	}
	if !w.Task.StalledAt.IsZero() {
		p.say("its agent lives and has done nothing since %s", p.clock(w.Task.StalledAt, time.DateTime))
	}
	if w.Notice != "" {
		p.say("%s", w.Notice)
	}
	if w.Task.Attention != "" {
		p.say("attention: %s", w.Task.Attention)
	}
	if len(w.Open) > 0 {
		p.say("moves open to you: %s", strings.Join(w.Open, ", "))
	}
	return nil
}

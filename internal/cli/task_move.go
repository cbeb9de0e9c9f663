package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/task"
	"orange/internal/workflow"
)

// move makes a command that asks for the move which a word stands for in the task's workflow.
func (p *Program) move(use, short, example, command string) *cobra.Command {
	var ask asker
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: between(0, 1),
		RunE: p.onTask(&ask.as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			return p.command(ctx, h, id, command, actor, ask.reason)
		}),
	}
	ask.flags(c)
	return c
}

// command asks for the move which a word stands for in the task's workflow.
func (p *Program) command(ctx context.Context, h *Services, id, command string, actor task.Actor, reason string) error {
	out, err := h.Commands.Command(ctx, id, command, actor, reason)
	if err != nil {
		return err
	}
	return p.performed(out, "", actor)
}

func (p *Program) taskCancel() *cobra.Command {
	var ask asker
	var yes bool
	c := &cobra.Command{
		Use: "cancel [ID]", Short: "Cancel a task; its branch and all work on it stay", Args: between(0, 1),
		Long: "Cancel a task; its branch and all work on it stay.\n" +
			"A person is asked first; where no one can be asked, it takes --yes.",
		Example: "  orange task cancel 4Fz --yes",
		RunE: p.onTask(&ask.as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if err := p.sureOf(id, actor, yes, "Cancel", " Its agents are ended; its work is kept.",
				"not cancelled"); err != nil {
				return err
			}
			return p.command(ctx, h, id, workflow.MoveCancel, actor, ask.reason)
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	ask.flags(c)
	return c
}

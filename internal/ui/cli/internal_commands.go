package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func settleCommand(p *Program) *cobra.Command {
	var person bool
	c := &cobra.Command{
		Use: "settle ID", Short: "Perform the pending hooks of a task", Args: between(1, 1), Hidden: true,
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			return h.Commands.Settle(ctx, args[0], person)
		}),
	}
	c.Flags().BoolVar(&person, "person", false, "a person asked: what needs their keys has this process's environment")
	return c
}

// checkCommand is what a request starts and does not wait for.
func checkCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "check ID NAME", Short: "Run a check for a request", Args: between(2, 2), Hidden: true,
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			_, err := h.Commands.RunCheck(ctx, args[0], args[1], false)
			return err
		}),
	}
}

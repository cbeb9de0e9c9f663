package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func taskAttach(p *Program) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use: "attach [ID]", Short: "Open an agent's window, to read or to type", Args: between(0, 1),
		Long: `Open an agent's window, to read or to type. F12 returns to where you were; F11 shows the next
window. Inside a tmux of your own, the keys of the two do not conflict: the inner one has no
prefix key.`,
		Example: "  orange task attach 4Fz\n  orange task attach 4Fz --role reviewer",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			p.lend()
			return p.tellAttach(h.Commands.Attach(ctx, id, role, !p.json))
		}),
	}
	c.Flags().StringVar(&role, "role", "", "whose window: worker or reviewer (default: that of the present status)")
	return c
}

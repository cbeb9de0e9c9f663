package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/task"
)

func (p *Program) taskRespawn() *cobra.Command {
	return &cobra.Command{
		Use: "respawn [ID]", Short: "Start the agent of the present status again, when it has died",
		Args:    between(0, 1),
		Example: "  orange task respawn 4Fz",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			out, err := h.Commands.Respawn(ctx, id, actor)
			if err != nil {
				return err
			}
			return p.outcome(out, "respawned the "+out.Event.Data["role"]+" of "+id)
		}),
	}
}

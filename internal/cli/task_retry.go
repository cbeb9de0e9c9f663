package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/task"
)

func (p *Program) taskRetry() *cobra.Command {
	return &cobra.Command{
		Use: "retry [ID]", Short: "Perform the failed hooks of a task again", Args: between(0, 1),
		Example: "  orange task retry 4Fz",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			out, err := h.Commands.Retry(ctx, id, actor)
			if err != nil {
				return err
			}
			said := "nothing to retry for " + id
			if len(out.Hooks) > 0 {
				said = "retried what " + id + " owed"
			}
			return p.performed(out, said, actor)
		}),
	}
}

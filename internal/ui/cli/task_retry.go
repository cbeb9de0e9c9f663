package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func taskRetry(p *Program) *cobra.Command {
	var drop bool
	var key requestKey
	c := &cobra.Command{
		Use: "retry [ID]", Short: "Perform the failed hooks of a task again", Args: between(0, 1),
		Long: `Perform the failed hooks of a task again. --drop drops them instead, for good: the mark of
the task goes, and its history says who dropped what. Only a person may, and only what nothing
waits for: a push, a pull request, a message. Whatever starts or ends something is tried again.`,
		Example: "  orange task retry 4Fz\n  orange task retry 4Fz --drop",
		RunE: p.onKeyed(nil, &key, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if drop {
				out, err := h.Commands.Drop(ctx, id, actor)
				if err != nil {
					return err
				}
				return p.tellDone(out, "dropped the hooks of "+id+" that failed", actor)
			}
			out, err := h.Commands.Retry(ctx, id, actor)
			if err != nil {
				return err
			}
			said := "nothing to retry for " + id
			if len(out.Hooks) > 0 || out.Event.Type == history.HooksRetried {
				said = "tried again the hooks of " + id + " that failed"
			}
			return p.tellDone(out, said, actor)
		}),
	}
	key.flag(c)
	c.Flags().BoolVar(&drop, "drop", false, "drop them for good")
	return c
}

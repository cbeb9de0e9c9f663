package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

func taskCreatePR(p *Program) *cobra.Command {
	var as string
	var key requestKey
	c := &cobra.Command{
		Use: "create-pr [ID]", Short: "Push a task's branch and open a pull request for it", Args: between(0, 1),
		Long: `Push a task's branch and open a pull request for it, with the program gh, or glab on GitLab. The
status stays. The title is the task's summary; the text is the repository's template, the summary,
the judged commit, and ## Context and ## Handoff of the task's document. Where the branch has a pull
request already, that one gets what is new.`,
		Example: "  orange task create-pr 4Fz",
	}
	c.RunE = p.onKeyed(&as, &key, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
		out, err := h.Commands.RequestPR(ctx, id, actor)
		if err != nil {
			return err
		}
		said := out.Task.PRURL
		for _, hook := range out.Hooks {
			if hook.Action == action.CreatePR && hook.State != task.HookDone {
				said = id + ": there is no pull request yet"
			}
		}
		return p.tellDone(out, said, actor)
	})
	asFlag(c, &as)
	key.flag(c)
	return c
}

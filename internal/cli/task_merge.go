package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/task"
)

func (p *Program) taskMerge() *cobra.Command {
	var m task.Merge
	var as string
	c := &cobra.Command{
		Use: "merge [ID]", Short: "Merge a task's branch into the default branch, and finish the task",
		Args: between(0, 1),
		Long: `Merge a task's branch into the default branch and push it where there is an origin; then the task is
finished. Your own checkout is never switched or reset: where it has the default branch, it is
fast-forwarded if git finds that safe. Where the task has a pull request that is merged, nothing is
merged here and the task is finished; one that is open is merged there, or here with --local.

What is merged is the commit that the decision was about. Where the workflow asks that nothing was
committed since the review, a later commit is refused: have it reviewed too, or merge it all the
same with --override REASON, where the workflow allows that. Your name and the reason are in the
history.`,
		Example: "  orange task merge 4Fz --local\n  orange task merge 4Fz --strategy merge\n  orange task " +
			"merge 4Fz --override \"only a comment was changed since\"",
		PreRunE: func(c *cobra.Command, _ []string) error {
			if m.Strategy != "" && m.Strategy != "ff" && m.Strategy != "merge" {
				return usage("found %q as --strategy, expected ff or merge", m.Strategy)
			}
			if c.Flags().Changed("override") && strings.TrimSpace(m.Override) == "" {
				return usage("found no reason behind --override, expected why you merge in spite of what the " +
					"workflow asks for")
			}
			return nil
		},
		RunE: p.onTask(&as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			out, how, err := h.Commands.Merge(ctx, id, m, actor)
			if err != nil {
				return err
			}
			if !p.json {
				p.say("%s: %s", out.Task.Branch, how)
			}
			return p.performed(out, "", actor)
		}),
	}
	c.Flags().StringVar(&m.Strategy, "strategy", "",
		"ff: only fast-forward; merge: make a merge commit where one is needed (default: whichever is possible)")
	c.Flags().StringVar(&m.Override, "override", "",
		"merge the tip although the workflow's conditions do not hold, for this reason")
	asFlag(c, &as)
	c.Flags().BoolVar(&m.Local, "local", false, "merge on this machine, without looking for a pull request")
	return c
}

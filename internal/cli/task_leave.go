package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/task"
)

func (p *Program) taskLeave() *cobra.Command {
	var reason string
	var yes bool
	c := &cobra.Command{
		Use: "leave [ID]", Short: "Give a task up here, because it goes on at another machine", Args: between(0, 1),
		Long: `Give a task up here, because it goes on at another machine. Orange ends its agents, keeps work that
is on no branch under refs/orange/rescue/, gives the workspace back, moves the folder to
tasks/.left/, where "orange doctor --rebuild" does not look, and forgets the task. It merges,
cancels and removes nothing: the branch stays, and so do the ignored files of the workspace.`,
		Example: "  orange task leave 4Fz --yes --reason \"it goes on at the big machine\"",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if err := p.sureOf(id, actor, yes, "Let go of", " Its agents are ended; its branch and its work are kept.",
				"nothing was done"); err != nil {
				return err
			}
			report, err := h.Queries.Report(ctx, id, actor)
			if err != nil {
				return err
			}
			folder, refs, err := h.Commands.Leave(ctx, id, reason, actor)
			if err != nil {
				return err
			}
			branch := report.Task.Branch
			if p.json {
				return p.printJSON(map[string]any{"left": id, "folder": folder, "branch": branch,
					"refs": orEmpty(refs)})
			}
			p.say("task %s has left this home; its folder is now %s", id, folder)
			p.say("  kept: branch %s", branch)
			for _, ref := range refs {
				p.say("  kept: %s", ref)
			}
			return nil
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the history")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

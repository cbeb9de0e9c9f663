package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
)

func taskDelete(p *Program) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete [ID]", Short: "Delete a task; Orange cancels a live one first", Args: between(0, 1),
		Long: "Delete a task; Orange cancels a live one first.\n" +
			"Its folder goes to the trash. Its branch and rescued work stay in the repository.",
		Example: "  orange task delete 4Fz --yes",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if err := p.sureOf(id, actor, yes, "Delete", " Its branch and rescued work stay.",
				"not deleted"); err != nil {
				return err
			}
			report, err := h.Queries.Report(ctx, id, actor)
			if err != nil {
				return err
			}
			gone, err := h.Commands.Delete(ctx, id, actor)
			if err != nil {
				return err
			}
			t := report.Task
			warning := ""
			if err := h.Snapshots.Forget(ctx, t); err != nil {
				warning = fmt.Sprintf("task %s is deleted, but its snapshots are not: %v", id, err)
				p.warn("%s", warning)
			}
			if p.json {
				return p.printJSON(map[string]any{"deleted": t.ID, "folder": gone.Folder, "branch": t.Branch,
					"stayed_behind": orEmpty(gone.Stayed), "warning": warning})
			}
			p.say("deleted task %s; its folder is now %s", t.ID, gone.Folder)
			p.say("  kept: branch %s if it is there, and all that was rescued: git for-each-ref "+
				"refs/orange/rescue/%s", t.Branch, t.ID)
			p.sayStayed(gone.Stayed)
			return nil
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

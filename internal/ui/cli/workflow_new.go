package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
)

func workflowNew(p *Program) *cobra.Command {
	var from string
	c := &cobra.Command{
		Use: "new NAME", Short: "Copy a workflow to a file of your own", Args: between(1, 1),
		Long: "Copy a workflow to a file of your own, and check it.\n" +
			"Only the name in it changes. Orange never overwrites a file.\n" +
			"If your file has the name of a built-in workflow, it replaces that one.",
		Example: "  orange workflow new mine --from default",
		RunE: p.runForPerson("make a workflow", func(_ context.Context, h *Services, args []string) error {
			made, err := h.Workflows.CopyWorkflow(args[0], from)
			if err != nil {
				return err
			}
			if p.json {
				made.Text = ""
				return p.printJSON(map[string]any{"workflow": made})
			}
			p.say("%s", made.Source)
			if made.Hides {
				p.warn("tasks that are created from now on under %q follow this file, and not the built-in one",
					made.Name)
				return nil
			}
			p.warn("edit it, check it with %q, and then use it:\n  for all new tasks of a project: orange "+
				"project update --workflow %q\n  for one task: orange task create --workflow %q",
				"orange workflow check "+made.Name, made.Name, made.Name)
			return nil
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&from, "from", task.DefaultWorkflow, "the workflow to copy")
	return c
}

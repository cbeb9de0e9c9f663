package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (p *Program) workflowShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print a workflow file", Args: between(1, 1),
		Example:           "  orange workflow show default",
		ValidArgsFunction: p.workflowNames(cobra.ShellCompDirectiveNoFileComp),
		RunE: p.run(func(_ context.Context, h *Services, args []string) error {
			one, err := workflowNamed(h, args[0])
			if err != nil {
				return err
			}
			if one.Text == "" && one.Problem != "" {
				return fmt.Errorf("cannot show the workflow %q: %s", one.Name, one.Problem)
			}
			if p.json {
				return p.printJSON(map[string]any{"workflow": one})
			}
			return p.print(one.Text)
		}),
	}
}

package cli

import (
	"github.com/spf13/cobra"
)

// complete completes the values of a flag. A flag that is not there would be a mistake of this program.
func complete(c *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, values); err != nil {
		c.PreRunE = func(*cobra.Command, []string) error { return err }
	}
}

// workflowNames completes the names of workflows, as the first argument or as a flag's value.
func (p *Program) workflowNames(otherwise cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && c.Flags().Lookup("from") == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		h, err := p.open(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all, err := h.Workflows.Workflows()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := make([]cobra.Completion, len(all))
		for i, one := range all {
			names[i] = one.Name
		}
		return names, otherwise
	}
}

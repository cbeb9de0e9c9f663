package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"orange/internal/task"
)

func (p *Program) workflowPath() *cobra.Command {
	return &cobra.Command{
		Use: "path [NAME]", Short: "Print where your workflow files stand, or the file of one workflow",
		Args: between(0, 1),
		Long: "Print the folder of your own workflow files. With a name, print the file that counts for that name;\n" +
			"a built-in workflow has none, which is said on standard error.",
		Example:           "  orange workflow path\n  $EDITOR \"$(orange workflow path mine)\"",
		ValidArgsFunction: p.workflowNames(cobra.ShellCompDirectiveNoFileComp),
		RunE: p.run(func(_ context.Context, h *Services, args []string) error {
			if len(args) == 0 {
				return p.sayFolder(h.Workflows.WorkflowFolder())
			}
			one, err := workflowNamed(h, args[0])
			if err != nil {
				return err
			}
			builtIn, path := one.Source == BuiltIn, one.Source
			if builtIn {
				path = ""
			}
			if p.json {
				return p.printJSON(map[string]any{"name": one.Name, "path": path, "built_in": builtIn,
					"hides_built_in": one.Hides})
			}
			if builtIn {
				p.warn("the workflow %q is built in: it has no file\n  make one of your own: orange workflow "+
					"new NAME --from %q", one.Name, one.Name)
				return nil
			}
			p.say("%s", path)
			return nil
		}),
	}
}

func (p *Program) sayFolder(folder string) error {
	_, err := os.Stat(folder)
	if p.json {
		return p.printJSON(map[string]any{"path": folder, "exists": err == nil})
	}
	p.say("%s", folder)
	if os.IsNotExist(err) {
		p.warn("the folder is not there yet: your first file makes it, with: orange workflow new NAME --from %s",
			task.DefaultWorkflow)
	}
	return nil
}

func (p *Program) workflowNew() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use: "new NAME", Short: "Make a workflow of your own from one that is there", Args: between(1, 1),
		Long: "Copy a workflow to a file of your own, and check it. Nothing changes in the text but the name. " +
			"A file that is there is never overwritten.\n" +
			"With the name of a built-in workflow, your file counts instead of it.",
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
	complete(c, "from", p.workflowNames(cobra.ShellCompDirectiveNoFileComp))
	return c
}

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

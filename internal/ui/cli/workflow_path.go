package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
)

func workflowPath(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "path [NAME]", Short: "Print where your workflow files are, or the path of one of them",
		Args: between(0, 1),
		Long: "Print the folder of your own workflow files. With a name, print the file that counts for that name;\n" +
			"a built-in workflow has none, which is said on standard error.",
		Example: "  orange workflow path\n  $EDITOR \"$(orange workflow path mine)\"",
		RunE: p.run(func(_ context.Context, h *Services, args []string) error {
			if len(args) == 0 {
				return sayFolder(&p.printer, h.Workflows.WorkflowFolder())
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

func sayFolder(p *printer, folder string) error {
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

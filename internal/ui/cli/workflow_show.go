package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/rules/guarantee"
)

func workflowShow(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print a workflow file, and what a task has passed when it is over",
		Args:    between(1, 1),
		Example: "  orange workflow show default",
		RunE: p.run(func(_ context.Context, h *Services, args []string) error {
			one, err := workflowNamed(h, args[0])
			if err != nil {
				return err
			}
			if one.Text == "" && one.Problem != "" {
				return fmt.Errorf("cannot show the workflow %q: %s", one.Name, one.Problem)
			}
			rows, err := passedOf(h, one)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(map[string]any{"workflow": one, "passed": orEmpty(rows)})
			}
			if err := p.print(one.Text); err != nil {
				return err
			}
			for _, line := range passedLines(rows) {
				p.talk("%s\n", line) // so that what is printed stays a workflow file
			}
			return nil
		}),
	}
}

// passedOf is what a task has passed at the good ends of a workflow; nothing of one that is broken.
func passedOf(h *Services, one WorkflowFile) ([]guarantee.GoodEnd, error) {
	if one.Problem != "" {
		return nil, nil
	}
	def, err := h.Workflows.Workflow(one.Name)
	if err != nil {
		return nil, err
	}
	return h.Workflows.Passed(def)
}

// passedLines say what a task has passed at its end, with a heading.
func passedLines(rows []guarantee.GoodEnd) []string {
	if len(rows) == 0 {
		return nil
	}
	return append([]string{"what a task has passed when it is over, since its work was last changed:"},
		indented(guarantee.Tell(rows))...)
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = "  " + line
	}
	return out
}

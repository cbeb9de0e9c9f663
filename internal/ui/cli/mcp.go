package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

func mcpCommand(p *Program) *cobra.Command {
	var may []string
	c := &cobra.Command{
		Use: "mcp", Short: "Offer tasks as tools to a program that speaks MCP", Args: between(0, 0),
		Long: `Offer tasks as tools of the Model Context Protocol, on standard input and output. Your agent
program starts it; docs/mcp.md says how to set that up. Each tool runs the command of the same name
and returns what that prints with --json; a refusal is a result too.

An agent that Orange started acts in its role here too. Any other program asks in a person's place,
and the history has it as "NAME via mcp". Verdicts, the end of a task and overrides are the
person's own; --may leaves some of them to the program.`,
		Example: "  claude mcp add orange -- orange mcp\n  orange mcp --may verdict,done",
		RunE: func(*cobra.Command, []string) error {
			for _, word := range may {
				if !slices.Contains(workflow.Permissions(), word) {
					return usage("found %q as --may, %s", word, yaml.Expected(word, workflow.Permissions()))
				}
			}
			return p.MCP(p.Version, may)
		},
	}
	c.Flags().StringSliceVar(&may, "may", nil, "what the program may do in your place: "+
		strings.Join(workflow.Permissions(), ", "))
	return c
}

package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/proof/graph"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
	"orange/workflows"
)

func workflowGraph(p *Program) *cobra.Command {
	var form string
	forms := append(graph.Forms(), "svg")
	c := &cobra.Command{
		Use: "graph NAME|FILE", Short: "Draw a workflow", Args: between(1, 1),
		Long: "Draw a workflow: its states, and what leads from one to another.\n" +
			"Dashed lines are what the workflow does by itself. Mermaid cannot draw dashed lines here;\n" +
			"there the labels say so. svg needs the program dot, which is part of Graphviz.",
		Example: "  orange workflow graph default\n  orange workflow graph my.yml --format svg > " +
			"my.svg\n  orange workflow graph default --format dot | dot -Tpng > default.png",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			if !slices.Contains(forms, form) {
				return usage("found %q as --format, %s", form, yaml.Expected(form, forms))
			}
			def, err := h.Workflows.CheckWorkflow(args[0])
			if err != nil {
				return err
			}
			text, drawn := graph.Draw(def, form)
			if !drawn {
				text, _ = graph.Draw(def, graph.FormDOT)
				if text, err = svgOf(ctx, text); err != nil {
					return err
				}
			}
			if p.json {
				return p.printJSON(map[string]any{"workflow": def.Name, "version": def.Version, "format": form,
					"graph": text})
			}
			return p.print(text)
		}),
	}
	c.Flags().StringVar(&form, "format", graph.FormMermaid, "mermaid, dot or svg")
	complete(c, "format", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func workflowSchema(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of a workflow file, for editors", Args: between(0, 0),
		Long: "Print the JSON Schema of a workflow file.\n" +
			"With it an editor completes keys and marks mistakes while you type:\n" +
			"put it next to your workflows, and let the first line of each say so:\n\n  # " +
			"yaml-language-server: $schema=schema.json",
		Example: "  orange workflow schema > \"$(orange workflow path)/schema.json\"",
		RunE:    func(*cobra.Command, []string) error { return p.print(string(workflows.Schema)) },
	}
}

// svgOf has Graphviz draw a graph in its language.
func svgOf(ctx context.Context, graph string) (string, error) {
	result, err := proc.Run(ctx, proc.Command{Name: "dot", Args: []string{"-Tsvg"}, Stdin: strings.NewReader(graph)})
	if proc.NotInstalled(err) {
		err = errors.New("cannot draw it as svg: the program dot was not found; install Graphviz (Debian: apt-get " +
			"install graphviz), or print it with --format mermaid")
	}
	return string(result.Stdout), err
}

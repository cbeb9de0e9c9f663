package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
)

func workflowList(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the workflows", Args: between(0, 0), Example: "  orange workflow list",
		RunE: p.run(func(_ context.Context, h *Services, _ []string) error {
			all, err := h.Workflows.Workflows()
			if err != nil {
				return err
			}
			if p.json {
				for i := range all {
					all[i].Text = ""
				}
				return p.printJSON(map[string]any{"workflows": orEmpty(all)})
			}
			rows := [][]string{{"NAME", "VERSION", "STATES", "FROM"}}
			for _, one := range all {
				from := one.Source
				if one.Hides {
					from += " (instead of the built-in one)"
				}
				ref, states := task.WorkflowRef{Version: one.Version, Digest: one.Digest}, strconv.Itoa(one.States)
				version := ref.String()
				if one.Problem != "" {
					version, states = "broken", "-"
				}
				rows = append(rows, []string{one.Name, version, states, from})
			}
			if err := p.table(table{rows: rows, gives: []int{3}, paths: []int{3}}); err != nil {
				return err
			}
			for _, one := range all {
				if one.Problem != "" {
					p.warn("workflow %q is broken: %s\n  all that is wrong with it: orange workflow check %q",
						one.Name, one.Problem, one.Name)
				}
			}
			return nil
		}),
	}
}

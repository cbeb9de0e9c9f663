package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/record"
)

func (p *Program) workspaceCommands() *cobra.Command {
	return group("workspace", "Manage the pool of worktrees", "  orange workspace list",
		p.workspaceInit(), p.workspaceList(), p.workspaceGC())
}

func (p *Program) workspaceInit() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Make a project's worktrees ahead of time", Args: between(0, 0),
		Long: "Make a project's worktrees ahead of time.\n" +
			"They are made on demand otherwise, which in a large repository takes its time.",
		Example: "  orange workspace init --project coffee",
		RunE: p.runForPerson("make worktrees", func(ctx context.Context, h *Services, _ []string) error {
			project, err := p.projectOf(ctx, h)
			if err != nil {
				return err
			}
			tick := time.NewTicker(progressEach)
			defer tick.Stop()
			end := p.progress().during("making worktrees", tick.C)
			all, err := h.Workspaces.InitWorkspaces(ctx, project)
			end()
			if err != nil {
				return err
			}
			return p.holdings(all)
		}),
	}
}

func (p *Program) workspaceList() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List worktrees and who has them", Args: between(0, 0),
		Example: "  orange workspace list --all",
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			name, err := p.projectName(ctx, h, all)
			if err != nil {
				return err
			}
			list, err := h.Workspaces.Workspaces(ctx, name)
			if err != nil {
				return err
			}
			return p.holdings(list)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	return c
}

func (p *Program) holdings(all []record.Holding) error {
	if p.json {
		return p.printJSON(map[string]any{"workspaces": orEmpty(all)})
	}
	rows := [][]string{{"WORKSPACE", "STATE", "TASK", "BRANCH", "PATH"}}
	for _, one := range all {
		state := "free"
		switch {
		case one.Task != "":
			state = "held"
		case !one.Exists:
			state = "not made yet"
		}
		rows = append(rows, []string{one.Workspace, state, one.Task, one.Branch, one.Path})
	}
	return p.table(table{rows: rows, gives: []int{4, 3}, paths: []int{4}})
}

func (p *Program) workspaceGC() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "gc", Short: "Remove worktrees that no task holds", Args: between(0, 0),
		Long: "Remove the worktrees that no task holds.\n" +
			"One that has anything uncommitted in it is left alone and named.",
		Example: "  orange workspace gc",
		RunE: p.runForPerson("remove worktrees", func(ctx context.Context, h *Services, _ []string) error {
			name, err := p.projectName(ctx, h, all)
			if err != nil {
				return err
			}
			removed, err := h.Workspaces.CollectWorkspaces(ctx, name)
			if p.json && err == nil {
				return p.printJSON(map[string]any{"removed": orEmpty(removed)})
			}
			for _, r := range removed {
				p.say("removed %s", r)
			}
			if err == nil && len(removed) == 0 {
				p.say("nothing to remove")
			}
			return err
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	return c
}

package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
)

func workspaceCommands(p *Program) *cobra.Command {
	return p.group("workspace", "Manage the pool of worktrees", "  orange workspace list",
		workspaceInit, workspaceList, workspaceRestore, workspaceDrop, workspaceGC)
}

func workspaceInit(p *Program) *cobra.Command {
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
			all, err := h.Pool.InitWorkspaces(ctx, project)
			end()
			if err != nil {
				return err
			}
			return sayHoldings(&p.printer, all, nil)
		}),
	}
}

func workspaceList(p *Program) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List worktrees, who has them, and what was set aside", Args: between(0, 0),
		Example: "  orange workspace list --all",
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			name, err := p.projectName(ctx, h, all)
			if err != nil {
				return err
			}
			list, err := h.Pool.Workspaces(ctx, name)
			if err != nil {
				return err
			}
			aside, err := h.Pool.Asides("")
			if err != nil {
				return err
			}
			return sayHoldings(&p.printer, list, aside)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	return c
}

// sayHoldings prints the worktrees, and below them what was set aside of some.
func sayHoldings(p *printer, all []record.Holding, aside []record.Aside) error {
	if p.json {
		return p.printJSON(map[string]any{"workspaces": orEmpty(all), "aside": orEmpty(aside)})
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
	if err := p.table(table{rows: rows, gives: []int{4, 3}, paths: []int{4}}); err != nil {
		return err
	}
	for _, one := range all {
		if one.Left != "" {
			p.say("%s has what git ignores: %s", one.Workspace, one.Left)
		}
	}
	for _, one := range aside {
		p.say("set aside of task %s: %s; get it back: orange workspace restore %[1]s %[3]s; or remove it for "+
			"good: orange workspace drop %[1]s %[3]s", one.Task, one.String(), joinWords([]string{one.Path}))
	}
	return nil
}

func workspaceRestore(p *Program) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "restore ID PATH", Short: "Bring back what was set aside of a task's worktree", Args: between(2, 2),
		Long: "Bring back what was set aside of a task's worktree: what no commit can hold, such as\n" +
			"repositories in it. \"orange workspace list\" names it. It goes where it lay in the worktree\n" +
			"that the task has now, or to the place that --to names, where nothing may be.",
		Example: "  orange workspace restore 4xMYcntaRpRHeXIkXX4kP lib --to ~/lib",
		RunE: p.runForPerson("bring back what was set aside", func(ctx context.Context, h *Services,
			args []string) error {
			place := to
			if place != "" {
				whole, err := filepath.Abs(place)
				if err != nil {
					return err
				}
				place = whole
			}
			back, err := h.Pool.RestoreAside(ctx, args[0], args[1], place)
			if err != nil {
				return err
			}
			return sayAside(&p.printer, back, "brought back %s, to %s", back, back.At)
		}),
	}
	c.Flags().StringVar(&to, "to", "", "the place for it")
	return c
}

func workspaceDrop(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "drop ID PATH", Short: "Remove for good what was set aside of a task's worktree", Args: between(2, 2),
		Example: "  orange workspace drop 4xMYcntaRpRHeXIkXX4kP lib",
		RunE: p.runForPerson("drop what was set aside", func(ctx context.Context, h *Services, args []string) error {
			gone, err := h.Pool.DropAside(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return sayAside(&p.printer, gone, "dropped %s", gone.String())
		}),
	}
}

func sayAside(p *printer, one record.Aside, format string, words ...any) error {
	if p.json {
		return p.printJSON(one)
	}
	p.say(format, words...)
	return nil
}

func workspaceGC(p *Program) *cobra.Command {
	var all bool
	var age time.Duration
	c := &cobra.Command{
		Use: "gc", Short: "Remove worktrees that no task holds", Args: between(0, 0),
		Long: "Remove the worktrees that no task holds.\n" +
			"One that has anything uncommitted in it is left alone and named.\n" +
			"With --aside it also removes for good what was set aside longer ago.",
		Example: "  orange workspace gc",
		RunE: p.runForPerson("remove worktrees", func(ctx context.Context, h *Services, _ []string) error {
			name, err := p.projectName(ctx, h, all)
			if err != nil {
				return err
			}
			removed, err := h.Pool.CollectWorkspaces(ctx, name)
			var dropped []record.Aside
			if age > 0 {
				var failed error
				dropped, failed = h.Pool.DropAsides(ctx, age)
				err = errors.Join(err, failed)
			}
			if p.json && err == nil {
				return p.printJSON(map[string]any{"removed": orEmpty(removed), "dropped": orEmpty(dropped)})
			}
			for _, r := range removed {
				p.say("removed %s", r)
			}
			for _, one := range dropped {
				p.say("dropped %s of task %s", one.String(), one.Task)
			}
			if err == nil && len(removed)+len(dropped) == 0 {
				p.say("nothing to remove")
			}
			return err
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	c.Flags().DurationVar(&age, "aside", 0, "also remove what was set aside longer ago, such as 720h")
	return c
}

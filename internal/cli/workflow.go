package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"orange/internal/record"
	"orange/internal/task"
)

// WorkflowFile is a workflow that can be had.
type WorkflowFile struct {
	Name string `json:"name"`
	// Source is its path, or BuiltIn.
	Source  string `json:"source"`
	Hides   bool   `json:"hides_built_in"`
	Version int    `json:"version,omitempty"`
	States  int    `json:"states,omitempty"` // how many
	// Problem is the first thing that is wrong with it; empty when nothing is.
	Problem string `json:"problem,omitempty"`
	Text    string `json:"text,omitempty"`
}

// BuiltIn is the source of a workflow that ships.
const BuiltIn = "built in"

func (p *Program) workflowCommands() *cobra.Command {
	return group("workflow", "Look at and check the rules that tasks move by",
		"  orange workflow list\n  orange workflow new mine --from default\n  orange workflow check mine",
		p.workflowList(), p.workflowShow(), p.workflowPath(), p.workflowNew(), p.workflowCheck(),
		p.workflowSimulate(), p.workflowGraph(), p.workflowSchema(), p.workflowMigrate())
}

func (p *Program) workflowList() *cobra.Command {
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
				version, states := strconv.Itoa(one.Version), strconv.Itoa(one.States)
				if one.Problem != "" {
					version, states = "broken", "-"
				}
				rows = append(rows, []string{one.Name, version, states, from})
			}
			if err := p.columns(rows); err != nil {
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

// workflowNamed finds a workflow that can be had, be it sound or broken.
func workflowNamed(h *Services, name string) (WorkflowFile, error) {
	all, err := h.Workflows.Workflows()
	if err != nil {
		return WorkflowFile{}, err
	}
	for _, one := range all {
		if one.Name == name {
			return one, nil
		}
	}
	return WorkflowFile{}, task.Notef(task.ErrNotFound, "there is no workflow %q; %q lists them", name,
		"orange workflow list")
}

func (p *Program) workspaceCommands() *cobra.Command {
	return group("workspace", "Look after the pool of worktrees", "  orange workspace list",
		p.workspaceInit(), p.workspaceList(), p.workspaceGC())
}

func (p *Program) workspaceInit() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Make a project's worktrees ahead of time", Args: between(0, 0),
		Long: "Make a project's worktrees ahead of time. They are made on demand otherwise, which in a " +
			"large repository takes its time.",
		Example: "  orange workspace init --project coffee",
		RunE: p.runForPerson("make worktrees", func(ctx context.Context, h *Services, _ []string) error {
			project, err := p.projectOf(ctx, h)
			if err != nil {
				return err
			}
			all, err := h.Workspaces.InitWorkspaces(ctx, project)
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

// projectName is the name of the project that a command is about; empty with --all.
func (p *Program) projectName(ctx context.Context, h *Services, all bool) (string, error) {
	if all {
		return "", nil
	}
	project, err := p.projectOf(ctx, h)
	return project.Name, err
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
	return p.columns(rows)
}

func (p *Program) workspaceGC() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "gc", Short: "Remove worktrees that no task holds", Args: between(0, 0),
		Long: "Remove the worktrees that no task holds. One that has anything uncommitted in it is left " +
			"alone and named.",
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

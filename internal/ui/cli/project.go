package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func projectCommands(p *Program) *cobra.Command {
	return p.group("project", "Register the repositories that have tasks", "  orange project add ~/code/coffee",
		projectAdd, projectList, projectUpdate, projectRestore, projectAccept, projectRemove)
}

func projectAdd(p *Program) *cobra.Command {
	var wanted task.Project
	var yes bool
	var wantedIn worktreeFlags
	var merged mergingFlags
	c := &cobra.Command{
		Use: "add [PATH]", Short: "Register a repository", Args: between(0, 1), Long: "Register a repository.\n" +
			worktreesLong + "\n" + mergingLong + "\n\n" + proposalLong,
		Example: "  orange project add\n  orange project add ~/code/coffee --name coffee --pool-size 3\n" +
			"  orange project add --copy .env",
	}
	c.RunE = p.runForPerson("add a project", func(ctx context.Context, h *Services, args []string) error {
		path := "."
		if len(args) > 0 {
			path = args[0]
		}
		if wanted.Workflow != "" {
			if _, err := h.Workflows.Workflow(wanted.Workflow); err != nil {
				return err
			}
		}
		if wanted.PoolSize < 0 || wanted.PoolSize > maxPool {
			return usage("found %d as --pool-size, expected a number from 1 to %d", wanted.PoolSize, maxPool)
		}
		var err error
		if wanted.Worktree, err = wantedIn.of(c, wanted.Worktree); err != nil {
			return err
		}
		if wanted, err = merged.of(c, wanted); err != nil {
			return err
		}
		if err := mayPromise(c, h, wanted); err != nil {
			return err
		}
		added, err := h.Home.AddRepository(ctx, path, wanted)
		if err != nil {
			return err
		}
		guessed := added.Merge != wanted.Merge
		added, proposal := propose(ctx, &p.input, h, added, yes)
		if p.json {
			return p.printJSON(map[string]any{"project": added, "proposal": proposal})
		}
		if err := sayProject(&p.printer, "added", added); err != nil {
			return err
		}
		where, err := h.Pool.Where(ctx, added.Name)
		if err == nil && where == record.ForgeGitLab && added.Forge == "" {
			p.say("%s; if it is elsewhere: orange project update %s --forge none", onGitLab,
				joinWords([]string{added.Name}))
		}
		if guessed {
			p.say("its last commits came by pull requests, and so will its tasks; change that with:\n  orange project "+
				"update %s --merge local --strategy \"\"", joinWords([]string{added.Name}))
		}
		if proposal == "" {
			return nil
		}
		p.say("its worktrees will lack what git does not track; have them made ready with:\n  %s", proposal)
		return nil
	})
	c.Flags().BoolVar(&yes, "yes", false, "apply what Orange proposes for the worktrees, without asking")
	wantedIn.add(c)
	merged.add(c)
	c.Flags().StringVar(&wanted.Name, "name", "", "what to call it (default: the name of its folder)")
	c.Flags().IntVar(&wanted.PoolSize, "pool-size", 0, fmt.Sprintf("how many workspaces at most (default %d)",
		task.DefaultPoolSize))
	c.Flags().StringVar(&wanted.Workflow, "workflow", "", "the workflow of its tasks (default: default)")
	return c
}

// maxPool keeps a slip of the finger from asking for a million worktrees.
const maxPool = 1000

func sayProject(p *printer, what string, project task.Project) error {
	if p.json {
		return p.printJSON(map[string]any{"project": project})
	}
	p.say("%s project %s: %s, default branch %s, up to %d workspaces", what, project.Name, project.Path,
		project.DefaultBranch, project.PoolSize)
	if own := timeoutsOf(project); own != "" {
		p.say("  its own timeouts: %s", own)
	}
	for _, line := range append(worktreeLines(project.Worktree), mergingLines(project)...) {
		p.say("  %s", line)
	}
	return nil
}

func projectList(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the registered repositories", Args: between(0, 0),
		Example: "  orange project list --json",
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			all, err := h.Home.Projects()
			if err != nil {
				return err
			}
			changed := changedSettings(ctx, &p.printer, h, all)
			if p.json {
				return p.printJSON(map[string]any{"projects": orEmpty(all), "shared_settings": changed})
			}
			if len(all) == 0 {
				p.say("no projects; register one with: orange project add PATH")
				return nil
			}
			rows := [][]string{{"NAME", "DEFAULT BRANCH", "WORKSPACES", "WORKFLOW", "PATH"}}
			for _, one := range all {
				rows = append(rows, []string{one.Name, one.DefaultBranch, strconv.Itoa(one.PoolSize),
					cmp.Or(one.Workflow, task.DefaultWorkflow), one.Path})
			}
			if err := p.table(table{rows: rows, gives: []int{4, 1, 3}, paths: []int{4}}); err != nil {
				return err
			}
			sayShared(&p.printer, all, changed)
			return nil
		}),
	}
}

func projectUpdate(p *Program) *cobra.Command {
	var size int
	var live bool
	var workflow, path, branch string
	var timeouts []string
	var wantedIn worktreeFlags
	var merged mergingFlags
	c := &cobra.Command{
		Use: "update [NAME]", Short: "Change a project's pool, workflow, timeouts, worktrees, merges or path",
		Args: between(0, 1),
		Long: "Change a project's pool, workflow, timeouts, worktrees, merges or path.\n" + worktreesLong + "\n" +
			mergingLong + "\n\nA list that is given replaces the one that was; an empty word (--copy \"\") leaves " +
			"none.",
		Example: "  orange project update coffee --pool-size 3 --workflow minimal\n  orange project update " +
			"coffee --timeout working=6h --timeout reviewing=none\n  orange project update coffee --path ~/new/coffee",
	}
	c.RunE = p.runForPerson("change a project", func(ctx context.Context, h *Services, args []string) error {
		if len(args) > 0 {
			p.project = args[0]
		}
		project, err := p.projectOf(ctx, h)
		if err != nil {
			return err
		}
		if c.Flags().Changed("pool-size") {
			if size < 1 || size > maxPool {
				return usage("found %d as --pool-size, expected a number from 1 to %d", size, maxPool)
			}
			project.PoolSize = size
		}
		if c.Flags().Changed("workflow") {
			if _, err := h.Workflows.Workflow(workflow); err != nil {
				return err
			}
			project.Workflow = workflow
		}
		if project, err = withTimeouts(h, project, timeouts); err != nil {
			return err
		}
		if project.Worktree, err = wantedIn.of(c, project.Worktree); err != nil {
			return err
		}
		if project, err = merged.of(c, project); err != nil {
			return err
		}
		if err := mayPromise(c, h, project); err != nil {
			return err
		}
		if c.Flags().Changed("path") {
			if project, err = h.Pool.Relocate(ctx, project, path); err != nil {
				return err
			}
		}
		if c.Flags().Changed("default-branch") {
			if project, err = h.Pool.WithDefaultBranch(ctx, project, branch); err != nil {
				return err
			}
		}
		if err := h.Home.UpdateProject(ctx, project); err != nil {
			return err
		}
		if err := promiseLive(ctx, h, project, live); err != nil {
			return err
		}
		return sayProject(&p.printer, "updated", project)
	})
	wantedIn.add(c)
	merged.add(c)
	c.Flags().BoolVar(&live, "live", false, "hold its live tasks to the promise too: they keep the one that they were "+
		"created with")
	c.Flags().StringVar(&path, "path", "", "where its repository was moved to; the worktrees are joined with it again")
	c.Flags().StringVar(&branch, "default-branch", "", "the present name of the branch that work is merged into")
	c.Flags().IntVar(&size, "pool-size", 0, "how many workspaces at most")
	c.Flags().StringVar(&workflow, "workflow", "", "the workflow of tasks that are made from now on")
	c.Flags().StringArrayVar(&timeouts, "timeout", nil, "STATE=6h: how long tasks should be in it here, "+
		"whatever the workflow says; STATE=none for no timeout, STATE= for the workflow's own")
	return c
}

func projectRemove(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a project that has no live task; its repository stays as it is",
		Args:    between(1, 1),
		Example: "  orange project remove coffee",
		RunE: p.runForPerson("remove a project", func(ctx context.Context, h *Services, args []string) error {
			project, err := h.Home.Project(args[0])
			if err != nil {
				return err
			}
			live, err := h.Queries.Tasks(ctx, record.Filter{Project: project.Name, Live: true})
			if err != nil {
				return err
			}
			if len(live) > 0 {
				return &rejection.Rejection{Code: rejection.InUse, Message: fmt.Sprintf("cannot remove project %q: "+
					"it has %d live tasks, %s among them; finish or cancel them first", project.Name, len(live),
					live[0].ID)}
			}
			if err := h.Home.RemoveProject(ctx, project.Name); err != nil {
				return err
			}
			return sayProject(&p.printer, "removed", project)
		}),
	}
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/harness"
)

func envCommands(p *Program) *cobra.Command {
	c := p.group("env", "Set variables, such as keys, for the agents, checks and hooks of all tasks",
		"  orange env set ANTHROPIC_API_KEY\n  orange env list", envSet, envUnset, envList)
	c.Long = `Set variables, such as keys, for the agents, checks and hooks of all tasks, or with --project for
those of one project's tasks.

An agent has the environment of the person who started its task. After a reboot, in a cron job or
under a monitor that systemd started, there is no person's environment, but what you set here is
there. It takes precedence over the person's environment, and what you set for a project over what
you set for all. A program that is running keeps the environment that it was started with.

The values are in $ORANGE_HOME/env.json, which only you may read. Orange shows names alone.`
	return c
}

func envSet(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "set NAME[=VALUE]...", Short: "Set variables; without =VALUE to the value that your shell has",
		Args: atLeastOne,
		Long: `Set variables for the programs of all tasks, or with --project for those of one project's tasks.

NAME takes the value that the variable has in your shell, NAME=- the text at the standard input,
without the newline at its end. Both keep the value out of your shell's history and out of the list
of processes, where NAME=VALUE shows it. PATH replaces the whole PATH.`,
		Example: "  orange env set ANTHROPIC_API_KEY\n  pass show anthropic | orange env set ANTHROPIC_API_KEY=-\n" +
			"  orange env set --project coffee DATABASE_URL=postgres://localhost/coffee",
		RunE: p.runForPerson("set a variable", func(ctx context.Context, h *Services, args []string) error {
			project, err := projectOfVariables(&p.finder, h)
			if err != nil {
				return err
			}
			if args, err = p.withInput(args); err != nil {
				return err
			}
			if err := h.Variables.Set(ctx, project, args); err != nil {
				return err
			}
			return sayVariables(&p.printer, "set", project, args)
		}),
	}
}

func envUnset(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "unset NAME...", Short: "Forget variables that were set for tasks", Args: atLeastOne,
		Example: "  orange env unset ANTHROPIC_API_KEY\n  orange env unset --project coffee DATABASE_URL",
		RunE: p.runForPerson("forget a variable", func(ctx context.Context, h *Services, args []string) error {
			// also of a project that is registered no more
			if err := h.Variables.Unset(ctx, p.project, args); err != nil {
				return err
			}
			return sayVariables(&p.printer, "forgot", p.project, args)
		}),
	}
}

func envList(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the names of the variables that are set for tasks", Args: between(0, 0),
		Long: `List the names of the variables that are set for tasks; with --project those that the tasks of that
project have. No value is shown.`,
		Example: "  orange env list\n  orange env list --project coffee --json",
		RunE: p.run(func(_ context.Context, h *Services, _ []string) error {
			all, err := h.Variables.List()
			if err != nil {
				return err
			}
			var chosen []harness.Variable
			rows := [][]string{{"NAME", "SET"}}
			for _, one := range all {
				if p.project == "" || one.Project == "" || one.Project == p.project {
					chosen = append(chosen, one)
					rows = append(rows, []string{one.Name, one.For()})
				}
			}
			if p.json {
				return p.printJSON(map[string]any{"variables": orEmpty(chosen)})
			}
			if len(chosen) == 0 {
				p.say("no variables; set one with: orange env set NAME")
				return nil
			}
			return p.table(table{rows: rows})
		}),
	}
}

// projectOfVariables is the project that variables are set for: the one that is named, else every one. The folder
// does not matter, because a key is rarely one project's.
func projectOfVariables(p *finder, h *Services) (string, error) {
	if p.project == "" {
		return "", nil
	}
	project, err := h.Home.Project(p.project)
	return project.Name, err
}

// sayVariables says by their names what became of variables.
func sayVariables(p *printer, done, project string, words []string) error {
	var all []harness.Variable
	for _, word := range words {
		name, _, _ := strings.Cut(word, "=")
		all = append(all, harness.Variable{Name: name, Project: project})
	}
	if p.json {
		return p.printJSON(map[string]any{"variables": all})
	}
	for _, one := range all {
		p.say("%s %s %s", done, one.Name, one.For())
	}
	return nil
}

// atLeastOne asks for an argument. It never repeats them: they may hold a secret.
func atLeastOne(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("found no argument, expected: %s", c.UseLine())
	}
	return nil
}

package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
)

// mostCompleted is how many tasks a shell offers.
const mostCompleted = 200

// offers are words that a shell may offer, each with what it means behind a tab.
type offers func(ctx context.Context, h *Services, args []string, begun string) ([]cobra.Completion, error)

// isCompletion reports whether a shell asks what may follow.
func isCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// complete completes the values of a flag. A flag that is not there would be a mistake of this program.
func complete(c *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, values); err != nil {
		c.PreRunE = func(*cobra.Command, []string) error { return err }
	}
}

// offerCompletions tells every command below a root what may follow. Only a shell that asks for it has that done.
func (p *Program) offerCompletions(root *cobra.Command) {
	if p.OpenToLook != nil {
		p.Open = p.OpenToLook
	}
	known := p.flagOffers()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if c.Name() == cobra.ShellCompRequestCmd || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		if c.ValidArgsFunction == nil && !c.HasSubCommands() {
			c.ValidArgsFunction = p.argOffers(c)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, has := c.GetFlagCompletionFunc(f.Name); has {
				return
			}
			if values, is := known[c.Name()+" --"+f.Name]; is {
				complete(c, f.Name, p.offering(values))
			} else if values, is := known["--"+f.Name]; is {
				complete(c, f.Name, p.offering(values))
			}
		})
	}
	walk(root)
}

// offering makes what cobra calls from what Orange can offer. A failure offers nothing: a shell has no place for it.
func (p *Program) offering(values offers) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		h, err := p.open(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := values(c.Context(), h, args, begun)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// described is a word with what it means.
func described(word, about string) cobra.Completion {
	return cobra.CompletionWithDesc(word, oneLine(about, 70))
}

// fixed are always the same words.
func fixed(words ...string) offers {
	return func(context.Context, *Services, []string, string) ([]cobra.Completion, error) { return words, nil }
}

// nth are the offers for one argument after another; for those after the last there are none.
func nth(each ...offers) offers {
	return func(ctx context.Context, h *Services, args []string, begun string) ([]cobra.Completion, error) {
		if len(args) >= len(each) {
			return nil, nil
		}
		return each[len(args)](ctx, h, args, begun)
	}
}

// argOffers are those for the arguments of a command, by how it is called.
func (p *Program) argOffers(c *cobra.Command) cobra.CompletionFunc {
	over := slices.Contains([]string{"show", "history", "why", "stats", "verify", "replay", "delete", "redo", "diff",
		"logs", "watch", "check", "shell"}, c.Name())
	switch _, words, _ := strings.Cut(c.Use, " "); words {
	case "[ID]", "ID TEXT", "ID [TEXT]":
		return p.offering(nth(p.taskOffers(over)))
	case "ID STATE":
		return p.offering(nth(p.taskOffers(over), redoOffers))
	case "[ID] [NAME]":
		return p.offering(nth(p.taskOffers(over), checkOffers))
	case "[TASK...]":
		return p.offering(p.taskOffers(false))
	case "[NAME]", "NAME":
		named := map[string]offers{"project": projectOffers, "workflow": workflowOffers, "harness": harnessOffers}
		if names, is := named[c.Parent().Name()]; is {
			return p.offering(nth(names))
		}
	case "NAME...":
		return p.offering(variableOffers)
	case "FILE|NAME", "NAME|FILE":
		return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			names, no := p.offering(nth(workflowOffers))(c, args, begun)
			if len(args) > 0 {
				return nil, no
			}
			return names, cobra.ShellCompDirectiveDefault // and files
		}
	case "[PATH]":
		return nil // files
	}
	return cobra.NoFileCompletions
}

// flagOffers are those for the values of flags, by the flag's name, or by the command's and the flag's.
func (p *Program) flagOffers() map[string]offers {
	return map[string]offers{
		"--project": projectOffers, "--harness": harnessOffers, "--review-harness": harnessOffers,
		"install --harness": harnessOffers, "--workflow": workflowOffers, "new --from": workflowOffers,
		"--status": stateOffers, "--until": stateOffers, "--to": openOffers,
		"update --status": openOffers, "--as": roleOffers, "--role": roleOffers,
		"--task":     p.taskOffers(false),
		"--strategy": fixed("ff", "merge", "squash"), "--merge": fixed("local", "pr"),
		"add --push": fixed("always", "never", "ask"), "update --push": fixed("always", "never", "ask"),
		"--level": fixed("debug", "info", "warn", "error"), "--print-unit": fixed("systemd", "launchd"),
		"history --format": fixed(formatBuild), "watch --since": fixed(sinceNow, sinceStart),
		"list --since": p.momentOffers, "list --until": p.momentOffers, "stats --since": p.momentOffers,
		"stats --until": p.momentOffers,
	}
}

// taskOffers are tasks of the present project, or of all: by their ids, or by their branches where a branch was begun.
func (f *finder) taskOffers(over bool) offers {
	return func(ctx context.Context, h *Services, args []string, begun string) ([]cobra.Completion, error) {
		filter, err := f.filterOf(ctx, h, false)
		if err != nil {
			return nil, err
		}
		filter.Brief, filter.Live, filter.Prefix, filter.Most = true, !over, begun, mostCompleted
		all, err := h.Queries.Tasks(ctx, filter)
		if err != nil {
			return nil, err
		}
		var out []cobra.Completion
		for i := range all {
			if t := &all[i]; !slices.Contains(args, t.ID) {
				out = append(out, described(t.ID, string(t.Status)+": "+t.Summary))
			}
		}
		if begun == "" {
			return out, nil
		}
		filter.Prefix, filter.Most = "", 0
		if all, err = h.Queries.Tasks(ctx, filter); err != nil {
			return nil, err
		}
		for i := range all {
			if t := &all[i]; strings.HasPrefix(t.Branch, begun) && len(out) < mostCompleted {
				out = append(out, described(t.Branch, string(t.Status)+": "+t.Summary))
			}
		}
		return out, nil
	}
}

// momentOffers are times that are asked for often.
func (z zone) momentOffers(context.Context, *Services, []string, string) ([]cobra.Completion, error) {
	today := time.Now().In(z.place())
	return []cobra.Completion{described(today.Format(time.DateOnly), "today"),
		described(today.AddDate(0, 0, -1).Format(time.DateOnly), "yesterday"), described("24h", "a day ago"),
		described("7d", "a week ago")}, nil
}

func projectOffers(_ context.Context, h *Services, _ []string, _ string) ([]cobra.Completion, error) {
	all, err := h.Home.Projects()
	var out []cobra.Completion
	for _, one := range all {
		out = append(out, described(one.Name, one.Path))
	}
	return out, err
}

func harnessOffers(ctx context.Context, h *Services, _ []string, _ string) ([]cobra.Completion, error) {
	all, err := h.Home.ListHarnesses(proc.Getenv(ctx, "PATH"))
	var out []cobra.Completion
	for _, one := range all {
		about := one.Path
		if about == "" {
			about = "not installed"
		}
		out = append(out, described(one.Name, about))
	}
	return out, err
}

func workflowOffers(_ context.Context, h *Services, _ []string, _ string) ([]cobra.Completion, error) {
	all, err := h.Workflows.Workflows()
	var out []cobra.Completion
	for _, one := range all {
		out = append(out, described(one.Name, one.Source))
	}
	return out, err
}

func variableOffers(_ context.Context, h *Services, _ []string, _ string) ([]cobra.Completion, error) {
	all, err := h.Variables.List()
	var out []cobra.Completion
	for _, one := range all {
		out = append(out, described(one.Name, one.For()))
	}
	return out, err
}

// rulesOf are the workflow of the task that was named, or else all that can be read.
func rulesOf(ctx context.Context, h *Services, args []string) (task.Task, []*workflow.Definition, error) {
	if len(args) > 0 {
		for _, filter := range []record.Filter{{Prefix: args[0]}, {Branch: args[0]}} {
			if found, err := h.Queries.Tasks(ctx, filter); err == nil && len(found) == 1 {
				t, def, err := h.Queries.Pinned(ctx, found[0].ID)
				return t, []*workflow.Definition{def}, err
			}
		}
	}
	if id, _, err := h.Identity.Here(ctx); err == nil && id != "" {
		t, def, err := h.Queries.Pinned(ctx, id)
		return t, []*workflow.Definition{def}, err
	}
	all, err := h.Workflows.Workflows()
	if err != nil {
		return task.Task{}, nil, err
	}
	var out []*workflow.Definition
	for _, one := range all {
		if def, err := h.Workflows.Workflow(one.Name); err == nil {
			out = append(out, def)
		}
	}
	return task.Task{}, out, nil
}

// stateOffers are the states of a task's workflow, or of all workflows, each once.
func stateOffers(ctx context.Context, h *Services, args []string, _ string) ([]cobra.Completion, error) {
	_, rules, err := rulesOf(ctx, h, args)
	if err != nil {
		return nil, err
	}
	var names []task.Status
	var out []cobra.Completion
	for _, def := range rules {
		for i := range def.States {
			if s := &def.States[i]; !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
				out = append(out, described(string(s.Name), s.About))
			}
		}
	}
	return out, nil
}

// openOffers are the states that a task may be asked to move to.
func openOffers(ctx context.Context, h *Services, args []string, begun string) ([]cobra.Completion, error) {
	t, rules, err := rulesOf(ctx, h, args)
	if err != nil {
		return nil, err
	}
	if t.ID == "" {
		return stateOffers(ctx, h, args, begun)
	}
	var out []cobra.Completion
	for _, to := range decide.MayAsk(rules[0], t, task.Actor{Role: task.RoleHuman}) {
		s, _ := rules[0].State(to)
		out = append(out, described(string(to), s.About))
	}
	return out, nil
}

// redoOffers are the states that a task's workflow lets begin again.
func redoOffers(ctx context.Context, h *Services, args []string, _ string) ([]cobra.Completion, error) {
	_, rules, err := rulesOf(ctx, h, args)
	var out []cobra.Completion
	for _, def := range rules {
		for _, one := range def.Redo {
			s, _ := def.State(task.Status(one.Name))
			out = append(out, described(one.Name, s.About))
		}
	}
	return out, err
}

// checkOffers are the checks of a task's workflow.
func checkOffers(ctx context.Context, h *Services, args []string, _ string) ([]cobra.Completion, error) {
	_, rules, err := rulesOf(ctx, h, args)
	var out []cobra.Completion
	for _, def := range rules {
		for _, one := range def.Checks {
			out = append(out, described(one.Name, strings.Join(one.Run, " ")))
		}
	}
	return out, err
}

// roleOffers are the roles of a task's workflow, or of all workflows, each once.
func roleOffers(ctx context.Context, h *Services, args []string, _ string) ([]cobra.Completion, error) {
	_, rules, err := rulesOf(ctx, h, args)
	names := []string{task.RoleWorker, task.RoleReviewer}
	for _, def := range rules {
		for _, one := range def.Roles {
			if !slices.Contains(names, one.Name) && one.Name != task.RoleHuman {
				names = append(names, one.Name)
			}
		}
	}
	return names, err
}

// Package cli is the command line: it parses, asks, and prints the answer.
//
// It owns words, flags, exit codes and JSON. It decides nothing and writes no status: every question goes through
// the engine. Results go to standard output, talk and failures to standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/api"
	"orange/internal/api/socket"
	"orange/internal/rules/record"
	"orange/internal/rules/yaml"
)

// Program is the command line with the world that it talks to. Every field is required, where it does not say
// otherwise.
type Program struct {
	finder // with In, Out, Err, and what the terminal there can do

	Version string
	// Open opens the services when the first command needs it, so that version and help need nothing.
	Open func(ctx context.Context) (*Services, error)
	// OpenToLook is Open for who only looks, and so makes no home and finishes nothing that others left undone.
	OpenToLook func(ctx context.Context) (*Services, error)
	// Dashboard shows the screen: the tasks of a project, or those of all where the name is empty.
	Dashboard func(ctx context.Context, project string, all bool) error
	// MCP turns this process into the server of tools, which may do what a person allows besides.
	MCP func(version string, may []string) error
	// Examine examines everything, and mends or brings back what it can. It opens for itself what can be opened.
	// It tells how far it is with what takes long.
	Examine func(ctx context.Context, asked record.Examination, progress func(what string, done, of int)) (
		[]record.Finding, error)

	// FleetServer has another program do what is asked of a fleet that has a server, and reports whether it did.
	FleetServer func(args []string) (done bool, err error)
	// Served is a fleet with a server, which this program asks itself; nil for none.
	Served Served

	Forward Forward // nil where this process does the whole command line
	// Reads is called before a command that changes nothing; nil where no one wants to know.
	Reads func()

	services *Services
}

// Forward has the server of the home do the whole command line, and reports whether there was one that did. Repeat says
// what a repeat of the command line does; with a key it may be done twice, as one that changes nothing.
type Forward func(ctx context.Context, repeat api.Repeat, supply func(socket.Need) socket.Input) (status int, done bool,
	err error)

// Run runs one command line and answers its exit status.
func (p *Program) Run(ctx context.Context, args []string) int { return p.execute(ctx, p.root(), args) }

func (p *Program) execute(ctx context.Context, root *cobra.Command, args []string) int {
	refuseUnknownTopics(root)
	for _, word := range args {
		if word == "--" {
			break
		}
		p.json = p.json || word == "--json" // known before a flag that cannot be read ends the reading
	}
	if len(args) > 0 && args[0] == "fleet" && p.FleetServer != nil && p.Served == nil {
		if done, err := p.FleetServer(args[1:]); done || err != nil {
			return p.end(err)
		}
	}
	if isCompletion(args) {
		p.offerCompletions(root)
	}
	root.SetArgs(joinBranch(args))
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	return p.end(root.ExecuteContext(ctx))
}

func (p *Program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "orange",
		Short: "Runs coding agents on tasks, and lets them move on evidence only",
		Long: `Orange runs AI coding agents on tasks in git repositories, each in its own worktree and terminal
session. Agents write evidence and ask; the engine checks the evidence and moves the task, or
refuses and says exactly why.

Without a command Orange opens the dashboard, which shows all tasks; press ? there for its keys. If
you are in a repository that is not registered, Orange registers it as a project.

Exit status: 0 done, 1 failed, 2 the call or a file is wrong, 3 refused, 4 not found.`,
		Example: `  orange project add .
  orange task create "" "Say hello in French too"
  orange task list`,
		SilenceUsage: true, SilenceErrors: true,
	}
	all := root.Flags().Bool("all", false, "in the dashboard, begin with the tasks of every project")
	version := root.Flags().BoolP("version", "v", false, "print the version")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *version {
			return p.printVersion()
		}
		if !p.Terminal || p.json {
			return c.Help() // no person could see a screen
		}
		return p.Dashboard(c.Context(), p.project, *all)
	}
	root.PersistentFlags().BoolVar(&p.json, "json", false, "answer in JSON")
	root.PersistentFlags().BoolVar(&p.utc, "utc", false, "show times in UTC, not in your own zone")
	root.PersistentFlags().StringVar(&p.project, "project", "", "the project (default: that of the folder you are in)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage("%v%s", err, flagMeant(c, err)) })
	for _, one := range []func(*Program) *cobra.Command{projectCommands, taskCommands, mergeMany, workflowCommands,
		harnessCommands, workspaceCommands, envCommands, setupCommand, installCommand, uninstallCommand,
		monitorCommand, serverCommands, logCommand, versionCommand, doctorCommand, adoptCommand, shellCommand,
		mcpCommand, fleetCommands, answerCommand, serveCommand, settleCommand, checkCommand} {
		root.AddCommand(one(p))
	}
	return root
}

// refuseUnknownTopics has "help" and "completion" refuse a word that they do not know, as every other command does.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if _, left, err := root.Find(args); err != nil || len(left) > 0 {
					return usage("there is no command %q; see %q", "orange "+strings.Join(args, " "), "orange help")
				}
				return nil
			}
		case "completion":
			c.RunE = onlyHolds
		}
	}
}

// flagMeant asks whether another flag was meant, where one is not known.
func flagMeant(c *cobra.Command, err error) string {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is || len(unknown.GetSpecifiedName()) < 2 { // a letter is near to every other
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return yaml.Guess("--"+unknown.GetSpecifiedName(), names)
}

func (p *Program) open(ctx context.Context) (*Services, error) {
	if p.services != nil {
		return p.services, nil
	}
	services, err := p.Open(ctx)
	if err == nil && p.Served != nil {
		services.Fleet = p.Served
	}
	if p.services = services; err == nil && services.Commands != nil {
		services.Commands.OnWarn(func(text string) { p.warn("%s", text) })
		if p.Progress != nil {
			services.Commands.OnWait(p.progress().wait)
		}
	}
	return services, err
}

// group is a command that only holds others.
func (p *Program) group(use, short, example string, below ...func(*Program) *cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Example: example, RunE: onlyHolds}
	c.SuggestionsMinimumDistance = 2
	for _, one := range below {
		c.AddCommand(one(p))
	}
	return c
}

// onlyHolds shows what a command holds, and refuses a word that is none of that.
func onlyHolds(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	text := ""
	for _, s := range c.SuggestionsFor(args[0]) {
		text += "; did you mean " + s + "?"
	}
	return usage("there is no command %q below %q%s", args[0], c.CommandPath(), text)
}

// work is what a command does with the services.
type work func(ctx context.Context, h *Services, args []string) error

// run makes a command's work from a function that has the services.
func (p *Program) run(work work) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if done, err := p.forwarded(c); done || err != nil {
			return err
		}
		h, err := p.open(c.Context())
		if err != nil {
			return err
		}
		defer p.busy(strings.TrimPrefix(c.CommandPath(), "orange "))()
		return work(c.Context(), h, args)
	}
}

// forwarded has the server of the home do a command that it may do for others.
func (p *Program) forwarded(c *cobra.Command) (done bool, err error) {
	o, is := operationOf(c)
	if is && o.Repeat == api.Reads && p.Reads != nil {
		p.Reads()
	}
	if p.Forward == nil || !isServed(c, nil) || flagged(c, "attach") || flagged(c, "watch") {
		return false, nil
	}
	status, done, err := p.Forward(c.Context(), repeatOf(c, o), p.supply)
	if err == nil && done {
		err = &ended{status}
	}
	return done, err
}

// isServed reports whether the server of the home does a command. It has flags, or arguments as long as these are not
// read.
func isServed(c *cobra.Command, args []string) bool {
	return offered(c, args) || isOneLook(c) ||
		c.CommandPath() == "orange monitor" && slices.Contains(args, "--once")
}

// isOneLook reports whether a command does what a monitor would do now.
func isOneLook(c *cobra.Command) bool {
	return c.CommandPath() == "orange monitor" && flagged(c, "once")
}

// repeatOf is what a repeat of a command line does.
func repeatOf(c *cobra.Command, o api.Op) api.Repeat {
	switch {
	case flagged(c, "key"), isOneLook(c):
		return api.Reads
	case o.Repeat == 0, o.Name == "say": // of a text that was typed the record has nothing
		return api.Acts
	}
	return o.Repeat
}

// offered reports whether a command may be asked for from elsewhere than a terminal, as an operation of the table or
// the merge of several tasks. Of its arguments those may not that need the terminal.
func offered(c *cobra.Command, args []string) bool {
	o, is := operationOf(c)
	terminal := slices.ContainsFunc(args, func(word string) bool {
		return strings.HasPrefix(word, "--attach") || strings.HasPrefix(word, "--watch")
	})
	return !terminal && (is && o.From != 0 || c.CommandPath() == "orange merge")
}

// operationOf is the row of a command in the table of operations.
func operationOf(c *cobra.Command) (api.Op, bool) {
	at := slices.IndexFunc(api.Table(), func(o api.Op) bool { return c.CommandPath() == "orange task "+o.Name })
	if at < 0 {
		return api.Op{}, false
	}
	return api.Table()[at], true
}

func flagged(c *cobra.Command, name string) bool { return c.Flags().Changed(name) }

// runForPerson is run for what is about the whole home, which only people may do; what says it in words.
func (p *Program) runForPerson(what string, work work) func(*cobra.Command, []string) error {
	return p.run(func(ctx context.Context, h *Services, args []string) error {
		if err := h.Identity.Person(ctx, what); err != nil {
			return err
		}
		return work(ctx, h, args)
	})
}

// between checks the number of arguments and calls a wrong one a wrong call.
func between(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			found := fmt.Sprintf("the arguments %q", args)
			if len(args) == 0 {
				found = "no argument"
			}
			return usage("found %s, expected: %s", found, c.UseLine())
		}
		return nil
	}
}

// joinBranch lets --branch stand with and without a value: the word behind it is its value unless it is a flag.
func joinBranch(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if args[i] == "--branch" && i+1 < len(args) && args[i+1] != "" && args[i+1][0] != '-' {
			out = append(out, "--branch="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

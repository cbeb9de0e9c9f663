package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
	"orange/internal/ui/shell"
)

func shellCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "shell [ID]", Short: "Move one task with the slash commands of its workflow", Args: between(0, 1),
		Long: `Move one task with the slash commands that its workflow declares, with the moves out of its status
(/spawn, /complete, /stuck, /merge and /cancel where the workflow has them, and the name of each
state that a move leads to, as /agent-review), and with /next, /redo, /status, /why, /history, /help
and /quit. A command of the workflow, and a state's name, ask for the move to that state. If the
task is in that state already, the command begins the state again, if the workflow has a transition
from it to itself; otherwise it starts the agent again if the agent has died.
Without a terminal, orange shell runs the lines of standard input. Its exit status is then that of
the last line that failed.`,
		Example: "  orange shell 4Fz\n  echo '/next --override \"I accept the risk\"' | orange shell 4Fz",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			p.lend()
			p.guessed = nil // its prompt names the task before every line
			talk := shell.Shell{In: p.In, Out: p.Out, Terminal: p.Terminal,
				History: filepath.Join(h.Home.Dir, "shell_history")}
			p.Terminal = false // each line names the task's move in full: no question follows
			status, err := talk.Run(ctx, &taskShell{program: p, services: h, id: id})
			if err == nil && status != 0 {
				err = &ended{status} // what failed is printed already
			}
			return err
		}),
	}
}

// taskShell is the command line's side of a conversation about one task: its commands are those of the command line
// with a slash before them, about that task, and those that the task's workflow declares.
type taskShell struct {
	program  *Program
	services *Services
	id       string

	looker *task.Actor // who asks, once Orange has looked
	// the task as it was found last, with its workflow and the states that the one who asks may have it moved to
	task task.Task
	def  *workflow.Definition
	open []task.Status
	left bool
}

// look finds out where the task is now, and what it may be asked for there: it may have been given another workflow,
// too.
func (t *taskShell) look(ctx context.Context) (err error) {
	if t.task, t.def, err = t.services.Queries.Pinned(ctx, t.id); err != nil {
		return err
	}
	if t.looker == nil {
		actor, err := t.services.Identity.Looker(ctx, t.id)
		if err != nil {
			return err
		}
		t.looker = &actor
	}
	t.open = decide.MayAsk(t.def, t.task, *t.looker)
	return nil
}

// Prompt names the task and where it is now.
func (t *taskShell) Prompt(ctx context.Context) (string, error) {
	err := t.look(ctx)
	return fmt.Sprintf("%s %s> ", t.task.Branch, t.task.Status), err
}

// Run runs the words of a line, and reports whether the person leaves with it.
func (t *taskShell) Run(ctx context.Context, words []string) (left bool, err error) {
	if err := t.look(ctx); err != nil {
		return false, err
	}
	root, _ := t.commands()
	root.SetArgs(words)
	err = root.ExecuteContext(ctx)
	return t.left, err
}

// End ends the answer to a line as every command does, with an error where there is one.
func (t *taskShell) End(err error) int { return t.program.end(err) }

// Complete are the lines that the beginning of one can become.
func (t *taskShell) Complete(ctx context.Context, line string) []string {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	last := words[len(words)-1]
	var offers bytes.Buffer
	root, _ := t.commands()
	root.SetOut(&offers)
	root.SetErr(io.Discard)
	root.SetArgs(append([]string{cobra.ShellCompNoDescRequestCmd}, words...))
	if err := root.ExecuteContext(ctx); err != nil {
		return nil // a person who presses Tab can do nothing about that
	}
	var out []string
	for offer := range strings.Lines(offers.String()) {
		if strings.HasPrefix(offer, ":") { // behind the offers cobra says how to use them
			break
		}
		if offer = strings.TrimSpace(offer); offer != last && strings.HasPrefix(offer, last) {
			out = append(out, strings.TrimSuffix(line, last)+offer+" ")
		}
	}
	return out
}

// commands are those of the conversation, and below root the same as a tree: of those with the same words the shell's
// own count, then the workflow's, then the moves out of the task's status, by their words and by the names of the
// states that they lead to.
func (t *taskShell) commands() (root *cobra.Command, all []*cobra.Command) {
	root = &cobra.Command{SilenceUsage: true, SilenceErrors: true, Args: cobra.ArbitraryArgs, RunE: t.unknown}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(t.program.In)
	root.SetOut(t.program.Out)
	root.SetErr(t.program.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%v%s; %s is called so: %s", err, flagMeant(c, err), lineOf(c), useLine(c))
	})
	own := t.own()
	root.AddCommand(own...)
	root.SetHelpCommand(own[len(own)-2])
	add := func(text string, c *cobra.Command) {
		if c = below(root, text, c, t.unknown); c != nil {
			all = append(all, c)
		}
	}
	for _, declared := range t.def.Commands {
		add(declared.Text, t.leading(declared.To))
	}
	for _, word := range t.words() {
		add("/"+word.Name(), word)
	}
	for _, to := range t.open {
		add("/"+string(to), t.leading(to))
	}
	for i := range t.def.States { // the refusal of who asks says what is missing
		c := t.leading(t.def.States[i].Name)
		c.Hidden = true
		add("/"+string(t.def.States[i].Name), c)
	}
	return root, append(all, own...)
}

// below puts a command of one or two words below root, unless one of those words is there; nil then.
func below(root *cobra.Command, text string, c *cobra.Command,
	unknown func(*cobra.Command, []string) error) *cobra.Command {
	words := strings.Fields(text)
	at := root
	for _, word := range words[:len(words)-1] {
		next := child(at, word)
		if next == nil {
			next = &cobra.Command{Use: word, Args: cobra.ArbitraryArgs, RunE: unknown}
			at.AddCommand(next)
		}
		at = next
	}
	_, behind, _ := strings.Cut(c.Use, " ")
	c.Use = strings.TrimSpace(words[len(words)-1] + " " + behind)
	if there := child(at, c.Name()); there != nil {
		if there.Short != "" {
			return nil
		}
		c.AddCommand(there.Commands()...)
		at.RemoveCommand(there)
	}
	at.AddCommand(c)
	return c
}

func child(of *cobra.Command, name string) *cobra.Command {
	for _, c := range of.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// lineOf are the words of a command.
func lineOf(c *cobra.Command) string { return strings.TrimSpace(c.CommandPath()) }

// useLine is how a command is called, in the words of the conversation.
func useLine(c *cobra.Command) string { return strings.TrimSpace(c.UseLine()) }

// unknown refuses a line that no command has.
func (t *taskShell) unknown(c *cobra.Command, args []string) error {
	line := append(strings.Fields(c.CommandPath()), args...)
	_, all := t.commands()
	var names []string
	for _, one := range all {
		names = append(names, lineOf(one))
	}
	guess := cmp.Or(yaml.Guess(strings.Join(line[:min(2, len(line))], " "), names), yaml.Guess(line[0], names))
	return usage("there is no command %q%s (/help lists them)", line[0], guess)
}

// own are the commands that the shell has in every workflow.
func (t *taskShell) own() []*cobra.Command {
	p := t.program
	next := t.about(taskNext(p), `/next [--override "why"] [--to STATE]`, 0)
	redo := t.about(taskRedo(p), "/redo STATE"+withReason, 1)
	redo.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) (
		out []cobra.Completion, _ cobra.ShellCompDirective) {
		for i := range t.def.Redo {
			if len(args) == 0 {
				out = append(out, t.def.Redo[i].Name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	complete(next, "to", cobra.FixedCompletions(stateNames(t.def), cobra.ShellCompDirectiveNoFileComp))
	status := taskShow(p)
	if !p.json {
		status = &cobra.Command{RunE: func(c *cobra.Command, _ []string) error { return t.status(c.Context()) }}
	}
	status.Short = "The state of the task, and the open moves"
	return []*cobra.Command{next, redo, t.about(status, "/status", 0), t.about(taskWhy(p), "/why", 0),
		t.about(taskHistory(p), "/history", 0),
		t.about(&cobra.Command{Short: "These words", RunE: t.help}, "/help", 0),
		t.about(&cobra.Command{Short: "Leave; so does the end of the input (Ctrl-D)",
			RunE: func(*cobra.Command, []string) error {
				t.left = true
				return nil
			}}, "/quit", 0)}
}

// about makes a command of the command line one of the conversation, about its task, which takes so many words.
func (t *taskShell) about(c *cobra.Command, use string, takes int) *cobra.Command {
	run := c.RunE
	c.Use, c.Long, c.Example, c.DisableFlagsInUseLine = use, "", "", true
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == takes {
			return nil
		}
		found := "nothing"
		if len(args) > 0 {
			found = fmt.Sprintf("%q", args)
		}
		return usage("found %s behind %s, expected: %s; quote words with blanks", found, lineOf(c), useLine(c))
	}
	c.RunE = func(c *cobra.Command, args []string) error { return run(c, append([]string{t.id}, args...)) }
	return c
}

// withReason is how people read that a command takes a reason.
const withReason = ` [--reason "why"]`

// words are the moves that the command line has a word for and that are open, in the order of a task's life. The line
// names the task's move in full, and so no question follows.
func (t *taskShell) words() (out []*cobra.Command) {
	p := t.program
	for _, word := range []func(*Program) *cobra.Command{taskSpawn, taskComplete, taskStuck, taskMerge, taskCancel} {
		c := word(p)
		to, _, err := decide.MoveTarget(t.def, t.task, c.Name())
		if err != nil || !slices.Contains(t.open, to) {
			continue
		}
		use := c.Name()
		if c.Flags().Lookup("reason") != nil {
			use += withReason
		}
		if c.Flags().Lookup("yes") != nil {
			if err := c.Flags().Set("yes", "true"); err != nil {
				continue
			}
		}
		c = t.about(c, use, 0)
		c.Short = t.to(to)
		out = append(out, c)
	}
	return out
}

// to says where a move leads.
func (t *taskShell) to(to task.Status) string {
	state, _ := t.def.State(to)
	return strings.TrimSpace("-> " + string(to) + "  " + state.About)
}

// leading is a command that asks for a move to a state.
func (t *taskShell) leading(to task.Status) *cobra.Command {
	var reason string
	c := t.about(&cobra.Command{Short: t.to(to), RunE: func(c *cobra.Command, _ []string) error {
		return t.move(c.Context(), to, reason)
	}}, "to"+withReason, 0)
	c.Flags().StringVar(&reason, "reason", "", "why, for the history")
	return c
}

// help lists the commands.
func (t *taskShell) help(*cobra.Command, []string) error {
	_, all := t.commands()
	all = slices.DeleteFunc(all, func(c *cobra.Command) bool { return c.Hidden })
	width := 0
	for _, c := range all {
		width = max(width, len(useLine(c)))
	}
	p := t.program
	p.say("Task %s is %s; its workflow is %s. Quote words with blanks; --help behind a command says more.",
		t.id, t.task.Status, t.def.Name)
	for _, c := range all {
		p.say("  %-*s  %s", width, useLine(c), c.Short)
	}
	return nil
}

// move asks for a move. Asked for where the task is already, it begins that state again where the workflow lets the
// actor do so; else it starts a dead agent again, and leaves a living one alone.
func (t *taskShell) move(ctx context.Context, to task.Status, reason string) error {
	actor, err := t.services.Identity.Actor(ctx, t.id, "")
	if err != nil {
		return err
	}
	one, def := t.task, t.def
	there := one.Status == to
	if there && !decide.CanRestart(def, one, actor) {
		return t.again(ctx, one, def, actor)
	}
	out, err := t.services.Commands.Request(ctx, task.Request{Task: t.id, To: to, Actor: actor, Reason: reason})
	if err != nil {
		return err
	}
	if there && !out.Moved && !out.Queued { // its branch has not moved
		return t.again(ctx, one, def, actor)
	}
	return t.program.tellOutcome(out, "")
}

func (t *taskShell) again(ctx context.Context, one task.Task, def *workflow.Definition, actor task.Actor) error {
	state, _ := def.State(one.Status)
	if state.RespawnPrompt.Name == "" {
		return t.program.tellOutcome(record.Outcome{Task: one}, "") // no agent can be started there
	}
	out, err := t.services.Commands.Respawn(ctx, t.id, actor)
	if refused, is := errors.AsType[*rejection.Rejection](err); is && refused.Code == rejection.RespawnRefused {
		return t.atWork(ctx, one, state, err)
	}
	if err != nil {
		return err
	}
	return t.program.tellOutcome(out, respawnWords(out.Event)+t.id)
}

// atWork says that the state's agent is at work, where that is why it was not started again.
func (t *taskShell) atWork(ctx context.Context, one task.Task, state workflow.State, refused error) error {
	sessions, err := t.services.Queries.Sessions(ctx, []task.Task{one})
	if err != nil {
		return err
	}
	if sessions[t.id] != record.AgentAlive {
		return refused
	}
	return t.program.tellOutcome(record.Outcome{Task: one}, fmt.Sprintf("%s is %s already, and its %s is at work", t.id,
		one.Status, state.Role))
}

// status is what a person wants to know between two lines; orange task show has the rest.
func (t *taskShell) status(ctx context.Context) error {
	actor, err := t.services.Identity.Looker(ctx, t.id)
	if err != nil {
		return err
	}
	r, err := t.services.Queries.Report(ctx, t.id, actor)
	if err != nil {
		return err
	}
	p := t.program
	p.say("%s  %s", r.Task.ID, oneLine(r.Task.Summary, 200))
	line := p.field
	line("status", strings.TrimSpace(string(r.Task.Status)+"  "+r.About))
	line("work", r.Work)
	line("attention", r.Task.Attention)
	if r.Task.Queued() {
		line("queued for", string(r.Task.QueuedFor))
	}
	line("agents", r.Session)
	line("may ask for", strings.Join(r.MayAsk, ", "))
	for _, h := range r.Owed {
		line("hook to run", strings.TrimSpace(h.Action+" ("+string(h.State)+") "+h.Error))
	}
	for _, problem := range r.Problems {
		line("problem", problem)
	}
	return nil
}

package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

func fromPlan(p *input, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := p.readText(path)
	if err == nil && strings.TrimSpace(text) == "" {
		err = usage("the plan file %q is empty", path)
	}
	if err != nil {
		return "", fmt.Errorf("read the plan: %w", err)
	}
	return text, nil
}

func taskCreate(p *Program) *cobra.Command {
	var n task.New
	var noSpawn, attach, dry bool
	var contextFrom, planFrom string
	var variables, after []string
	var from fromForge
	var key newKey
	c := &cobra.Command{
		Use: "create [BRANCH] [SUMMARY]", Short: "Create a task and start it", Args: between(0, 2),
		Long: `Create a task and start it; with --no-spawn only create it. A single argument is the summary, and
Orange makes the branch's name from its words, unless it looks like a branch: it is ASCII without a
blank, git takes it as a name, and it has a slash or no capital letter. --branch and --summary say
outright which one it is. With "" as the branch, Orange names it after the task's id. Without a
summary, the task begins in the state in which the workflow has the agent ask its questions.

With --after it waits for other tasks and then starts by itself; "orange task why" says what is
missing, and "orange task spawn" starts it all the same.`,
		Example: `  orange task create "Fix the login"
  orange task create feature/login "Add a login page" --context notes.md
  orange task create --branch 修正 "Fix the login"
  orange task create --issue 17
  orange task create --pr 18
  echo "Users forget their names." | orange task create "" "Greet politely" --context - --no-spawn
  orange task create "Use the login page" --after 4Fz`,
	}
	c.RunE = p.run(func(ctx context.Context, h *Services, args []string) error {
		named, err := branchAndSummary(ctx, c, &n, args)
		if err != nil {
			return err
		}
		if err := key.hold(ctx, h, n.ID); err != nil {
			return err
		}
		n.Spawn, n.NameBranch = !noSpawn, !named && from.pr == 0
		if n.MayChange, err = mayChange(n.MayChange); err != nil {
			return err
		}
		if n.Context, err = p.readText(contextFrom); err != nil {
			return err
		}
		if n.Plan, err = fromPlan(&p.input, planFrom); err != nil {
			return err
		}
		sign := key.ofNew(append([]string{n.Context, n.Plan}, args...)...)
		if n, err = from.fill(ctx, &p.finder, h, n); err != nil {
			return err
		}
		if n.Plan != "" && n.Status != "" {
			return usage("the workflow says where a task with a plan file begins: leave --status out")
		}
		if n.Variables, err = ownVariables(ctx, &p.input, h, variables, contextFrom, planFrom); err != nil {
			return err
		}
		if attach && (noSpawn || len(after) > 0 || p.json || !p.Terminal) {
			return usage("--attach opens the window of the agent that is started, at a terminal: leave it out")
		}
		if n.After, err = p.findAll(ctx, h, after); err != nil {
			return err
		}
		if dry {
			return dryRun(ctx, &p.finder, h, n)
		}
		id, err := create(ctx, &p.finder, h, n, sign)
		if err == nil && attach {
			err = openWindow(ctx, &p.printer, h, id)
		}
		return err
	})
	c.Flags().String("branch", "", `the branch; "" names it after the task's id`)
	c.Flags().String("summary", "", "what is to be done, in one line")
	agentFlags(c, &n)
	key.flags(c, &n)
	c.Flags().StringArrayVar(&variables, "env", nil, "a variable for the programs of this task alone, as NAME=VALUE; "+
		"NAME takes your shell's value, NAME=- the standard input")
	c.Flags().StringVar(&contextFrom, "context", "", "file with more about the task; - reads standard input")
	from.flags(c)
	ruleFlags(c, &n, &planFrom)
	startFlags(c, &n, &after, &attach, &noSpawn, &dry)
	return c
}

// openWindow opens the window of the task's agent, which takes the terminal.
func openWindow(ctx context.Context, p *printer, h *Services, id string) error {
	err := p.flush()
	p.lend()
	if err == nil {
		_, err = h.Commands.Attach(ctx, id, "", true)
	}
	return err
}

// branchAndSummary puts the branch and the summary of a command line into a new task. It reports whether the branch is
// said; an empty one names the branch after the task's id.
func branchAndSummary(ctx context.Context, c *cobra.Command, n *task.New, args []string) (named bool, err error) {
	branch, summary := c.Flags().Lookup("branch"), c.Flags().Lookup("summary")
	named, told := branch.Changed, summary.Changed
	n.Branch, n.Summary = branch.Value.String(), summary.Value.String()
	first := len(args) == 2 || len(args) == 1 && told // the first word is the branch
	if len(args) == 1 && !named && !told {
		if first, err = looksLikeBranch(ctx, args[0]); err != nil {
			return named, err
		}
	}
	if first && !named {
		n.Branch, named, args = args[0], true, args[1:]
	}
	if len(args) == 1 && !told {
		n.Summary, told, args = args[0], true, nil
	}
	if len(args) > 0 {
		return named, usage("found %q next to --branch or --summary, expected one branch and one summary", args)
	}
	if told {
		err = task.CheckSummary(n.Summary)
	}
	return named, err
}

// startFlags say when a new task is started, and whether its window opens.
func startFlags(c *cobra.Command, n *task.New, after *[]string, attach, noSpawn, dry *bool) {
	c.Flags().BoolVar(dry, "dry-run", false, "create nothing: say what the task needs to start, and what is missing")
	c.Flags().StringSliceVar(after, "after", nil, "tasks of the project that come first, as ID,ID: it starts by "+
		"itself once all are done and the default branch has their commits")
	c.Flags().StringVar(&n.Reason, "reason", "", "why it starts, for the history")
	c.Flags().BoolVar(attach, "attach", false, "then open the agent's window, as orange task attach does")
	c.Flags().BoolVar(noSpawn, "no-spawn", false, "only create it; start it later with orange task spawn")
}

// ruleFlags say by which rules a new task moves.
func ruleFlags(c *cobra.Command, n *task.New, planFrom *string) {
	c.Flags().StringVar(planFrom, "plan-file", "",
		"file with a plan to begin from, where the workflow has an entry for one; - reads standard input")
	c.Flags().StringVar(&n.Workflow, "workflow", "", "the workflow (default: the project's)")
	c.Flags().StringVar((*string)(&n.Status), "status", "", "the state to begin in, where the workflow allows it")
	c.Flags().StringArrayVar(&n.MayChange, "may-change", nil, "the task may change files of this pattern, though the "+
		"project protects them (repeatable)")
}

// agentFlags say which programs work on a new task, and how.
func agentFlags(c *cobra.Command, n *task.New) {
	c.Flags().StringVar(&n.Harness, "harness", "", "the agent program of the worker")
	c.Flags().StringVar(&n.ReviewHarness, "review-harness", "",
		"the agent program of the reviewer (default: the worker's)")
	c.Flags().StringVar(&n.Effort, "effort", "", "how hard the worker shall think, in its program's own words")
	c.Flags().StringVar(&n.ReviewEffort, "review-effort", "", "the same for the reviewer")
	c.Flags().StringVar(&n.Model, "model", "", "the model of the worker, by the name that its program has for it")
	c.Flags().StringVar(&n.ReviewModel, "review-model", "", "the same for the reviewer")
}

// ownVariables are those that only the programs of a new task get. An agent may not set any: what an agent asks for
// runs in nothing that it made.
func ownVariables(ctx context.Context, p *input, h *Services, words []string, files ...string) ([]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	if err := h.Identity.Person(ctx, "set a variable for a task"); err != nil {
		return nil, err
	}
	dash := func(word string) bool { return strings.HasSuffix(word, "=-") }
	if slices.Contains(files, "-") && slices.ContainsFunc(words, dash) {
		return nil, usage("a variable and a text cannot both come from the standard input: read one from a file")
	}
	return p.withInput(words)
}

// create creates a task and says so; it answers its id.
func create(ctx context.Context, p *finder, h *Services, n task.New,
	sign func(task.Actor) (task.Actor, error)) (string, error) {
	project, err := p.projectOf(ctx, h)
	if err != nil {
		return "", err
	}
	n.Project = project
	chosen := n.Harness != ""
	if n, err = h.Commands.Fill(ctx, n); err != nil {
		return "", err
	}
	if n.Actor, err = h.Identity.Actor(ctx, "", ""); err == nil {
		n.Actor, err = sign(n.Actor)
	}
	if err != nil {
		return "", err
	}
	if !chosen && n.Spawn && !p.json {
		if err := sayHarness(&p.printer, h, n.Harness); err != nil {
			return "", err
		}
	}
	out, err := h.Commands.Create(ctx, n)
	if err != nil && out.Task.ID != "" {
		err = &notStarted{err, out.Task}
	}
	if err != nil {
		return "", err
	}
	created := "created task " + out.Task.ID + " on branch " + out.Task.Branch
	if !p.json && (out.Queued || out.Event.IsMove()) {
		p.say("%s", created)
	}
	return out.Task.ID, p.tellDone(out, created+" ("+string(out.Task.Status)+")", n.Actor)
}

// sayHarness names the program that no one chose.
func sayHarness(p *printer, h *Services, name string) error {
	usual, err := h.Home.UsualHarness()
	if err == nil && usual == "" {
		p.say("agent program: %s, the first that is there; %q chooses your usual one", name, "orange setup")
	}
	return err
}

// readText reads a file, or standard input for "-"; nothing for an empty name.
func (i *input) readText(from string) (string, error) { return i.read("the context", from) }

// read reads a text of at most so many bytes as a context has; what says what it is.
func (i *input) read(what, from string) (string, error) {
	var text []byte
	var err error
	sent, is := i.texts[from]
	switch {
	case from == "":
		return "", nil
	case from == "-":
		text, err = io.ReadAll(io.LimitReader(i.In, task.MaxContext+1))
	case is:
		text = []byte(sent)
	case i.texts != nil:
		err = fmt.Errorf("the text of %q was not sent", from)
	default:
		text, err = proc.ReadFile(from)
	}
	if err != nil {
		return "", usage("cannot read %s: %v", what, err)
	}
	if len(text) > task.MaxContext {
		return "", usage("%s has more than %d bytes", what, task.MaxContext)
	}
	return string(text), nil
}

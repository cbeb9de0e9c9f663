package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
)

// creation is the task that a command line describes.
type creation struct {
	*finder

	task  task.New
	key   newKey
	from  fromForge
	after []string // tasks that come first
	asked []string // the texts, as they were read

	noSpawn, attach, dry  bool
	contextFrom, planFrom string   // files
	variables             []string // of its programs alone
}

func taskCreate(p *Program) *cobra.Command {
	n := creation{finder: &p.finder}
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
		if err := n.fill(ctx, h, c, args); err != nil {
			return err
		}
		if n.dry {
			return n.dryRun(ctx, h)
		}
		id, err := n.create(ctx, h)
		if err == nil && n.attach {
			err = n.openWindow(ctx, h, id)
		}
		return err
	})
	c.Flags().String("branch", "", `the branch; "" names it after the task's id`)
	c.Flags().String("summary", "", "what is to be done, in one line")
	n.agentFlags(c)
	n.key.flags(c, &n.task)
	c.Flags().StringArrayVar(&n.variables, "env", nil, "a variable for the programs of this task alone, as "+
		"NAME=VALUE; NAME takes your shell's value, NAME=- the standard input")
	c.Flags().StringVar(&n.contextFrom, "context", "", "file with more about the task; - reads standard input")
	n.from.flags(c)
	n.ruleFlags(c)
	n.startFlags(c)
	return c
}

// fill makes the new task from the command line.
func (n *creation) fill(ctx context.Context, h *Services, c *cobra.Command, args []string) error {
	named, err := branchAndSummary(ctx, c, &n.task, args)
	if err != nil {
		return err
	}
	if err := n.key.hold(ctx, h, n.task.ID); err != nil {
		return err
	}
	n.task.Spawn, n.task.NameBranch = !n.noSpawn, !named && n.from.pr == 0
	if n.task.MayChange, err = mayChange(n.task.MayChange); err != nil {
		return err
	}
	if n.task.Context, err = n.readText(n.contextFrom); err != nil {
		return err
	}
	if n.task.Plan, err = n.plan(); err != nil {
		return err
	}
	n.asked = append([]string{n.task.Context, n.task.Plan}, args...)
	if n.task, err = n.from.fill(ctx, n.finder, h, n.task); err != nil {
		return err
	}
	if n.task.Plan != "" && n.task.Status != "" {
		return usage("the workflow says where a task with a plan file begins: leave --status out")
	}
	if n.task.Variables, err = n.ownVariables(ctx, h); err != nil {
		return err
	}
	if n.attach && (n.noSpawn || len(n.after) > 0 || n.json || !n.Terminal) {
		return usage("--attach opens the window of the agent that is started, at a terminal: leave it out")
	}
	n.task.After, err = n.findAll(ctx, h, n.after)
	return err
}

// plan is the text of the plan file.
func (n *creation) plan() (string, error) {
	if n.planFrom == "" {
		return "", nil
	}
	text, err := n.readText(n.planFrom)
	if err == nil && strings.TrimSpace(text) == "" {
		err = usage("the plan file %q is empty", n.planFrom)
	}
	if err != nil {
		return "", fmt.Errorf("read the plan: %w", err)
	}
	return text, nil
}

// openWindow opens the window of the task's agent, which takes the terminal.
func (n *creation) openWindow(ctx context.Context, h *Services, id string) error {
	err := n.flush()
	n.lend()
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
func (n *creation) startFlags(c *cobra.Command) {
	c.Flags().BoolVar(&n.dry, "dry-run", false, "create nothing: say what the task needs to start, and what is missing")
	c.Flags().StringSliceVar(&n.after, "after", nil, "tasks of the project that come first, as ID,ID: it starts by "+
		"itself once all are done and the default branch has their commits")
	c.Flags().StringVar(&n.task.Reason, "reason", "", "why it starts, for the history")
	c.Flags().BoolVar(&n.attach, "attach", false, "then open the agent's window, as orange task attach does")
	c.Flags().BoolVar(&n.noSpawn, "no-spawn", false, "only create it; start it later with orange task spawn")
}

// ruleFlags say by which rules a new task moves.
func (n *creation) ruleFlags(c *cobra.Command) {
	c.Flags().StringVar(&n.planFrom, "plan-file", "",
		"file with a plan to begin from, where the workflow has an entry for one; - reads standard input")
	c.Flags().StringVar(&n.task.Workflow, "workflow", "", "the workflow (default: the project's)")
	c.Flags().StringVar((*string)(&n.task.Status), "status", "", "the state to begin in, where the workflow allows it")
	c.Flags().StringArrayVar(&n.task.MayChange, "may-change", nil, "the task may change files of this pattern, though "+
		"the project protects them (repeatable)")
}

// agentFlags say which programs work on a new task, and how.
func (n *creation) agentFlags(c *cobra.Command) {
	c.Flags().StringVar(&n.task.Harness, "harness", "", "the agent program of the worker")
	c.Flags().StringVar(&n.task.ReviewHarness, "review-harness", "",
		"the agent program of the reviewer (default: the worker's)")
	c.Flags().StringVar(&n.task.Effort, "effort", "", "how hard the worker shall think, in its program's own words")
	c.Flags().StringVar(&n.task.ReviewEffort, "review-effort", "", "the same for the reviewer")
	c.Flags().StringVar(&n.task.Model, "model", "", "the model of the worker, by the name that its program has for it")
	c.Flags().StringVar(&n.task.ReviewModel, "review-model", "", "the same for the reviewer")
}

// ownVariables are those that only the programs of a new task get. An agent may not set any: what an agent asks for
// runs in nothing that it made.
func (n *creation) ownVariables(ctx context.Context, h *Services) ([]string, error) {
	if len(n.variables) == 0 {
		return nil, nil
	}
	if err := h.Identity.Person(ctx, "set a variable for a task"); err != nil {
		return nil, err
	}
	dash := func(word string) bool { return strings.HasSuffix(word, "=-") }
	if (n.contextFrom == "-" || n.planFrom == "-") && slices.ContainsFunc(n.variables, dash) {
		return nil, usage("a variable and a text cannot both come from the standard input: read one from a file")
	}
	return n.withInput(n.variables)
}

// create creates the task and says so; it answers its id.
func (n *creation) create(ctx context.Context, h *Services) (string, error) {
	made := n.task
	var err error
	if made.Project, err = n.projectOf(ctx, h); err != nil {
		return "", err
	}
	if made, err = h.Commands.Fill(ctx, made); err != nil {
		return "", err
	}
	if made.Actor, err = n.key.actor(ctx, h, "", "", n.asked...); err != nil {
		return "", err
	}
	if n.task.Harness == "" && made.Spawn && !n.json {
		if err := n.sayHarness(h, made.Harness); err != nil {
			return "", err
		}
	}
	out, err := h.Commands.Create(ctx, made)
	if err != nil && out.Task.ID != "" {
		err = &notStarted{err, out.Task}
	}
	if err != nil {
		return "", err
	}
	created := "created task " + out.Task.ID + " on branch " + out.Task.Branch
	if !n.json && (out.Queued || out.Event.IsMove()) {
		n.say("%s", created)
	}
	return out.Task.ID, n.tellDone(out, created+" ("+string(out.Task.Status)+")", made.Actor)
}

// sayHarness names the program that no one chose.
func (n *creation) sayHarness(h *Services, name string) error {
	usual, err := h.Home.UsualHarness()
	if err == nil && usual == "" {
		n.say("agent program: %s, the first that is there; %q chooses your usual one", name, "orange setup")
	}
	return err
}

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

func (p *Program) taskCommands() *cobra.Command {
	return group("task", "Make tasks and move them",
		"  orange task create feature/login \"Add a login page\"\n  orange task list",
		p.taskCreate(), p.taskList(), p.taskShow(), p.taskSpawn(), p.taskAttach(), p.taskRespawn(), p.taskUpdate(),
		p.taskNext(), p.taskRedo(), p.taskComplete(), p.taskStuck(), p.taskWait(), p.taskRequestChanges(),
		p.taskMerge(), p.taskCancel(),
		p.taskDelete(), p.taskHistory(), p.taskWhy(), p.taskVerify(), p.taskReplay(), p.taskStats(),
		p.taskRetry(), p.taskCheck(), p.taskCreatePR(), p.taskWatch())
}

// find turns what the user wrote into the id of one task: the whole id or any beginning that only one has;
// nothing means the task of the workspace that the working directory is in.
func (p *Program) find(ctx context.Context, h *Services, args []string) (string, error) {
	if len(args) == 0 || args[0] == "" {
		id, _, err := h.Identity.Here(ctx)
		if err == nil && id == "" {
			err = usage("which task? Give its id, or stand in its workspace; %q lists them", "orange task list")
		}
		return id, err
	}
	found, err := h.Queries.Tasks(ctx, record.Filter{Prefix: args[0]})
	if err != nil {
		return "", err
	}
	for _, t := range found {
		if t.ID == args[0] {
			return t.ID, nil
		}
	}
	switch len(found) {
	case 0:
		return "", task.Notef(task.ErrNotFound, "there is no task %q; %q lists them", args[0], "orange task list")
	case 1:
		return found[0].ID, nil
	}
	var ids []string
	for _, t := range found {
		ids = append(ids, t.ID)
	}
	return "", usage("%q is the beginning of several tasks: %s", args[0], strings.Join(ids, ", "))
}

// projectOf is the project that a command is about: the one named, or that of the working directory.
func (p *Program) projectOf(ctx context.Context, h *Services) (task.Project, error) {
	name := p.project
	if name == "" {
		var err error
		if _, name, err = h.Identity.Here(ctx); err != nil {
			return task.Project{}, err
		}
	}
	if name == "" {
		return task.Project{},
			usage("which project? Stand in one, or name it with --project; %q registers a repository",
				"orange project add PATH")
	}
	return h.Projects.Project(name)
}

// onTask makes a command's work from a function that has one task and who asks about it. as is the role that a
// person acts for.
func (p *Program) onTask(as *string, work func(ctx context.Context, h *Services, id string,
	actor task.Actor) error) func(*cobra.Command, []string) error {
	return p.run(func(ctx context.Context, h *Services, args []string) error {
		id, err := p.find(ctx, h, args)
		if err != nil {
			return err
		}
		role := ""
		if as != nil {
			role = *as
		}
		actor, err := h.Identity.Actor(ctx, id, role)
		if err != nil {
			return err
		}
		return work(ctx, h, id, actor)
	})
}

// asker finds out who asks about a task.
type asker struct{ as, reason string }

func (a *asker) flags(c *cobra.Command) {
	c.Flags().StringVar(&a.as, "as", "", "the role that you act for, as a person (recorded as such)")
	c.Flags().StringVar(&a.reason, "reason", "", "why, for the history")
}

func (p *Program) taskCreate() *cobra.Command {
	var n task.New
	var noSpawn bool
	var status, contextFrom, planFrom, workflowName string
	c := &cobra.Command{
		Use: "create [BRANCH] [SUMMARY]", Short: "Make a task, and start it unless told otherwise", Args: between(0, 2),
		Long: `Make a task, and start it unless told otherwise. Without a branch it gets one named after its id.
Without a summary it begins where the workflow has its questions asked.`,
		Example: `  orange task create feature/login "Add a login page" --context notes.md
  echo "Users forget their names." | orange task create "" "Greet politely" --context - --no-spawn`,
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			if len(args) > 0 {
				n.Branch = args[0]
			}
			if len(args) > 1 {
				n.Summary = args[1]
			}
			n.Status, n.Spawn, n.Workflow = task.Status(status), !noSpawn, workflowName
			text, err := p.readText(contextFrom)
			if err != nil {
				return err
			}
			n.Context = text
			if n.Plan, err = p.fromPlan(planFrom); err != nil {
				return err
			}
			if n.Plan != "" && status != "" {
				return usage("the workflow says where a task with a plan file begins: leave --status out")
			}
			return p.create(ctx, h, n)
		}),
	}
	c.Flags().StringVar(&n.Harness, "harness", "", "the agent program of the worker")
	c.Flags().StringVar(&n.ReviewHarness, "review-harness", "",
		"the agent program of the reviewer (default: the worker's)")
	c.Flags().StringVar(&n.Effort, "effort", "", "how hard the worker shall think, in its program's own words")
	c.Flags().StringVar(&n.ReviewEffort, "review-effort", "", "the same for the reviewer")
	c.Flags().StringVar(&contextFrom, "context", "", "file with more about the task; - reads standard input")
	c.Flags().StringVar(&planFrom, "plan-file", "",
		"file with a plan to begin from, where the workflow has an entry for one; - reads standard input")
	c.Flags().StringVar(&workflowName, "workflow", "", "the workflow (default: the project's)")
	c.Flags().StringVar(&status, "status", "", "the state to begin in, where the workflow allows it")
	c.Flags().BoolVar(&noSpawn, "no-spawn", false, "only make it; start it later with orange task spawn")
	return c
}

func checkSummary(text string) error {
	if len(text) > task.MaxSummary {
		return usage("the summary has %d bytes, more than %d: put the rest into the context (--context FILE)",
			len(text), task.MaxSummary)
	}
	if strings.ContainsRune(text, 0) {
		return usage("the summary holds a NUL character")
	}
	return nil
}

// checkNotSummary refuses a branch alone that can only be meant as the summary: no branch has a blank in its name.
func checkNotSummary(n task.New) error {
	if n.Summary == "" && strings.ContainsAny(n.Branch, " \t\n") {
		return usage("cannot use %q as a branch: it has blanks; if it is the summary, the branch comes before "+
			"it: orange task create BRANCH %q, or \"\" for one that is named after the id", n.Branch, n.Branch)
	}
	return nil
}

func (p *Program) create(ctx context.Context, h *Services, n task.New) error {
	if err := errors.Join(checkNotSummary(n), checkSummary(n.Summary)); err != nil {
		return err
	}
	project, err := p.projectOf(ctx, h)
	if err != nil {
		return err
	}
	n.Project = project
	if n, err = h.Commands.Fill(ctx, n); err != nil {
		return err
	}
	if n.Actor, err = h.Identity.Actor(ctx, "", ""); err != nil {
		return err
	}
	out, err := h.Commands.Create(ctx, n)
	if err != nil {
		return err
	}
	created := "created task " + out.Task.ID + " on branch " + out.Task.Branch
	if !p.json && (out.Queued || out.Event.IsMove()) {
		p.say("%s", created)
	}
	return p.outcome(out, created+" ("+string(out.Task.Status)+")")
}

// readText reads a file, or standard input for "-"; nothing for an empty name.
func (p *Program) readText(from string) (string, error) {
	var text []byte
	var err error
	switch from {
	case "":
		return "", nil
	case "-":
		text, err = io.ReadAll(io.LimitReader(p.In, task.MaxContext+1))
	default:
		text, err = os.ReadFile(from)
	}
	if err != nil {
		return "", usage("cannot read the context: %v", err)
	}
	if len(text) > task.MaxContext {
		return "", usage("the context has more than %d bytes", task.MaxContext)
	}
	return string(text), nil
}

// move makes a command that asks for the move which a word stands for in the task's workflow.
func (p *Program) move(use, short, example, command string) *cobra.Command {
	var ask asker
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: between(0, 1),
		RunE: p.onTask(&ask.as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			return p.command(ctx, h, id, command, actor, ask.reason)
		}),
	}
	ask.flags(c)
	return c
}

// command asks for the move which a word stands for in the task's workflow.
func (p *Program) command(ctx context.Context, h *Services, id, command string, actor task.Actor, reason string) error {
	out, err := h.Commands.Command(ctx, id, command, actor, reason)
	if err != nil {
		return err
	}
	return p.outcome(out, "")
}

func (p *Program) taskSpawn() *cobra.Command {
	return p.move("spawn [ID]", "Start a task: workspace, session, agent", "  orange task spawn 4Fz",
		workflow.MoveSpawn)
}

func (p *Program) taskComplete() *cobra.Command {
	return p.move("complete [ID]", "Hand the work over for review", "  orange task complete", workflow.MoveComplete)
}

func (p *Program) taskStuck() *cobra.Command {
	return p.move("stuck [ID]", "Say that the task goes nowhere without a person",
		"  orange task stuck --reason \"the API key is missing\"", workflow.MoveStuck)
}

func (p *Program) taskCancel() *cobra.Command {
	var ask asker
	var yes bool
	c := &cobra.Command{
		Use: "cancel [ID]", Short: "Give a task up; its branch and all work on it stay", Args: between(0, 1),
		Long: "Give a task up; its branch and all work on it stay. A person is asked first; where no one " +
			"can be asked, it takes --yes.",
		Example: "  orange task cancel 4Fz --yes",
		RunE: p.onTask(&ask.as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if err := p.sure(actor, yes, "Cancel task "+id+"? Its agents are ended; its work is kept.",
				"not cancelled"); err != nil {
				return err
			}
			return p.command(ctx, h, id, workflow.MoveCancel, actor, ask.reason)
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	ask.flags(c)
	return c
}

func (p *Program) taskUpdate() *cobra.Command {
	var ask asker
	var status, summary, branch string
	c := &cobra.Command{
		Use: "update [ID]", Short: "Ask for a status, or change the summary or the branch", Args: between(0, 1),
		Long: `Ask for a status, or change the summary or the branch. A status is granted only where the workflow has the transition,
the caller's role may ask for it, and the evidence is there; else nothing changes and the exit status is 3.
--branch without a value takes over the branch that the workspace has now.`,
		Example: `  orange task update --status agent-review
  orange task update 4Fz --branch fix/typo --summary "Mend the typo"`,
	}
	c.RunE = p.onTask(&ask.as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
		u := task.Update{Actor: actor}
		if c.Flags().Changed("summary") {
			if err := checkSummary(summary); err != nil {
				return err
			}
			u.Summary = &summary
		}
		if c.Flags().Changed("branch") {
			name := strings.TrimPrefix(branch, presentBranch)
			u.Branch = &name
		}
		return p.update(ctx, h, id, u, task.Request{Task: id, To: task.Status(status), Actor: actor,
			Reason: ask.reason})
	})
	c.Flags().StringVar(&status, "status", "", "the status to ask for")
	c.Flags().StringVar(&summary, "summary", "", "the new summary")
	c.Flags().StringVar(&branch, "branch", "", "the new branch; without a value the one that the workspace has now")
	c.Flags().Lookup("branch").NoOptDefVal = presentBranch
	ask.flags(c)
	return c
}

// presentBranch stands for --branch without a value. No branch can have this name.
const presentBranch = "\x00"

func (p *Program) update(ctx context.Context, h *Services, id string, u task.Update, req task.Request) error {
	if u.Summary == nil && u.Branch == nil && req.To == "" {
		return usage("nothing to update: give --status, --summary or --branch")
	}
	if u.Summary != nil || u.Branch != nil {
		t, err := h.Commands.Update(ctx, id, u)
		if err != nil {
			return err
		}
		if req.To == "" {
			return p.outcome(record.Outcome{Task: t}, t.ID+" is on branch "+t.Branch+": "+t.Summary)
		}
	}
	out, err := h.Commands.Request(ctx, req)
	if err != nil {
		return err
	}
	return p.outcome(out, "")
}

func (p *Program) taskRequestChanges() *cobra.Command {
	var ask asker
	c := &cobra.Command{
		Use: "request-changes ID [TEXT]", Short: "Send a task back to its worker, with what to change",
		Args: between(1, 2),
		Long: "Send a task back to its worker. TEXT goes under ## Fix Instructions in the task's document; " +
			"- reads standard input.",
		Example: `  orange task request-changes 4Fz "Use the existing helper instead of a new one"`,
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			text := ""
			if len(args) > 1 {
				text = args[1]
			}
			if text == "-" {
				if text, err = p.readText("-"); err != nil {
					return err
				}
			}
			actor, err := h.Identity.Actor(ctx, id, ask.as)
			if err != nil {
				return err
			}
			out, err := h.Commands.RequestChanges(ctx, id, strings.TrimSpace(text), actor)
			if err != nil {
				return err
			}
			return p.outcome(out, "")
		}),
	}
	c.Flags().StringVar(&ask.as, "as", "", "the role that you act for, as a person (recorded as such)")
	return c
}

func (p *Program) taskMerge() *cobra.Command {
	var m task.Merge
	var as string
	var c *cobra.Command
	c = &cobra.Command{
		Use: "merge [ID]", Short: "Merge a task's branch into the default branch, and finish the task",
		Args: between(0, 1),
		Long: `Merge a task's branch into the default branch and push it where there is an origin; then the task is finished.
Your own checkout is never switched or reset: where it has the default branch, it is fast-forwarded if git finds that safe.
Where the task has a pull request that is merged, nothing is merged here and the task is finished; one that is open is merged there, or here with --local.

What is merged is the commit that the decision was about. Where the workflow asks that nothing was committed since the review, a later commit is refused:
have it reviewed too, or merge it all the same with --override REASON, where the workflow allows that. Your name and the reason stand in the history.`,
		Example: "  orange task merge 4Fz --local\n  orange task merge 4Fz --strategy merge\n  orange task " +
			"merge 4Fz --override \"only a comment was changed since\"",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			if m.Strategy != "" && m.Strategy != "ff" && m.Strategy != "merge" {
				return usage("found %q as --strategy, expected ff or merge", m.Strategy)
			}
			if c.Flags().Changed("override") && strings.TrimSpace(m.Override) == "" {
				return usage("found no reason behind --override, expected why you merge in spite of what the " +
					"workflow asks for")
			}
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			actor, err := h.Identity.Actor(ctx, id, as)
			if err != nil {
				return err
			}
			out, how, err := h.Commands.Merge(ctx, id, m, actor)
			if err != nil {
				return err
			}
			if !p.json {
				p.say("%s: %s", out.Task.Branch, how)
			}
			return p.outcome(out, "")
		}),
	}
	c.Flags().StringVar(&m.Strategy, "strategy", "",
		"ff: only fast-forward; merge: make a merge commit where one is needed (default: whichever is possible)")
	c.Flags().StringVar(&m.Override, "override", "",
		"merge the tip although the workflow's conditions do not hold, for this reason")
	c.Flags().StringVar(&as, "as", "", "the role that you act for, as a person (recorded as such)")
	c.Flags().BoolVar(&m.Local, "local", false, "merge on this machine, without looking for a pull request")
	return c
}

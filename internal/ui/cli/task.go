package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func (p *Program) taskCommands() *cobra.Command {
	return group("task", "Create tasks and move them",
		"  orange task create feature/login \"Add a login page\"\n  orange task list",
		p.taskCreate(), p.taskList(), p.taskShow(),
		p.spawn(), p.taskAttach(), p.taskRespawn(), p.taskUpdate(), p.taskMove(), p.taskNext(), p.taskRedo(),
		p.complete(), p.stuck(), p.taskWait(), p.taskSay(), p.taskRequestChanges(), p.taskMerge(), p.taskCancel(),
		p.taskDelete(), p.taskLeave(), p.taskSnapshot(), p.taskRestore(),
		p.taskHistory(), p.taskWhy(), p.taskVerify(), p.taskReplay(), p.taskStats(),
		p.taskDiff(), p.taskLogs(), p.taskRetry(), p.taskCheck(), p.taskCreatePR(), p.taskWatch())
}

func (p *Program) spawn() *cobra.Command {
	return p.move("spawn [ID]", "Start a task: workspace, session, agent", "  orange task spawn 4Fz",
		workflow.MoveSpawn)
}

func (p *Program) complete() *cobra.Command {
	return p.move("complete [ID]", "Hand the work over for review", "  orange task complete", workflow.MoveComplete)
}

func (p *Program) stuck() *cobra.Command {
	return p.move("stuck [ID]", "Report that the task needs a person to go on",
		"  orange task stuck --reason \"the API key is missing\"", workflow.MoveStuck)
}

// findAll turns what the user wrote into the ids of tasks, each once.
func (p *Program) findAll(ctx context.Context, h *Services, words []string) ([]string, error) {
	var ids []string
	for _, word := range words {
		if word = strings.TrimSpace(word); word == "" {
			return nil, usage("which task? One of the ids is empty; %q lists them", "orange task list")
		}
		id, err := p.find(ctx, h, []string{word})
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
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
			usage("which project? Run this in its folder, or name it with --project; %q registers a repository",
				"orange project add PATH")
	}
	return h.Projects.Project(name)
}

// runFound is run for what is about one task.
func (p *Program) runFound(work func(ctx context.Context, h *Services, id string) error) func(*cobra.Command,
	[]string) error {
	return p.run(func(ctx context.Context, h *Services, args []string) error {
		id, err := p.find(ctx, h, args)
		if err != nil {
			return err
		}
		return work(ctx, h, id)
	})
}

// onTask is runFound for what takes who asks. as is the role that a person acts for.
func (p *Program) onTask(as *string, work func(ctx context.Context, h *Services, id string,
	actor task.Actor) error) func(*cobra.Command, []string) error {
	return p.runFound(func(ctx context.Context, h *Services, id string) error {
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

// onKeyed is onTask for what is done once under a key.
func (p *Program) onKeyed(as *string, key *requestKey, work func(ctx context.Context, h *Services, id string,
	actor task.Actor) error) func(*cobra.Command, []string) error {
	return p.onTask(as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
		actor, err := key.sign(actor)
		if err != nil {
			return err
		}
		return work(ctx, h, id, actor)
	})
}

// asker finds out who asks about a task.
type asker struct {
	requestKey
	as, reason string
}

func (a *asker) flags(c *cobra.Command) {
	asFlag(c, &a.as)
	a.flag(c)
	c.Flags().StringVar(&a.reason, "reason", "", "why, for the history")
}

func asFlag(c *cobra.Command, as *string) {
	c.Flags().StringVar(as, "as", "", "the role that you act for, as a person (recorded as such)")
}

// chosen are the tasks that a command is about: the one that is named or stood in, or all of the project or the home.
func (p *Program) chosen(ctx context.Context, h *Services, args []string, all bool) ([]string, error) {
	if !all {
		id, err := p.find(ctx, h, args)
		return []string{id}, err
	}
	if len(args) > 0 {
		return nil, usage("found %q next to --all, expected one of the two", args[0])
	}
	return h.Queries.All(ctx, p.project)
}

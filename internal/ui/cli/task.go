package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func taskCommands(p *Program) *cobra.Command {
	return p.group("task", "Create tasks and move them",
		"  orange task create feature/login \"Add a login page\"\n  orange task list",
		taskCreate, taskList, taskShow, taskSpawn, taskAttach, taskRespawn, taskUpdate, taskMove, taskNext, taskRedo,
		taskComplete, taskStuck, taskWait, taskSay, taskRequestChanges, taskMerge, taskCancel, taskDelete, taskLeave,
		taskSnapshot, taskRestore, taskHistory, taskWhy, taskVerify, taskReplay, taskStats, taskDiff, taskLogs,
		taskRetry, taskCheck, taskCreatePR, taskWatch)
}

func taskSpawn(p *Program) *cobra.Command {
	return moveCommand(p, "spawn [ID]", "Start a task: workspace, session, agent", "  orange task spawn 4Fz",
		workflow.MoveSpawn)
}

func taskComplete(p *Program) *cobra.Command {
	return moveCommand(p, "complete [ID]", "Hand the work over for review", "  orange task complete",
		workflow.MoveComplete)
}

func taskStuck(p *Program) *cobra.Command {
	return moveCommand(p, "stuck [ID]", "Report that the task needs a person to go on",
		"  orange task stuck --reason \"the API key is missing\"", workflow.MoveStuck)
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

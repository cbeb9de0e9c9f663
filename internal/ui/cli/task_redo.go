package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func taskRedo(p *Program) *cobra.Command {
	var reason string
	var key requestKey
	c := &cobra.Command{
		Use: "redo ID STATE", Short: "Return a task to an earlier state, which then begins again", Args: between(1, 2),
		Long: `Return a task to a state that its workflow lets begin again: one that comes before its present one,
or the present one itself. Orange ends an agent that is at work, sets the files of the state's
folder aside, and starts the state's agent. This is the only way to reopen a task that is done.
Inside a workspace the ID can be left out.`,
		Example: "  orange task redo 4Fz planning --reason \"the requirements have changed\"",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			state := args[len(args)-1]
			id, err := p.find(ctx, h, args[:len(args)-1])
			if err != nil {
				return err
			}
			actor, err := key.actor(ctx, h, id, "", state)
			if err != nil {
				return err
			}
			return mover{&p.finder}.redo(ctx, h, id, task.Status(state), actor, reason)
		}),
	}
	key.flag(c)
	c.Flags().StringVar(&reason, "reason", "", "why, for the history")
	return c
}

func (mv mover) redo(ctx context.Context, h *Services, id string, to task.Status, actor task.Actor,
	reason string) error {
	if err := mv.sureIfGuessed(id, actor, "Redo "+string(to)+" of", "not done again"); err != nil {
		return err
	}
	return mv.tellRedo(h.Commands.Redo(ctx, id, to, actor, reason))
}

// tellRedo tells of a state that began again.
func (mv mover) tellRedo(out record.Outcome, err error) error {
	if err := mv.tellAnswer(out, err); err != nil {
		return err
	}
	for _, h := range out.Hooks {
		if h.Action == action.SetAside && h.State == task.HookDone && !mv.json {
			mv.say("  the earlier files, if there were any, are in %s of the task's folder",
				task.AsideName(h.Event, h.Folder))
		}
	}
	return nil
}

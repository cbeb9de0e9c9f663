package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func taskNext(p *Program) *cobra.Command {
	var ask asker
	var override, to string
	c := &cobra.Command{
		Use: "next [ID]", Short: "Make the one move that the evidence supports", Args: between(0, 1),
		Long: `Make the one move that the evidence supports, and say what it rests on. Where no move is supported,
or several are, nothing changes, every condition that is not met is listed, and the exit status is
3.

--override REASON makes a move in spite of its conditions, where the workflow allows that; the
reason is kept in the history.`,
		Example: "  orange task next\n  orange task next 4Fz --override \"I accept the risk\"",
	}
	c.RunE = p.onKeyed(&ask.as, &ask.requestKey, func(ctx context.Context, h *Services, id string,
		actor task.Actor) error {
		overriding := c.Flags().Changed("override")
		if to != "" && !overriding {
			return usage("--to goes with --override; to ask for a status, there is: orange task update --status %s", to)
		}
		if overriding && strings.TrimSpace(override) == "" {
			return usage("an override needs a reason: --override \"why\"")
		}
		reason := ask.reason
		if overriding {
			reason = override
		}
		return mover{&p.finder}.next(ctx, h, id, actor, overriding, task.Status(to), reason)
	})
	c.Flags().StringVar(&override, "override", "", "make the move in spite of its conditions, for this reason")
	c.Flags().StringVar(&to, "to", "", "the status, where several moves may be overridden")
	ask.flags(c)
	return c
}

func (mv mover) next(ctx context.Context, h *Services, id string, actor task.Actor, override bool, to task.Status,
	reason string) error {
	return mv.tellReason(h.Commands.Next(ctx, id, actor, override, to, reason))
}

// tellReason tells of a move with what it rests on.
func (mv mover) tellReason(out record.Outcome, err error) error {
	if err := mv.tellAnswer(out, err); err != nil || mv.json || !out.Event.IsMove() {
		return err
	}
	mv.say("  because: %s", out.Event.Reason)
	return nil
}

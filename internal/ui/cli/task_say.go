package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/history"
)

func taskSay(p *Program) *cobra.Command {
	var role string
	var key requestKey
	c := &cobra.Command{
		Use: "say ID TEXT", Short: "Say something to an agent, without opening its window", Args: between(2, 2),
		Long: `Say something to the agent of a task's status, or to that of --role; - reads standard input. If the
status has no agent of its own, the worker gets it. The history records the text and who said it.

An agent that waits with "orange task wait" gets the text there. Otherwise Orange types it into the
agent's window as soon as that is safe: not into a dialog, not while a person types there, and, if
its harness file has "ready:", not before the screen shows the input. If that pattern matches an
empty input only, the text never joins a draft. Orange refuses after 15 seconds, or at once if
a dialog is open or no such agent lives. Then the agent has got nothing.

Only people can say something to agents. A text has at most 4 KB.`,
		Example: "  orange task say 4Fz \"Use port 8081 instead\"\n  orange task say 4Fz - <answer.txt",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			actor, text, err := key.actorAndText(ctx, &p.input, h, id, "", args[1])
			if err != nil {
				return err
			}
			to, how, err := h.Commands.Say(ctx, id, role, text, actor)
			if err != nil {
				return err
			}
			switch {
			case p.json:
				return p.printJSON(map[string]any{"id": id, "role": to, "how": how})
			case how == history.HowWait:
				p.say("said to the %s of %s, which waits for its turn", to, id)
			default:
				p.say("said to the %s of %s: typed into its window", to, id)
			}
			return nil
		}),
	}
	key.flag(c)
	c.Flags().StringVar(&role, "role", "", "which agent gets it: worker or reviewer (default: the agent of the status)")
	return c
}

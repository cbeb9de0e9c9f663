package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

func taskRequestChanges(p *Program) *cobra.Command {
	var as string
	var key requestKey
	c := &cobra.Command{
		Use: "request-changes ID [TEXT]", Short: "Send a task back to its worker, with what to change",
		Args: between(1, 2),
		Long: "Send a task back to its worker.\n" +
			"TEXT goes under ## Fix Instructions in the task's document; - reads standard input.",
		Example: `  orange task request-changes 4Fz "Use the existing helper instead of a new one"`,
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			actor, text, err := key.actorAndText(ctx, &p.input, h, id, as, strings.Join(args[1:], ""))
			if err != nil {
				return err
			}
			return p.tellAnswer(h.Commands.RequestChanges(ctx, id, strings.TrimSpace(text), actor))
		}),
	}
	asFlag(c, &as)
	key.flag(c)
	return c
}

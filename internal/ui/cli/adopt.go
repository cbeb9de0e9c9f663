package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
)

func adoptCommand(p *Program) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "adopt", Short: "Take over the tasks that an earlier Orange left", Args: between(0, 0),
		Long: `List the tasks that an earlier Orange left: those that have a folder, a TASK.md with its header, and
no history of this program. Nothing changes before you say --yes.

A task comes over with the status, branch, worktree and counters of its header. Its agents do not
live: respawn starts the one of its status, in a worktree of its own if it has none. Its history of
before stays as it was, and "orange task history" shows it first. It proves nothing: a merge of what
was reviewed before asks for a person's word.`,
		Example: "  orange adopt\n  orange adopt --yes",
		RunE: func(c *cobra.Command, _ []string) error {
			err := p.examine(c.Context(), record.Examination{Older: true, Rebuild: yes})
			_, told := errors.AsType[*ended](err)
			if (err == nil || told) && !p.json && !yes {
				p.say("%s", `nothing was changed; "orange adopt --yes" takes over those that can be`)
			}
			return err
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "take them over")
	return c
}

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/record"
)

func (p *Program) taskVerify() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "verify [ID]", Short: "Check that a task's past was not changed, and that record, history, files " +
			"and evidence agree", Args: between(0, 1),
		Long: `Check that the history of a task is whole and unchanged (every event holds the hash of the one
before), that it says what is on record (status, counters, evidence that was spent, what was there
when the status began, hooks), that no decision has lost what it was made from, that the files say
the same, and that every workflow and text which an event names is kept as it was. Each disagreement
is printed with its line or event. With --all, tasks that are gone from the record and that no one
has deleted are reported too, and a task that cannot be read does not stop the check of the others.
What cannot be compared is reported. Nothing is changed. Exit status: 0 if everything agrees, 1 if
something does not.

With --json: {"findings": [{"check", "level", "subject", "found", "advice"}], "ok": whether all
agree}.`,
		Example: "  orange task verify 4Fz\n  orange task verify --all --json",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			ids, err := p.chosen(ctx, h, args, all)
			if err != nil {
				return err
			}
			far := p.progress()
			look := func() ([]record.Finding, error) { return h.Queries.Verify(ctx, ids) }
			if all {
				look = func() ([]record.Finding, error) { return h.Queries.VerifyAll(ctx, p.project, far.tell) }
			}
			found, err := look()
			far.end()
			if err != nil {
				return err
			}
			return p.findings(found)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "all tasks")
	return c
}

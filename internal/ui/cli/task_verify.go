package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/signed"
)

func taskVerify(p *Program) *cobra.Command {
	var all bool
	var people string
	c := &cobra.Command{
		Use: "verify [ID]", Short: "Check that a task's past was not changed, and that record, history, files " +
			"and evidence agree", Args: between(0, 1),
		Long: `Check that the history of a task is whole and unchanged (every event holds the hash of the one
before), that it says what is on record (status, counters, evidence that was spent, what was there
when the status began, hooks), that no decision has lost what it was made from, that the files say
the same, and that every workflow, text and commit which an event names is there as it was. Each
disagreement is printed with its line or event. With --all, tasks that are gone from the record and
that no one has deleted are reported too, and a task that cannot be read does not stop the check of
the others. What cannot be compared is reported. Nothing is changed. Exit status: 0 if everything
agrees, 1 if something does not.

With --people, a list of people in the form of ssh's allowed signers, every signature in the history
is checked: that one of them has made it, for this task, and for who the event says. What people ask
for at the host itself has none.

With --json: {"findings": [{"check", "level", "subject", "found", "advice"}], "ok": whether all
agree}.`,
		Example: "  orange task verify 4Fz\n  orange task verify --all --json",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			ids, err := p.idsOf(ctx, h, args, all)
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
			if err == nil && people != "" {
				var more []record.Finding
				more, err = verifySigned(ctx, &p.input, h, ids, people)
				found = append(found, more...)
			}
			if err != nil {
				return err
			}
			return sayFindings(&p.printer, found)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "all tasks")
	c.Flags().StringVar(&people, "people", "",
		"check what people have signed, by the keys of this file; - reads standard input")
	return c
}

// verifySigned checks what people have signed of tasks.
func verifySigned(ctx context.Context, p *input, h *Services, ids []string, file string) ([]record.Finding, error) {
	text, err := p.read("the list of people", file)
	if err != nil {
		return nil, err
	}
	people, err := signed.ParsePeople(text)
	if err != nil {
		return nil, err
	}
	var found []record.Finding
	for _, id := range ids {
		events, err := h.Queries.History(ctx, id)
		if err != nil {
			return nil, err
		}
		found = append(found, people.Verify(id, events)...)
	}
	return found, nil
}

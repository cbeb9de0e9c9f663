package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/record"
	"orange/internal/task"
)

func (p *Program) taskUpdate() *cobra.Command {
	var ask asker
	var status, summary, branch string
	c := &cobra.Command{
		Use: "update [ID]", Short: "Ask for a status, or change the summary or the branch", Args: between(0, 1),
		Long: `Ask for a status, or change the summary or the branch. A status is granted only where the workflow
has the transition, the caller's role may ask for it, and the evidence is there; else nothing
changes and the exit status is 3.
--branch without a value takes over the branch that the workspace has now.`,
		Example: `  orange task update --status agent-review
  orange task update 4Fz --branch fix/typo --summary "Mend the typo"`,
	}
	c.RunE = p.onKeyed(&ask.as, &ask.requestKey, func(ctx context.Context, h *Services, id string,
		actor task.Actor) error {
		u := task.Update{Actor: actor}
		if ask.given() && status != "" && (c.Flags().Changed("summary") || c.Flags().Changed("branch")) {
			return usage("a key is of one request: ask for the status alone, under a key of its own")
		}
		if c.Flags().Changed("summary") {
			if err := checkSummary(summary); err != nil {
				return err
			}
			u.Summary = &summary
		}
		if c.Flags().Changed("branch") {
			name := strings.TrimPrefix(branch, presentBranch) // empty where the present one is meant
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

// presentBranch stands for --branch without a value. The help shows it, and no branch can have a name with spaces.
const presentBranch = "the present one"

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
	return p.answered(h.Commands.Request(ctx, req))
}

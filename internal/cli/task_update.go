package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/record"
	"orange/internal/task"
)

func (p *Program) taskUpdate() *cobra.Command {
	var ask asker
	var status, summary, branch, worker, reviewer string
	c := &cobra.Command{
		Use: "update [ID]", Short: "Ask for a status, or change the summary, the branch or a harness",
		Args: between(0, 1),
		Long: `Ask for a status, or change the summary, the branch or a harness. A status is granted only where
the workflow has the transition, the caller's role may ask for it, and the evidence is there; else
nothing changes and the exit status is 3.
--branch without a value takes over the branch that the workspace has now. A harness counts for the
agents that are started from now on: "orange task respawn" starts one again that has ended.`,
		Example: `  orange task update --status agent-review
  orange task update 4Fz --branch fix/typo --summary "Mend the typo"
  orange task update 4Fz --harness codex`,
	}
	c.RunE = p.onKeyed(&ask.as, &ask.requestKey, func(ctx context.Context, h *Services, id string,
		actor task.Actor) error {
		u := task.Update{Actor: actor}
		if ask.given() && status != "" && slices.ContainsFunc([]string{"summary", "branch", "harness",
			"review-harness"}, c.Flags().Changed) {
			return usage("a key is of one request: ask for the status alone, under a key of its own")
		}
		if c.Flags().Changed("summary") {
			if err := checkSummary(summary); err != nil {
				return err
			}
			u.Summary = &summary
		}
		for name, one := range map[string]struct {
			role  string
			value *string
			into  **string
		}{"harness": {task.RoleWorker, &worker, &u.Harness},
			"review-harness": {task.RoleReviewer, &reviewer, &u.ReviewHarness}} {
			if !c.Flags().Changed(name) {
				continue
			}
			if err := h.Harnesses.There(*one.value, one.role, os.Getenv("PATH")); err != nil {
				return err
			}
			*one.into = one.value
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
	c.Flags().StringVar(&worker, "harness", "", "the agent program of the workers that start from now on")
	c.Flags().StringVar(&reviewer, "review-harness", "", "that of the reviewers")
	c.Flags().StringVar(&branch, "branch", "", "the new branch; without a value the one that the workspace has now")
	c.Flags().Lookup("branch").NoOptDefVal = presentBranch
	ask.flags(c)
	return c
}

// presentBranch stands for --branch without a value. The help shows it, and no branch can have a name with spaces.
const presentBranch = "the present one"

func (p *Program) update(ctx context.Context, h *Services, id string, u task.Update, req task.Request) error {
	changes := u.Summary != nil || u.Branch != nil || u.Harness != nil || u.ReviewHarness != nil
	if !changes && req.To == "" {
		return usage("nothing to update: give --status, --summary, --branch, --harness or --review-harness")
	}
	if changes {
		t, err := h.Commands.Update(ctx, id, u)
		if err != nil {
			return err
		}
		if req.To == "" {
			said := t.ID + " is on branch " + t.Branch + ": " + t.Summary
			if u.Harness != nil || u.ReviewHarness != nil {
				said = fmt.Sprintf("%s: worker %s, reviewer %s", t.ID, t.Harness, cmp.Or(t.ReviewHarness, t.Harness))
			}
			return p.outcome(record.Outcome{Task: t}, said)
		}
	}
	return p.answered(h.Commands.Request(ctx, req))
}

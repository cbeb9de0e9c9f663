package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

func taskUpdate(p *Program) *cobra.Command {
	var ask asker
	var status, summary, branch, worker, reviewer string
	var allowed []string
	var seen bool
	c := &cobra.Command{
		Use: "update [ID]", Short: "Ask for a status, or change the summary, the branch or a harness",
		Args: between(0, 1),
		Long: `Ask for a status, or change the summary, the branch or a harness. A status is granted only where
the workflow has the transition, the caller's role may ask for it, and the evidence is there; else
nothing changes and the exit status is 3.
--branch without a value takes over the branch that the workspace has now. A harness counts for the
agents that are started from now on: "orange task respawn" starts one again that has ended.
--may-change is a person's: the task may change files that its project protects from then on. So is
--seen: it takes away the mark of a task that is over, such as one that was merged elsewhere, or of
one whose agent was refused too often.`,
		Example: `  orange task update --status agent-review
  orange task update 4Fz --branch fix/typo --summary "Mend the typo"
  orange task update 4Fz --harness codex`,
	}
	c.RunE = p.onKeyed(&ask.as, &ask.requestKey, func(ctx context.Context, h *Services, id string,
		actor task.Actor) error {
		u := task.Update{Actor: actor, Reason: ask.reason, Seen: seen}
		var err error
		if u.MayChange, err = mayChange(allowed); err != nil {
			return err
		}
		if ask.given() && status != "" && changesApart(c) {
			return usage("a key is of one request: ask for the status alone, under a key of its own")
		}
		if c.Flags().Changed("summary") {
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
			if err := h.Home.There(*one.value, one.role, proc.Getenv(ctx, "PATH")); err != nil {
				return err
			}
			*one.into = one.value
		}
		if c.Flags().Changed("branch") {
			name := strings.TrimPrefix(branch, presentBranch) // empty where the present one is meant
			u.Branch = &name
		}
		return mover{&p.finder}.update(ctx, h, id, u, task.Request{Task: id, To: task.Status(status), Actor: actor,
			Reason: ask.reason})
	})
	c.Flags().StringVar(&status, "status", "", "the status to ask for")
	c.Flags().StringVar(&summary, "summary", "", "the new summary")
	c.Flags().StringVar(&worker, "harness", "", "the agent program of the workers that start from now on")
	c.Flags().StringVar(&reviewer, "review-harness", "", "that of the reviewers")
	c.Flags().StringArrayVar(&allowed, "may-change", nil, "the task may change files of this pattern, though the "+
		"project protects them; with --reason (repeatable)")
	c.Flags().BoolVar(&seen, "seen", false,
		"take away the mark of a task that is over or whose agent was refused: you have looked at it")
	c.Flags().StringVar(&branch, "branch", "", "the new branch; without a value the one that the workspace has now")
	c.Flags().Lookup("branch").NoOptDefVal = presentBranch
	ask.flags(c)
	return c
}

// mayChange are the patterns of protected files that a task may change.
func mayChange(given []string) ([]string, error) {
	patterns := withoutEmpty(given)
	for _, one := range patterns {
		if err := checkPattern("may-change", one); err != nil {
			return nil, err
		}
	}
	return patterns, nil
}

// changesApart reports whether an update changes something besides the status, which is a request of its own.
func changesApart(c *cobra.Command) bool {
	return slices.ContainsFunc([]string{"summary", "branch", "harness", "review-harness", "may-change", "seen"},
		c.Flags().Changed)
}

// presentBranch stands for --branch without a value. The help shows it, and no branch can have a name with spaces.
const presentBranch = "the present one"

func (mv mover) update(ctx context.Context, h *Services, id string, u task.Update, req task.Request) error {
	changes := u.Summary != nil || u.Branch != nil || u.Harness != nil || u.ReviewHarness != nil ||
		len(u.MayChange) > 0 || u.Seen
	if !changes && req.To == "" {
		return usage("nothing to update: give --status, --summary, --branch, --harness, --review-harness, " +
			"--may-change or --seen")
	}
	if changes {
		if req.To != "" {
			u.Actor = u.Actor.Unmarked() // a repeat is answered once the status is there
		}
		t, err := h.Commands.Update(ctx, id, u)
		if err != nil {
			return err
		}
		if req.To == "" {
			said := t.ID + " is on branch " + t.Branch + ": " + t.Summary
			if len(u.MayChange) > 0 {
				said = t.ID + " may change " + strings.Join(u.MayChange, " ")
			}
			if u.Seen {
				said = t.ID + " has no mark any more"
			}
			if u.Harness != nil || u.ReviewHarness != nil {
				said = fmt.Sprintf("%s: worker %s, reviewer %s", t.ID, t.Harness, cmp.Or(t.ReviewHarness, t.Harness))
			}
			return mv.tellOutcome(record.Outcome{Task: t}, said)
		}
	}
	return mv.tellAnswer(h.Commands.Request(ctx, req))
}

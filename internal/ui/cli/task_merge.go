package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func taskMerge(p *Program) *cobra.Command {
	var m task.Merge
	var as string
	var key requestKey
	var how mergeFlags
	c := &cobra.Command{
		Use: "merge [ID]", Short: "Merge a task's branch into the default branch, and finish the task",
		Args: between(0, 1),
		Long: `Merge a task's branch into the default branch, and finish the task. If there is an origin, Orange
pushes the merge there first, and the local branch follows; if origin refuses it, nothing changes.
Where no flag says otherwise, Orange follows the project's settings (orange project update --help).
Commits that only your local default branch has go to origin with a merge if you give their number:
--with 2. Orange never switches or resets your own checkout: if it has the default branch, Orange
fast-forwards it where git considers that safe. If the task's pull request is merged, Orange only
finishes the task; one that is open is merged there, or here with --local.

Orange merges the commit that the decision was about. If the workflow wants no commits after the
review, Orange refuses a later commit: have it reviewed too, or merge it with --override REASON,
if the workflow allows that. Your name and the reason are in the history.`,
		Example: "  orange task merge 4Fz --no-push\n  orange task merge 4Fz --strategy squash\n  orange task " +
			"merge 4Fz --override \"only a comment was changed since\"",
		PreRunE: func(c *cobra.Command, _ []string) error {
			if err := how.into(&m); err != nil {
				return err
			}
			if c.Flags().Changed("override") && strings.TrimSpace(m.Override) == "" {
				return usage("found no reason behind --override, expected why you merge in spite of what the " +
					"workflow asks for")
			}
			return nil
		},
		RunE: p.onKeyed(&as, &key, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if err := p.sureIfGuessed(id, actor, "Merge", "not merged"); err != nil {
				return err
			}
			return mover{&p.finder}.merge(ctx, h, id, m, actor)
		}),
	}
	how.add(c)
	c.Flags().StringVar(&m.Override, "override", "",
		"merge the tip although the workflow's conditions do not hold, for this reason")
	asFlag(c, &as)
	key.flag(c)
	c.Flags().BoolVar(&m.Local, "local", false, "merge on this machine, without looking for a pull request")
	return c
}

// merge merges a task's branch. Where it is not said whether to push, a person at a terminal is asked.
func (mv mover) merge(ctx context.Context, h *Services, id string, m task.Merge, actor task.Actor) error {
	out, done, err := h.Commands.Merge(ctx, id, m, actor)
	refused, is := errors.AsType[*rejection.Rejection](err)
	if is && refused.Code == rejection.PushUnanswered && mv.Terminal && !mv.json && actor.Role == task.RoleHuman {
		push, unanswered := mv.agrees("push the merge to origin?")
		if unanswered != nil {
			return unanswered
		}
		if m.Push = "never"; push {
			m.Push = "always"
		}
		out, done, err = h.Commands.Merge(ctx, id, m, actor)
	}
	if err != nil {
		return err
	}
	return mv.tellMerge(out, done, actor)
}

// tellMerge tells of a merge.
func (mv mover) tellMerge(out record.Outcome, done string, actor task.Actor) error {
	if !mv.json {
		mv.say("%s: %s", out.Task.Branch, done)
	}
	return mv.tellDone(out, "", actor, map[string]any{"how": done})
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func mergeMany(p *Program) *cobra.Command {
	in := record.MergeMany{}
	var how mergeFlags
	c := &cobra.Command{
		Use: "merge [TASK...]", Short: "Merge several tasks, one on top of the other",
		Args: cobra.ArbitraryArgs,
		Long: `Merge several tasks of a project into the default branch, one on top of the other, and finish them:
those that you name, in that order, or all that wait to be merged, the longest waiting first. Each
is merged as orange task merge does it, and its result is checked if the project or the workflow
names a check. A task that conflicts, fails its check or is refused stays as it was, and the next
one follows. If the command was stopped, run it again: it goes on with the tasks that are left.

--dry-run says what each merge would result in. It fetches from origin, and changes nothing else.
--bisect checks the result of all together. If that is green, each task is merged without a check
of its own; if it is red, each half is tried.`,
		Example: "  orange merge --dry-run\n  orange merge 4Fz 8kQ --bisect",
	}
	c.PreRunE = func(*cobra.Command, []string) error { return how.into(&in.Merge) }
	c.RunE = p.runForPerson("merge tasks", func(ctx context.Context, h *Services, args []string) error {
		for _, arg := range args {
			id, err := p.find(ctx, h, []string{arg})
			if err != nil {
				return err
			}
			if !slices.Contains(in.Tasks, id) {
				in.Tasks = append(in.Tasks, id)
			}
		}
		if len(in.Tasks) > 0 {
			first, _, err := h.Queries.Pinned(ctx, in.Tasks[0])
			if err != nil {
				return err
			}
			in.Project = first.Project
		} else {
			project, err := p.projectOf(ctx, h)
			if err != nil {
				return err
			}
			in.Project = project.Name
		}
		return mergeAll(ctx, &p.finder, h, in)
	})
	how.add(c)
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "say what would become of each, and merge nothing")
	c.Flags().BoolVar(&in.Bisect, "bisect", false, "check all of them together, and halves where that is red")
	c.MarkFlagsMutuallyExclusive("dry-run", "bisect")
	return c
}

func mergeAll(ctx context.Context, p *finder, h *Services, in record.MergeMany) error {
	actor, err := h.Identity.Actor(ctx, "", "")
	if err != nil {
		return err
	}
	for _, id := range in.Tasks {
		if in.DryRun {
			break
		}
		if err := p.sureIfGuessed(id, actor, "Merge", "not merged"); err != nil {
			return err
		}
	}
	merged, left := []map[string]any{}, []map[string]any{}
	known := lastConflicts(ctx, &p.printer, h, []task.Task{{Project: in.Project}})[in.Project] // the merges change it
	err = h.Commands.MergeMany(ctx, in, actor, func(one record.MergedOne) {
		about := map[string]any{"id": one.Task.ID, "branch": one.Task.Branch}
		if why := known.Why(one.Task.ID); why != "" {
			about["conflicts_unknown"] = why
		}
		if one.Left == nil {
			about["how"] = one.How
			maps.Copy(about, besides(one.Outcome))
			merged = append(merged, about)
		} else {
			_, about["code"] = classify(one.Left)
			about["error"] = one.Left.Error()
			if refused, is := errors.AsType[*rejection.Rejection](one.Left); is {
				about["details"] = orEmpty(refused.Details)
			}
			if len(one.With) > 0 {
				about["with"] = one.With
			}
			left = append(left, about)
		}
		if !p.json {
			p.say("%s", wordsOf(one, known.Unknown[one.Task.ID]))
		}
	})
	if err != nil && (!p.json || len(merged)+len(left) == 0) {
		return err
	}
	if p.json {
		answer := map[string]any{"merged": merged, "left": left, "dry_run": in.DryRun}
		status := 0
		if err != nil { // of what concerns all that were not tried
			status, answer["code"] = classify(err)
			answer["error"] = err.Error()
		}
		if err := p.printJSON(answer); err != nil {
			return err
		}
		if err != nil {
			return &ended{status: status}
		}
	} else {
		verb := "merged"
		if in.DryRun {
			verb = "would be merged"
		}
		if len(merged)+len(left) == 0 {
			p.say("no task of %s waits to be merged", in.Project)
			return nil
		}
		p.say("%d %s, %d left out", len(merged), verb, len(left))
	}
	if len(left) > 0 && !in.DryRun {
		return &ended{status: exitFailed}
	}
	return nil
}

// wordsOf says what became of one task; unknown is why its branch was not compared with the others, if it was not.
func wordsOf(one record.MergedOne, unknown string) string {
	name := fmt.Sprintf("%s (%s)", one.Task.Branch, one.Task.ID)
	if unknown != "" {
		name += ", not compared with the other branches (" + unknown + ")"
	}
	switch {
	case len(one.With) > 0:
		return fmt.Sprintf("%s: left out, in conflict with %s: %v", name, strings.Join(one.With, ", "), one.Left)
	case one.Left != nil:
		return fmt.Sprintf("%s: left out: %v", name, one.Left)
	}
	return fmt.Sprintf("%s: %s", name, one.How)
}

// mergeFlags are the flags of a merge that say otherwise than the project.
type mergeFlags struct {
	strategy   string
	push, stay bool
	with       int
}

func (m *mergeFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&m.strategy, "strategy", "",
		"ff: only fast-forward; merge: make a merge commit; squash: make one commit of all (default: what the "+
			"project says, or whichever of ff and merge is possible)")
	c.Flags().BoolVar(&m.push, "push", false, "bring the merge to origin, whatever the project says")
	c.Flags().BoolVar(&m.stay, "no-push", false, "leave origin out, whatever the project says")
	c.MarkFlagsMutuallyExclusive("push", "no-push")
	c.Flags().IntVar(&m.with, "with", 0, "how many commits that only the local default branch has go to origin "+
		"with it")
}

// into puts the flags into a merge.
func (m *mergeFlags) into(merge *task.Merge) error {
	if m.strategy != "" && !slices.Contains([]string{"ff", "merge", "squash"}, m.strategy) {
		return usage("found %q as --strategy, expected ff, merge or squash", m.strategy)
	}
	if m.with < 0 {
		return usage("found %d as --with, expected how many commits go to origin with the merge", m.with)
	}
	merge.Strategy, merge.With = m.strategy, m.with
	switch {
	case m.push:
		merge.Push = "always"
	case m.stay:
		merge.Push = "never"
	}
	return nil
}

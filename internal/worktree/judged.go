package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Judged lists the tasks for which trees are kept that were judged, sorted.
func (r Repo) Judged(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, "for-each-ref", "--format=%(refname)", "--", judgedRefs, judgedTrackedRefs)
	if err != nil {
		return nil, fmt.Errorf("cannot list the trees that were judged: %w", err)
	}
	var all []string
	for _, ref := range strings.Fields(out.Text()) {
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(ref, judgedRefs), judgedTrackedRefs))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// ForgetJudged lets go of the trees that were judged for a task, which nothing names any more. Where neither the
// branch nor what was kept for the task has these files, they are kept like all work: they were taken back, and
// no commit has them. After a good end that is asked only of files that git knew: the commit left out those that
// tests had written.
func (r Repo) ForgetJudged(ctx context.Context, taskID, branch string, well bool) (kept []Rescue, err error) {
	if err := checkTask(taskID); err != nil {
		return nil, err
	}
	defer explain(&err, "cannot let go of what was judged for task %q", taskID)
	var made Trees
	var forget strings.Builder
	for ref, tree := range map[string]*string{judgedRefs + taskID: &made.Whole,
		judgedTrackedRefs + taskID: &made.Tracked} {
		found, err := r.objectOf(ctx, ref)
		if errors.Is(err, errNoRef) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref, err)
		}
		*tree = found
		fmt.Fprintf(&forget, "delete %s %s\n", ref, found)
	}
	if forget.Len() == 0 {
		return nil, nil
	}
	if kept, err = r.keepJudged(ctx, taskID, branch, made, well); err != nil {
		return kept, err
	}
	return kept, r.updateRefs(ctx, forget.String())
}

// keepJudged keeps the files that were judged, unless the branch has them or an earlier rescue of the task.
func (r Repo) keepJudged(ctx context.Context, taskID, branch string, made Trees, well bool) ([]Rescue, error) {
	if made.Whole == "" || made.Tracked == "" {
		return nil, nil // one of both alone was never judged
	}
	have, err := r.rescues(ctx, taskID)
	if err != nil {
		return nil, err
	}
	var holders, parents []string
	for _, one := range have {
		holders = append(holders, one.commit)
	}
	tip, err := r.Tip(ctx, branch)
	if err != nil {
		return nil, err
	}
	if tip != "" {
		holders, parents = append(holders, tip), []string{"-p", tip}
	}
	for _, commit := range holders {
		if has, err := r.has(ctx, commit, made, well); err != nil || has {
			return nil, err
		}
	}
	kept := Rescue{What: uncommitted}
	message := fmt.Sprintf("Orange: what was judged of task %s\n\nBranch: %s\n", taskID, cmp.Or(branch, none))
	if kept.Commit, err = (Slot{Repo: r, Dir: r.Path}).commitTree(ctx, made.Whole, message, parents); err != nil {
		return nil, err
	}
	if kept, err = r.newRescue(ctx, taskID, branch, kept); err != nil {
		return nil, err
	}
	return []Rescue{kept}, nil
}

// has reports whether a commit has the files that were judged, be it with others next to them; with knownOnly,
// those that git knew then.
func (r Repo) has(ctx context.Context, commit string, made Trees, knownOnly bool) (bool, error) {
	apart, err := r.diffTrees(ctx, made.Whole, commit+"^{tree}")
	if err != nil {
		return false, err
	}
	var unknown map[string]bool
	if knownOnly {
		if unknown, err = r.unknownFiles(ctx, made); err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(apart, func(d difference) bool {
		return d.kind != added && (d.kind != removed || !unknown[d.path])
	}), nil
}

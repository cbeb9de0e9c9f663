package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/fencing"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// MergeMany merges several tasks, one on top of the other, each as Merge does. One that cannot be merged, because of a
// conflict, a red check or a refusal, is left out, and the next one follows. told is called for each as soon as it is
// known what became of it. The error is of what concerns all, or of a task that cannot be looked at: then the rest was
// not tried, and those before are merged. If MergeMany was cut short and runs again, it goes on with the tasks that are
// left.
func (e *merges) MergeMany(ctx context.Context, in record.MergeMany, actor task.Actor,
	told func(record.MergedOne)) error {
	tasks, err := e.toMerge(ctx, in)
	if err != nil {
		return err
	}
	m := mergingMany{merging{e, in.Merge, actor}, told}
	switch {
	case len(tasks) == 0:
		return nil
	case in.DryRun:
		return m.tellPlan(ctx, tasks)
	case in.Bisect:
		return m.halves(ctx, tasks)
	}
	return m.inTurn(ctx, tasks)
}

// mergingMany is the merge of several tasks.
type mergingMany struct {
	merging
	told func(record.MergedOne)
}

// toMerge are the tasks that are to be merged. Each is of the project.
func (e *merges) toMerge(ctx context.Context, in record.MergeMany) (tasks []task.Task, err error) {
	if len(in.Tasks) > 0 {
		for _, id := range in.Tasks {
			s, err := e.record.Load(ctx, id)
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, s.Task)
			if s.Task.Project != in.Project {
				return nil, task.Notef(task.ErrUsage, "cannot merge task %s with the others: it is of project %q, "+
					"and they are of %q", id, s.Task.Project, in.Project)
			}
		}
		return tasks, nil
	}
	live, err := e.record.List(ctx, record.Filter{Project: in.Project, Live: true})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(live, func(a, b task.Task) int {
		return cmp.Or(a.EnteredAt.Compare(b.EnteredAt), strings.Compare(a.ID, b.ID))
	})
	for _, t := range live {
		def, err := e.rulesOf(ctx, t)
		if err != nil {
			return nil, err
		}
		merge, known := def.Move(workflow.MoveMerge)
		if known && decide.AwaitsMerge(def, t.Status) && t.Status != merge {
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// candidate is a task that is to be merged with others.
type candidate struct {
	task   task.Task
	commit string // that the decision is about
	order  record.MergeOrder
	then   record.Rehearsal
	left   error    // why it cannot be merged
	with   []string // branches that it is in conflict with
}

// plan judges the tasks, and rehearses the merges of those that may be merged. It changes nothing.
func (e *merging) plan(ctx context.Context, tasks []task.Task) (all []candidate, last string, err error) {
	var commits []string
	var fit []int // their places
	for i, t := range tasks {
		one, err := e.candidate(ctx, t.ID)
		if err != nil {
			return nil, "", err
		}
		if all = append(all, one); one.left == nil {
			commits, fit = append(commits, one.commit), append(fit, i)
		}
	}
	if len(fit) == 0 {
		return all, "", nil
	}
	rehearsed, last, err := e.work.Rehearse(ctx, all[fit[0]].task, commits)
	if err != nil {
		return nil, "", err
	}
	moved := false
	for k, then := range rehearsed {
		one := &all[fit[k]]
		one.then = then
		switch {
		case len(then.Files) > 0:
			one.left = &record.Unmerged{Files: then.Files}
			for _, other := range then.With {
				one.with = append(one.with, all[fit[other]].task.Branch)
			}
		case one.order.Strategy == "ff" && !then.Straight && moved:
			one.left = errors.New("it is not straight on top of the one before it, and the strategy is ff")
		default:
			moved = true
		}
	}
	return all, last, nil
}

// candidate judges one task as its merge does.
func (e *merging) candidate(ctx context.Context, id string) (candidate, error) {
	r := mergeRequest(id, e.asked, e.actor)
	s, decision, err := e.requests.judge(ctx, r)
	one := candidate{task: s.Task, commit: s.evidence.Subject.Commit}
	if err == nil && decision.Moved {
		one.order, err = e.mergeWay(ctx, s.Task, r.Request, record.Merging{Asked: e.asked})
	}
	switch {
	case err != nil && !leftOut(err):
		return one, err
	case err != nil:
		one.left = err
	case !decision.Moved:
		one.left = fmt.Errorf("task %s is merged already", id)
	case one.commit == "":
		one.left = fmt.Errorf("the branch of task %s could not be read: %s", id, s.evidence.Subject.Trouble)
	}
	return one, nil
}

// tellPlan says what would become of each task.
func (m *mergingMany) tellPlan(ctx context.Context, tasks []task.Task) error {
	all, _, err := m.plan(ctx, tasks)
	if err != nil {
		return err
	}
	for _, c := range all {
		one := record.MergedOne{Task: c.task, Left: c.left, With: c.with}
		if c.left == nil {
			one.How = fmt.Sprintf("%.7s would be merged", c.commit)
		}
		m.told(one)
	}
	return nil
}

// inTurn merges each task for itself.
func (m *mergingMany) inTurn(ctx context.Context, tasks []task.Task) error {
	var merged []task.Task
	for i, t := range tasks {
		one := record.MergedOne{Task: t}
		out, how, err := m.Merge(ctx, t.ID, m.asked, m.actor)
		switch {
		case err == nil:
			one.Task, one.How, one.Outcome = out.Task, how, out
			m.asked.With = 0 // they went with this one
			merged = append(merged, out.Task)
		case leftOut(err):
			with, unknown := m.inConflict(ctx, t, merged, err)
			if one.Left, one.With = err, with; unknown != nil { // that is no reason to leave others out
				one.Left = fmt.Errorf("%w; which branches it is in conflict with is not known: %w", err, unknown)
			}
			err = nil
		}
		if err == nil {
			m.told(one)
			continue
		}
		if rest := len(tasks) - i - 1; i > 0 && rest > 0 {
			err = fmt.Errorf("%w; %d more tasks were not tried", err, rest)
		}
		return err
	}
	return nil
}

// inConflict are the branches of merged tasks that a task's branch is in conflict with, if it was left out for one.
func (m *mergingMany) inConflict(ctx context.Context, t task.Task, merged []task.Task, left error) (
	with []string, err error) {
	unmerged, is := errors.AsType[*record.Unmerged](left)
	if !is || len(unmerged.Files) == 0 || len(merged) == 0 {
		return nil, nil
	}
	var commits []string // of the merged ones, and its own
	for _, one := range append(slices.Clone(merged), t) {
		tip := m.work.Subject(ctx, one, false)
		if tip.Commit == "" {
			return nil, fmt.Errorf("branch %q could not be read: %s", one.Branch, tip.Trouble)
		}
		commits = append(commits, tip.Commit)
	}
	tried, _, err := m.work.Rehearse(ctx, t, commits)
	if err != nil {
		return nil, err
	}
	for _, other := range tried[len(merged)].With {
		with = append(with, merged[other].Branch)
	}
	return with, nil
}

// halves checks the result of all merges together. Where that is green each of them is merged without a check of
// its own, and where it is red each half is tried, the second one on top of the first.
func (m *mergingMany) halves(ctx context.Context, tasks []task.Task) error {
	all, last, err := m.plan(ctx, tasks)
	if err != nil {
		return err
	}
	var fit, unfit []task.Task
	var trees []string
	var checks []record.MergeCheck
	var any task.Task
	for _, c := range all {
		if c.left != nil {
			unfit = append(unfit, c.task)
			continue
		}
		fit, trees, any = append(fit, c.task), append(trees, c.then.Tree), c.task
		for _, check := range c.order.Checks {
			same := func(other record.MergeCheck) bool { return slices.Equal(other.Argv, check.Argv) }
			if !slices.ContainsFunc(checks, same) {
				checks = append(checks, check)
			}
		}
	}
	if len(fit) < 2 || len(checks) == 0 {
		return m.inTurn(ctx, tasks)
	}
	err = m.work.CheckResult(ctx, any, last, checks)
	if _, red := errors.AsType[*record.Unmerged](err); err != nil && !red {
		return err
	}
	if err == nil {
		whole := *m
		whole.asked.Checked = trees
		if err = whole.inTurn(ctx, fit); err == nil {
			m.asked.With = whole.asked.With
		}
	} else if err = m.halves(ctx, fit[:len(fit)/2]); err == nil {
		err = m.halves(ctx, fit[len(fit)/2:])
	}
	if err == nil && len(unfit) > 0 {
		err = m.inTurn(ctx, unfit)
	}
	return err
}

// leftOut reports whether an error is about one task alone, so that others can be merged without it.
func leftOut(err error) bool {
	_, unmerged := errors.AsType[*record.Unmerged](err)
	refused, is := errors.AsType[*rejection.Rejection](err)
	all := is && (refused.Code == rejection.PushUnanswered || refused.Code == rejection.UnpushedCommits)
	held := errors.Is(err, fencing.ErrHeldBack)
	return unmerged || is && !all || held || errors.Is(err, task.ErrConflict) || errors.Is(err, errNothingToMerge)
}

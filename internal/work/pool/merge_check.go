package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/merge"
	"orange/internal/work/worktree"
)

// mergeSlot is what the name of the worktree ends with in which a project checks what its merges result in. It
// is not one of the pool, and no task ever holds it.
const mergeSlot = "--merge"

// mergeOutput is the companion of such a worktree that has a file for each task whose last merge was red: what its
// checks said.
const mergeOutput = ".checks"

// checkMemory is how many megabytes a check of a merge may use.
const checkMemory = 4 << 10

// resultCheck is the check of a merge of a project; nil where no command is named. The caller holds the project's
// lock of merges, for there is one such worktree a project.
func (p *Pool) resultCheck(t task.Task, repo git.Repo, order record.MergeOrder) func(context.Context,
	string) error {
	checks := order.Checks
	if len(checks) == 0 {
		return nil
	}
	return func(ctx context.Context, commit string) error {
		if len(order.Checked) > 0 {
			tree, err := repo.Tree(ctx, commit)
			if err != nil || slices.Contains(order.Checked, tree) {
				return err
			}
		}
		t.Workspace = t.Project + mergeSlot
		slot := worktree.Slot{Repo: repo, Dir: filepath.Join(p.Home, "merges", t.Workspace)}
		err := p.checkResult(ctx, t, slot, commit, checks)
		if _, red := errors.AsType[*record.Unmerged](err); err != nil && !red {
			return fmt.Errorf("the merged work could not be checked; nothing was changed: %w", err)
		}
		return err
	}
}

func (p *Pool) checkResult(ctx context.Context, t task.Task, slot worktree.Slot, commit string,
	checks []record.MergeCheck) error {
	project, err := p.Setup.Project(t.Project)
	if err != nil {
		return err
	}
	if p.Own == nil {
		return errors.New("there is no environment of tasks")
	}
	env, err := p.Own(ctx, t.Project, t.ID)
	if err != nil {
		return err
	}
	marks := []string{"ORANGE_HOME=" + p.Home, "ORANGE_SETUP=" + t.Workspace}
	if err := endMarked(ctx, marks); err != nil { // of a merge that was killed
		return err
	}
	if err := slot.PlaceAt(ctx, commit); err != nil {
		return err
	}
	if err := letGo(slot); err != nil {
		return err
	}
	own := func(context.Context) ([]string, error) { return env, nil }
	err = p.asOwn(ctx, t, false, func(task.Project) error { return p.makeReadyIn(ctx, t, slot, own) })
	if err != nil {
		return err
	}
	dir, more, err := p.startIn(ctx, t, project.Worktree, slot.Dir)
	if err != nil {
		return err
	}
	stamps, err := slot.Files().Stamps(ctx)
	if err != nil {
		return err
	}
	log := filepath.Join(slot.Companion(mergeOutput), t.ID+".log")
	err = runChecks(ctx, checks, dir, harness.Layer(env, more, marks, aboutTask(t)), log)
	if changed := stamps.Changed(); err == nil && len(changed) > 0 {
		err = &record.Unmerged{Check: strings.Join(checks[0].Argv, " "),
			Said: "files of the commit changed while it or a later check ran: " + strings.Join(changed, ", ")}
	}
	return errors.Join(err, endMarked(context.WithoutCancel(ctx), marks))
}

// runChecks runs the checks one after the other, up to the first that fails. The log is there where one has failed.
func runChecks(ctx context.Context, checks []record.MergeCheck, dir string, env []string, log string) error {
	var said strings.Builder
	for _, c := range checks {
		run := bounded{argv: c.Argv, dir: dir, env: env, time: time.Duration(c.Seconds) * time.Second,
			memory: checkMemory}
		why, output, err := run.run(ctx, &said)
		if err != nil {
			return err
		}
		if why != "" {
			if err := keepOutput(log, said.String()); err != nil {
				return err
			}
			return &record.Unmerged{Check: strings.Join(c.Argv, " "),
				Said: fmt.Sprintf("it %s; all of what it said is in %s: %s", why, log, lastOf(output))}
		}
	}
	if err := os.Remove(log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove what the checks of an earlier merge said: %w", err)
	}
	return nil
}

// Rehearse merges commits of tasks of one project, one on top of the other, and moves nothing.
func (p *Pool) Rehearse(ctx context.Context, t task.Task, commits []string) ([]record.Rehearsal, string, error) {
	repo, err := p.outward(ctx, t)
	if err != nil {
		return nil, "", err
	}
	return merge.Into{Repo: repo}.Rehearse(ctx, commits)
}

// CheckResult runs the checks of a merge on a commit. The error is a *record.Unmerged where one of them fails.
func (p *Pool) CheckResult(ctx context.Context, t task.Task, commit string, checks []record.MergeCheck) error {
	repo, err := p.outward(ctx, t)
	if err != nil {
		return err
	}
	release, err := p.Files.Lock(ctx, t.Project+".merge")
	if err != nil {
		return err
	}
	defer release()
	return p.resultCheck(t, repo, record.MergeOrder{Checks: checks})(ctx, commit)
}

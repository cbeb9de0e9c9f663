package evidence_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/engine/evidence"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/store/mirror"
	"orange/internal/work/worktree"
)

// folders are a worktree and the checkouts of checks, below one folder.
type folders struct {
	dir     string
	away    int
	left    []string
	removed []string
	unready error // of a checkout
	stamps  worktree.Stamps
}

func (f *folders) Place(_ context.Context, t task.Task) (string, []string, error) {
	return filepath.Join(f.dir, t.Workspace), []string{"ORANGE_PORT=20000"}, nil
}

func (f *folders) Scratch(_ context.Context, _ task.Task, name, _ string) (worktree.Checkout, error) {
	dir := filepath.Join(f.dir, name)
	return worktree.Checkout{Dir: dir, Env: []string{"ORANGE_PORT=20000"}, Stamps: f.stamps,
		Away: func(context.Context) error { f.away++; return nil }}, errors.Join(f.unready, os.Mkdir(dir, 0o700))
}

func (f *folders) Scratches() ([]string, error) { return f.left, nil }

func (f *folders) RemoveScratch(_ context.Context, name string) error {
	f.removed = append(f.removed, name)
	return nil
}

func localPrograms(t *testing.T) (evidence.LocalPrograms, *folders) {
	t.Helper()
	f := &folders{dir: t.TempDir()}
	must(t, os.Mkdir(filepath.Join(f.dir, "garden--1"), 0o700))
	home := t.TempDir()
	return evidence.LocalPrograms{Home: home, Folders: f, Locks: mirror.Files{Home: home},
		JQ: []string{"/bin/sh", "-c", "cat; echo; pwd"},
		Environ: func(context.Context, string, string) ([]string, error) {
			return []string{"PATH=" + os.Getenv("PATH")}, nil
		}}, f
}

func TestLocalPrograms_runACheckInTheWorktreeOrInACheckout(t *testing.T) {
	t.Parallel()
	p, f := localPrograms(t)
	one := task.Task{ID: "abc", Project: "garden", Workspace: "garden--1"}
	check := workflow.Check{Named: workflow.Named{Name: "unit"}, Timeout: 20,
		Run: []string{"sh", "-c",
			"basename $PWD; echo $ORANGE_TASK_ID $ORANGE_CHECK $ORANGE_SEAT $ORANGE_PORT; exit 3"}}
	ran, err := p.RunCheck(t.Context(), one, check, "c0ffee")
	if err != nil || ran.Code != 3 || ran.Output != "garden--1\nabc unit check 20000\n" ||
		!slices.Contains(ran.Environment, "ORANGE_PROJECT") || f.away != 0 {
		t.Errorf("it ran %+v, %v", ran, err)
	}
	check.Scratch = true
	ran, err = p.RunCheck(t.Context(), one, check, "c0ffee")
	if err != nil || !strings.HasPrefix(ran.Output, "abc-unit\n") || f.away != 1 {
		t.Errorf("in a checkout: %+v, %v; removed %d times", ran, err, f.away)
	}
	check.Run, check.Scratch = []string{"no-such-program"}, false
	if _, err := p.RunCheck(t.Context(), one, check, ""); err == nil {
		t.Error("a program that is not there ran")
	}
}

func TestLocalPrograms_runJQOutsideOfEveryWorktree(t *testing.T) {
	t.Parallel()
	p, _ := localPrograms(t)
	if said, err := p.RunJQ(t.Context(), []byte("request"), 0); err != nil || said != "request\n/\n" {
		t.Errorf("it said %q, %v", said, err)
	}
}

func TestLocalPrograms_removeTheCheckoutsOfDeadRunsAlone(t *testing.T) {
	t.Parallel()
	p, f := localPrograms(t)
	f.left = []string{"abc-dead", "abc-runs"}
	release, free, err := p.Locks.TryLock(evidence.LockOf("abc-runs"))
	if err != nil || !free {
		t.Fatalf("the lock is free: %v, %v", free, err)
	}
	defer release()
	if all, err := p.Checkouts(); err != nil || !slices.Equal(all, []string{"abc-dead"}) {
		t.Errorf("found %q, %v", all, err)
	}
	must(t, p.RemoveCheckout(t.Context(), "abc-dead"))
	if err := p.RemoveCheckout(t.Context(), "abc-runs"); err == nil || !slices.Equal(f.removed, []string{"abc-dead"}) {
		t.Errorf("removed %q, %v", f.removed, err)
	}
}

func TestACheckoutThatIsNotReady_isRemoved(t *testing.T) {
	t.Parallel()
	p, f := localPrograms(t)
	f.unready = errors.New("the set-up failed")
	check := workflow.Check{Named: workflow.Named{Name: "unit"}, Timeout: 20, Scratch: true, Run: []string{"true"}}
	_, err := p.RunCheck(t.Context(), task.Task{ID: "abc", Workspace: "garden--1"}, check, "c0ffee")
	if !errors.Is(err, f.unready) || f.away != 1 {
		t.Errorf("taken away %d times: %v", f.away, err)
	}
}

package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
	"orange/internal/work/worktree"
)

const (
	checkMemory = 4 << 30
	checkOutput = 64 << 10
	checkGrace  = 2 * time.Second // what a run that no process watches any more gets to end

	jqOutput   = 1 << 20
	jqOuterMem = 1 << 30 // it ends itself far below
)

// noSeat is the seat of no agent: what a check runs was written by an agent, and must not ask for anything in a
// person's name.
const noSeat = "ORANGE_SEAT=check"

// Folders has the folders in which checks run.
type Folders interface {
	// Place is where the task's programs start in its workspace, and what is set for them alone.
	Place(ctx context.Context, t task.Task) (dir string, env []string, err error)
	// Scratch makes a checkout of a commit. Where it fails, its Away may be nil or not.
	Scratch(ctx context.Context, t task.Task, name, commit string) (worktree.Checkout, error)
	Scratches() ([]string, error)
	RemoveScratch(ctx context.Context, name string) error
}

// LocalPrograms runs the programs of a Looker on this machine, within limits. Every field is required.
type LocalPrograms struct {
	Home    string   // $ORANGE_HOME
	JQ      []string // the command that runs ServeJQ
	Folders Folders
	Locks   mirror.Files
	// Environ is what a check of a project's task runs in, without the marks of agents.
	Environ func(ctx context.Context, project, id string) ([]string, error)
	// Detach starts orange with these arguments in a process that outlives this one.
	Detach func(ctx context.Context, args ...string) error
}

// RunJQ runs ServeJQ in a process of its own and answers what that said.
func (p LocalPrograms) RunJQ(ctx context.Context, request []byte, limit time.Duration) (string, error) {
	ran, err := proc.RunLimited(ctx, proc.Command{Name: p.JQ[0], Args: p.JQ[1:], Dir: "/", Base: []string{},
		Stdin: bytes.NewReader(request)}, proc.Limits{Time: limit, Memory: jqOuterMem, Output: jqOutput})
	return ran.Output, err
}

// marks are the variables by which the processes of a check are found.
func (p LocalPrograms) marks(id, check string) []string {
	return []string{"ORANGE_HOME=" + p.Home, "ORANGE_TASK_ID=" + id, "ORANGE_CHECK=" + check}
}

// RunCheck runs a check in the task's workspace, or in a checkout of the commit that is made for the run. A run that
// is killed leaves the checkout there for the next, or until the task gives its workspace back.
func (p LocalPrograms) RunCheck(ctx context.Context, t task.Task, check workflow.Check, commit string) (Run, error) {
	marks := p.marks(t.ID, check.Name)
	env, err := p.Environ(ctx, t.Project, t.ID)
	if err != nil {
		return Run{}, err
	}
	env = append(append(env, marks...), "ORANGE_PROJECT="+t.Project, noSeat)
	// What a runner that was killed left running would disturb this run; and what this one leaves in a session of
	// its own, the next.
	if err := endMarked(ctx, marks); err != nil {
		return Run{}, err
	}
	place, err := p.place(ctx, t, check, commit)
	if err != nil {
		return Run{}, err
	}
	env = append(env, place.Env...)
	program := check.Run[0]
	if strings.ContainsRune(program, '/') && !filepath.IsAbs(program) {
		program = filepath.Join(place.Dir, program) // one of the repository's own
	}
	program, err = proc.Find(program, harness.Value(env, "PATH"))
	if err != nil {
		return Run{}, errors.Join(err, place.Away(context.WithoutCancel(ctx)))
	}
	ran, err := proc.RunLimited(proc.ForNoOne(ctx),
		proc.Command{Name: program, Args: check.Run[1:], Dir: place.Dir, Base: env},
		proc.Limits{Time: time.Duration(check.Timeout) * time.Second, Memory: checkMemory, Output: checkOutput})
	changed := place.Stamps.Changed()
	err = errors.Join(err, endMarked(context.WithoutCancel(ctx), marks), place.Away(context.WithoutCancel(ctx)))
	return Run{LimitedResult: ran, Program: program, Environment: harness.Names(env), Changed: changed}, err
}

// place is where a check runs, and what is set for it alone. A checkout that could not be made ready is removed.
func (p LocalPrograms) place(ctx context.Context, t task.Task, check workflow.Check,
	commit string) (place worktree.Checkout, err error) {
	if !check.Scratch {
		place.Dir, place.Env, err = p.Folders.Place(ctx, t)
		place.Away = func(context.Context) error { return nil }
		return place, err
	}
	place, err = p.Folders.Scratch(ctx, t, Checkout(t.ID, check.Name), commit)
	if err != nil && place.Away != nil {
		err = errors.Join(err, place.Away(context.WithoutCancel(ctx)))
	}
	return place, err
}

func endMarked(ctx context.Context, marks []string) error {
	if err := proc.EndMarked(ctx, checkGrace, marks...); err != nil {
		return fmt.Errorf("end what a run left behind: %w", err)
	}
	return nil
}

// StartCheck has RunCheck of a Looker called by a process that outlives this one.
func (p LocalPrograms) StartCheck(ctx context.Context, id, check string) error {
	return p.Detach(ctx, "check", id, check)
}

// Checkouts are the names of those that checks made whose run is dead.
func (p LocalPrograms) Checkouts() ([]string, error) {
	all, err := p.Folders.Scratches()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range all {
		runs, err := p.runs(name)
		if err != nil {
			return nil, err
		}
		if !runs {
			out = append(out, name)
		}
	}
	return out, nil
}

// runs reports whether a check runs in a checkout at this moment. Looking makes no lock where there is none.
func (p LocalPrograms) runs(name string) (bool, error) {
	if _, err := os.Stat(filepath.Join(p.Home, "locks", LockOf(name))); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	release, free, err := p.Locks.TryLock(LockOf(name))
	if free {
		release()
	}
	return !free, err
}

// RemoveCheckout removes the checkout of a check whose run is dead, and ends what that started.
func (p LocalPrograms) RemoveCheckout(ctx context.Context, name string) error {
	release, free, err := p.Locks.TryLock(LockOf(name))
	if err != nil {
		return err
	}
	if !free {
		return fmt.Errorf("cannot remove the checkout %q: a check runs in it by now", name)
	}
	defer release()
	id, escaped, _ := strings.Cut(name, "-")
	if check, err := url.PathUnescape(escaped); err == nil { // what it started may run on without it
		if err := endMarked(ctx, p.marks(id, check)); err != nil {
			return err
		}
	}
	return p.Folders.RemoveScratch(ctx, name)
}

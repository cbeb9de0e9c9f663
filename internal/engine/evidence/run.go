package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
	"orange/internal/work/worktree"
)

// checksFolder has the results of checks, in the task's folder.
const checksFolder = "checks"

// resultFile is where the last result of a check is kept.
func resultFile(check string) string { return path.Join(checksFolder, url.PathEscape(check)+".json") }

func markFile(check string) string { return path.Join(checksFolder, url.PathEscape(check)+".running") }

// Checkout is the name of the checkout that a check of a task is run in, where it wants one of its own.
func Checkout(id, check string) string { return id + "-" + url.PathEscape(check) }

// LockOf is the name of the lock that is held while a check runs, found by that of its checkout.
func LockOf(checkout string) string { return "checks-" + checkout }

// checkLock is held while a check of a task runs, and seatLock while any of them has the workspace.
func checkLock(id, check string) string { return LockOf(Checkout(id, check)) }
func seatLock(id string) string         { return "checks-" + id }

// lockPatience bounds how long a free lock is waited for that another process only tests.
const lockPatience = 2 * time.Second

// ErrRuns says that the check runs already.
var ErrRuns = errors.New("the check runs already")

// running reports whether a check runs, and since when, as far as its runner has said so.
func (l *Looker) running(root *os.Root, id, check string) (since string, runs bool, err error) {
	release, free, err := l.Files.TryLock(checkLock(id, check))
	if err != nil {
		return "", false, err
	}
	if free {
		release()
		return "", false, nil
	}
	// The mark is there for as long as the lock is meant: a lock alone may be one that another process only tests.
	c := read(root, markFile(check))
	at, err := time.Parse(task.TimeFormat, string(c.text))
	if c.trouble != "" || err != nil {
		return "", false, nil
	}
	return at.In(l.Now().Location()).Format(time.TimeOnly), true, nil
}

// lastResult reads the last result of a check. A file that is none, or not the one that was noted, does not count, and
// is replaced by the next.
func (l *Looker) lastResult(ctx context.Context, root *os.Root, id, check string) (kept, error) {
	var k kept
	c := read(root, resultFile(check))
	if c.trouble != "" || json.Unmarshal(c.text, &k.result) != nil {
		return kept{}, ctx.Err()
	}
	k.text = document.Normalise(string(c.text))
	k.digest = document.Digest(k.text)
	noted, err := l.Notes.NotedCheck(ctx, id, check)
	k.noted = noted == k.digest
	return k, err
}

// Checks lists the checks of a task's workflow with their last results.
func (l *Looker) Checks(ctx context.Context, t task.Task, def *workflow.Definition) ([]task.CheckState, error) {
	root, err := proc.OpenRoot(l.Files.Dir(t.Project, t.ID))
	if err != nil {
		return nil, fmt.Errorf("look into the folder of task %s: %w", t.ID, err)
	}
	defer root.Close()
	head := ""
	if t.Workspace != "" {
		s, err := l.workspace(ctx, t)
		if err != nil {
			return nil, err
		}
		head = s.Head
	}
	var out []task.CheckState
	for _, check := range def.Checks {
		state := task.CheckState{Name: check.Name, Argv: check.Run}
		if state.Running, _, err = l.running(root, t.ID, check.Name); err != nil {
			return nil, err
		}
		have, err := l.lastResult(ctx, root, t.ID, check.Name)
		if err != nil {
			return nil, err
		}
		if have.noted {
			state.Last, state.Present = &have.result, have.countsFor(check, head)
		}
		out = append(out, state)
	}
	return out, nil
}

// RunCheck runs a check of a task in its workspace, keeps the result and has it noted. Where it runs already the
// error is ErrRuns. A result that counts for the present commit is answered as it is, unless again is set. In a
// workspace with uncommitted changes it is run only then, and the result, which speaks of no commit, is not kept.
func (l *Looker) RunCheck(ctx context.Context, t task.Task, def *workflow.Definition, name string,
	again bool) (task.CheckResult, error) {
	check, known := find(def, name)
	if !known {
		var names []string
		for _, one := range def.Checks {
			names = append(names, one.Name)
		}
		return task.CheckResult{}, task.Notef(task.ErrNotFound, "the workflow %q has no check %q%s", def.Name, name,
			yaml.Guess(name, names))
	}
	root, err := proc.OpenRoot(l.Files.Dir(t.Project, t.ID))
	if err != nil {
		return task.CheckResult{}, fmt.Errorf("look into the folder of task %s: %w", t.ID, err)
	}
	defer root.Close()
	release, err := l.occupy(ctx, root, t.ID, name)
	if err != nil {
		return task.CheckResult{}, err
	}
	defer release()
	var stamps worktree.Stamps
	if t.Workspace != "" && !check.Scratch { // before anything is said of the worktree
		if stamps, err = l.Git.Stamps(ctx, t); err != nil {
			return task.CheckResult{}, err
		}
	}
	before, err := l.workspaceFor(ctx, t, name)
	if err != nil {
		return task.CheckResult{}, err
	}
	have, err := l.lastResult(ctx, root, t.ID, name)
	if err != nil || !again && have.countsFor(check, before.Head) {
		return have.result, err
	}
	dirt := before.Uncommitted()
	if len(stamps.Differ) > 0 { // also what git's index takes for the same
		dirt = append(dirt, stamps.Differ...)
		slices.Sort(dirt)
		dirt = slices.Compact(dirt)
	}
	r := task.CheckResult{
		Name: name, Argv: check.Run, Head: before.Head, Scratch: check.Scratch, Started: task.FormatTime(l.Now()),
		Clean: check.Scratch || len(dirt)+len(before.Setup) == 0,
	}
	if !r.Clean && !again {
		found, _ := before.differs(dirt, "")
		r.Trouble = found + " when it was to begin"
		return r, l.keep(ctx, root, t.ID, r)
	}
	if err := l.run(ctx, t, check, before, stamps, &r); err != nil {
		return r, err
	}
	if !r.Clean {
		return r, nil
	}
	return r, l.keep(ctx, root, t.ID, r)
}

// workspaceFor is where the workspace is, or an error when a check there would tell nothing of the task.
func (l *Looker) workspaceFor(ctx context.Context, t task.Task, check string) (Workspace, error) {
	if t.Workspace == "" {
		return Workspace{}, task.Notef(task.ErrUsage,
			"cannot run check %q: the task has no workspace; get it one: orange task respawn %s", check, t.ID)
	}
	s, err := l.workspace(ctx, t)
	if err != nil {
		return s, err
	}
	if found, want := whyMisplaced(s, t, t.Branch); found != "" {
		return s, fmt.Errorf("cannot run check %q: %s; %s", check, found, want)
	}
	return s, nil
}

// occupy takes the locks: that of the check, which tells others that it runs, and that of the workspace, where
// one check runs at a time.
func (l *Looker) occupy(ctx context.Context, root *os.Root, id, check string) (release func(), err error) {
	soon, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	free, err := l.Files.Lock(soon, checkLock(id, check))
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		return nil, task.Notef(ErrRuns, "cannot run check %q of task %s: it runs already", check, id)
	}
	if err != nil {
		return nil, err
	}
	if err := write(root, markFile(check), task.FormatTime(l.Now())); err != nil {
		free()
		return nil, err
	}
	alone, err := l.Files.Lock(ctx, seatLock(id))
	if err != nil {
		free()
		return nil, err
	}
	return func() {
		_ = root.Remove(markFile(check)) // it reports the time of a run, and only while the lock is held
		alone()
		free()
	}, nil
}

// run runs the check and fills the result. An error is one after which nothing can be said of the check.
func (l *Looker) run(ctx context.Context, t task.Task, check workflow.Check, before Workspace, stamps worktree.Stamps,
	r *task.CheckResult) error {
	ran, err := l.Programs.RunCheck(ctx, t, check, before.Head)
	if ctx.Err() != nil {
		return fmt.Errorf("run check %q: %w", check.Name, ctx.Err())
	}
	if r.Program = ran.Program; r.Program != "" {
		r.Environment = document.Digest(strings.Join(ran.Environment, "\n"))
	}
	r.Status, r.Signal, r.TimedOut, r.OutOfMemory = ran.Code, ran.Signal, ran.TimedOut, ran.OutOfMemory
	r.Output, r.Cut, r.Took = ran.Output, ran.Cut, ran.Took.Round(time.Millisecond).String()
	if err != nil {
		r.Trouble = "it could not be run: " + err.Error()
		return nil
	}
	r.Trouble = endedFromOutside(ran)
	if len(ran.Changed) > 0 {
		r.Trouble = changedMeanwhile(ran.Changed)
	}
	if check.Scratch {
		return nil // regardless of what became of the worktree
	}
	after, err := l.workspace(ctx, t)
	if err != nil {
		return err
	}
	r.Left = subtract(after.New, before.New)
	changed := slices.Concat(subtract(after.Tracked(), before.Tracked()), stamps.Changed())
	slices.Sort(changed)
	switch {
	case len(changed) > 0: // by the check or by another program: what it ran on was not the commit
		r.Trouble = changedMeanwhile(slices.Compact(changed))
	case after.Head != before.Head || after.Branch != before.Branch:
		r.Trouble = "the workspace moved to another commit while it ran"
	}
	return nil
}

func changedMeanwhile(files []string) string {
	return "files of the commit changed while it ran: " + some(files)
}

// endedFromOutside reports a signal that programs do not send themselves, and that ended the check: that tells
// nothing of the work. It is empty where there was none.
func endedFromOutside(ran Run) string {
	switch syscall.Signal(ran.Signal) {
	case syscall.SIGTERM, syscall.SIGKILL, syscall.SIGINT, syscall.SIGHUP:
		if !ran.TimedOut && !ran.OutOfMemory {
			return "it was ended from outside, by signal " + strconv.Itoa(ran.Signal)
		}
	}
	return ""
}

// keep writes the result and then has it noted: one that was not noted does not count, and the check is run again.
func (l *Looker) keep(ctx context.Context, root *os.Root, id string, r task.CheckResult) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result of check %q: %w", r.Name, err)
	}
	text := document.Normalise(string(raw))
	if err := write(root, resultFile(r.Name), text); err != nil {
		return err
	}
	return l.Notes.NoteCheck(ctx, id, r, document.Digest(text))
}

// write replaces a file of the task's folder in one step.
func write(root *os.Root, name, text string) error {
	if err := root.MkdirAll(path.Dir(name), task.PrivateFolder); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	temporary := path.Join(path.Dir(name), "."+path.Base(name)+"."+strconv.Itoa(os.Getpid()))
	if err := root.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write %q: %w", name, err)
	}
	file, err := proc.OpenIn(root, temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, task.PrivateFile)
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", name, err), root.Remove(temporary))
	}
	if err := root.Rename(temporary, name); err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", name, err), root.Remove(temporary))
	}
	return nil
}

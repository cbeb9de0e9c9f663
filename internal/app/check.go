package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/environment"
	"orange/internal/evidence"
	"orange/internal/harness"
	"orange/internal/proc"
	"orange/internal/task"
	"orange/internal/workflow"
	"orange/internal/worktree"
)

const (
	checkPatience = 15 * time.Second // how long a request waits for a check that it has started
	checkMemory   = 4 << 30
	checkOutput   = 64 << 10
	checkGrace    = 2 * time.Second // what a run that nobody watches any more gets to end

	jqTime     = 2 * time.Second // what one jq program may take
	jqWord     = "jq"            // the word that makes this program the one that runs jq programs
	jqOutput   = 1 << 20
	jqOuterMem = 1 << 30 // it ends itself far below
)

// serveJQ runs the jq programs of one look, in this process.
func serveJQ() int {
	if err := evidence.ServeJQ(os.Stdin, os.Stdout, os.Exit); err != nil {
		fmt.Fprintf(talk(), "orange: %v\n", err)
		return 1
	}
	return 0
}

// looker joins what looks at evidence with what it looks through. Patience is how long it waits for a check that runs.
func (h *house) looker(patience time.Duration) *evidence.Looker {
	return &evidence.Looker{
		Dir: h.files.Dir, Git: sight{desk{house: h}}, Subjects: sight{desk{house: h}}, Named: worktree.Named,
		Programs: checks{house: h}, Notes: h.engine, Locks: h.files,
		Now: time.Now, JQTime: jqTime, Patience: patience,
	}
}

// sight lends the worktree room to the looker.
type sight struct{ desk desk }

func (s sight) Workspace(ctx context.Context, t task.Task) (evidence.Workspace, error) {
	slot, err := s.desk.slot(t)
	if err != nil {
		return evidence.Workspace{}, err
	}
	at, there, err := slot.Snapshot(ctx)
	seen := evidence.Workspace{
		There: there, Head: at.Head, Branch: at.Branch, Modified: at.Modified, New: at.New,
		Submodules: at.Submodules, Setup: at.Setup,
	}
	for _, h := range at.Hidden {
		seen.Hidden = append(seen.Hidden, evidence.Hidden(h))
	}
	return seen, err
}

func (s sight) Tip(ctx context.Context, t task.Task) task.Subject {
	return s.desk.Subject(ctx, t, false)
}

func (s sight) Between(ctx context.Context, t task.Task, from, to string) (more, fewer int, err error) {
	repo, err := s.desk.repo(t)
	if err != nil {
		return 0, 0, err
	}
	return repo.Between(ctx, from, to)
}

func (s sight) ChangedSince(ctx context.Context, t task.Task) ([]string, error) {
	slot, err := s.desk.slot(t)
	if err != nil {
		return nil, err
	}
	return slot.ChangedSince(ctx, t.Subject.Tree)
}

func (s sight) Differs(ctx context.Context, t task.Task, commit string) ([]string, error) {
	repo, err := s.desk.repo(t)
	if err != nil {
		return nil, err
	}
	return repo.Differs(ctx, worktree.Trees{Whole: t.Subject.Tree, Tracked: t.Subject.Tracked}, commit)
}

func (s sight) Commits(ctx context.Context, t task.Task, head string) (string, int, error) {
	repo, base, err := s.base(ctx, t)
	if err != nil {
		return "", 0, err
	}
	count, err := repo.Commits(ctx, base.Commit, head)
	return base.Ref, count, err
}

func (s sight) Changed(ctx context.Context, t task.Task, head string) ([]string, error) {
	repo, base, err := s.base(ctx, t)
	if err != nil {
		return nil, err
	}
	return repo.Changed(ctx, base.Commit, head)
}

func (s sight) base(ctx context.Context, t task.Task) (worktree.Repo, worktree.Base, error) {
	repo, err := s.desk.repo(t)
	if err != nil {
		return repo, worktree.Base{}, err
	}
	base, err := repo.Base(ctx)
	return repo, base, err
}

// checks runs programs with limits for the looker.
type checks struct{ house *house }

func (c checks) RunJQ(ctx context.Context, request []byte, limit time.Duration) (string, error) {
	ran, err := proc.RunLimited(ctx, proc.Command{Name: c.house.self, Args: []string{jqWord}, Dir: "/",
		Env: []string{}, Stdin: bytes.NewReader(request)},
		proc.Limits{Time: limit, Memory: jqOuterMem, Output: jqOutput})
	return ran.Output, err
}

// noSeat is a seat that nobody has: what a check runs was written by an agent, and asks for nothing in a person's name.
const noSeat = "ORANGE_SEAT=check"

// checkMarks are the variables by which the processes of a check are found.
func (h *house) checkMarks(id, check string) []string {
	return []string{"ORANGE_HOME=" + h.dir, "ORANGE_TASK_ID=" + id, "ORANGE_CHECK=" + check}
}

func (c checks) RunCheck(ctx context.Context, t task.Task, check workflow.Check, commit string) (evidence.Run, error) {
	marks := c.house.checkMarks(t.ID, check.Name)
	env := append(environment.WithoutAgent(os.Environ()), marks...)
	env = append(env, "ORANGE_PROJECT="+t.Project, noSeat)
	// What a runner that was killed left running would disturb this run; and what this one leaves in a session of
	// its own, the next.
	if err := endMarked(ctx, marks); err != nil {
		return evidence.Run{}, err
	}
	dir, away, err := c.folder(ctx, t, check, commit)
	if err != nil {
		return evidence.Run{}, err
	}
	program := check.Run[0]
	if strings.ContainsRune(program, '/') && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program) // one of the repository's own
	}
	if program, err = proc.Find(program, harness.Value(env, "PATH")); err != nil {
		return evidence.Run{}, errors.Join(err, away(context.WithoutCancel(ctx)))
	}
	ran, err := proc.RunLimited(ctx, proc.Command{Name: program, Args: check.Run[1:], Dir: dir, Env: env},
		proc.Limits{Time: time.Duration(check.Timeout) * time.Second, Memory: checkMemory, Output: checkOutput})
	err = errors.Join(err, endMarked(context.WithoutCancel(ctx), marks), away(context.WithoutCancel(ctx)))
	return evidence.Run{
		Program: program, Environment: harness.Names(env), Status: ran.Code, Signal: ran.Signal,
		TimedOut: ran.TimedOut, OutOfMemory: ran.OutOfMemory,
		Output: ran.Output, Cut: ran.Cut, Took: ran.Took,
	}, err
}

// folder is where a check runs: the worktree, or a checkout of the commit that is made for the run, and is taken
// away by the function. A run that is killed leaves it there for the next, or until the task gives its workspace
// back.
func (c checks) folder(ctx context.Context, t task.Task, check workflow.Check, commit string) (string,
	func(context.Context) error, error) {
	if !check.Scratch {
		return c.house.slotDir(t.Workspace), func(context.Context) error { return nil }, nil
	}
	repo, err := desk(c).repo(t)
	if err != nil {
		return "", nil, err
	}
	dir := filepath.Join(c.house.scratchDir(), evidence.Checkout(t.ID, check.Name))
	return dir, func(ctx context.Context) error { return repo.Unscratch(ctx, dir) }, repo.Scratch(ctx, dir, commit)
}

func endMarked(ctx context.Context, marks []string) error {
	left, err := proc.WithEnvironment(marks...)
	if err != nil {
		return fmt.Errorf("look for what a run left behind: %w", err)
	}
	return proc.End(ctx, left, checkGrace)
}

func (c checks) StartCheck(_ context.Context, id, check string) error {
	env := append(environment.WithoutAgent(os.Environ()), runnerMark+"=1", "ORANGE_HOME="+c.house.dir)
	_, err := proc.Detach(proc.Command{Name: c.house.self, Args: []string{"check", id, check}, Dir: c.house.dir,
		Env: env})
	return err
}

// Checks lists the checks of a task's workflow with their last results.
func (h *house) Checks(ctx context.Context, id string) ([]task.CheckState, error) {
	t, def, err := h.ruled(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.looker(checkPatience).Checks(ctx, t, def)
}

// RunCheck runs a check of a task. Unless again is set, a result that counts for the present commit is answered
// as it is, and a run that another process has begun is no error.
func (h *house) RunCheck(ctx context.Context, id, check string, again bool) (task.CheckResult, error) {
	if err := h.beforeCheck(ctx, id); err != nil {
		return task.CheckResult{}, err
	}
	t, def, err := h.ruled(ctx, id)
	if err != nil {
		return task.CheckResult{}, err
	}
	r, err := h.looker(checkPatience).RunCheck(ctx, t, def, check, again)
	if errors.Is(err, evidence.ErrRuns) && !again {
		err = nil
	}
	if err != nil {
		h.engine.Log.Error("a check could not be run", "component", "check", "task", id, "check", check, "error",
			err.Error())
	}
	return r, err
}

// beforeCheck gives this process the environment that a check is run in: that of the task, but for a person who
// runs one themselves.
func (h *house) beforeCheck(ctx context.Context, id string) error {
	if h.runner {
		h.environments.Enter(ctx, id)
		return nil
	}
	_, err := h.Actor(ctx, id, "")
	return err
}

func (h *house) ruled(ctx context.Context, id string) (task.Task, *workflow.Definition, error) {
	s, err := h.store.Load(ctx, id)
	if err != nil {
		return task.Task{}, nil, err
	}
	def, err := h.home.Pinned(ctx, s.Task.Workflow)
	return s.Task, def, err
}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"orange/internal/environment"
	"orange/internal/evidence"
	"orange/internal/pool"
	"orange/internal/task"
	"orange/internal/workflow"
	"orange/internal/worktree"
)

const (
	checkPatience = 15 * time.Second // how long a request waits for a check that it has started

	jqTime = 2 * time.Second // what one jq program may take
	jqWord = "jq"            // the word that makes this program the one that runs jq programs
)

// serveJQ runs the jq programs of one look, in this process.
func serveJQ() int {
	if err := evidence.ServeJQ(os.Stdin, os.Stdout, os.Exit); err != nil {
		fmt.Fprintf(talk(), "orange: %v\n", err)
		return 1
	}
	return 0
}

// looker looks at evidence. Patience is how long it waits for a check that runs.
func (h *house) looker(patience time.Duration) *evidence.Looker {
	work := evidenceWork{h.pool}
	return &evidence.Looker{
		Dir: h.files.Dir, Git: work, Subjects: work, Named: worktree.Named, Programs: h.programs(), Notes: h.engine,
		Locks: h.files, Now: time.Now, JQTime: jqTime, Patience: patience,
	}
}

// programs runs jq and checks.
func (h *house) programs() evidence.LocalPrograms {
	return evidence.LocalPrograms{
		Home: h.dir, JQ: []string{h.self, jqWord}, Folders: h.pool, Locks: h.files, Detach: h.detach,
		Environ: func() []string { return environment.WithoutAgent(os.Environ()) },
	}
}

// evidenceWork has the work of tasks as evidence asks for it.
type evidenceWork struct{ *pool.Pool }

func (w evidenceWork) Workspace(ctx context.Context, t task.Task) (evidence.Workspace, error) {
	at, there, err := w.Snapshot(ctx, t)
	seen := evidence.Workspace{
		There: there, Head: at.Head, Branch: at.Branch, Modified: at.Modified, New: at.New,
		Submodules: at.Submodules, Setup: at.Setup,
	}
	for _, h := range at.Hidden {
		seen.Hidden = append(seen.Hidden, evidence.Hidden(h))
	}
	return seen, err
}

func (w evidenceWork) Tip(ctx context.Context, t task.Task) task.Subject {
	return w.Subject(ctx, t, false)
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

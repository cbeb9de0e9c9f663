package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"orange/internal/engine/evidence"
	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/home"
	"orange/internal/store/mirror"
)

const (
	checkPatience = 15 * time.Second // how long a request waits for a check that it has started

	jqTime = 2 * time.Second // what one jq program may take
	jqWord = "jq"            // the word that makes this program the one that runs jq programs
)

// serveJQ runs the jq programs of one look, in this process.
func serveJQ(c proc.Call) int {
	if err := evidence.ServeJQ(c.In, c.Out, os.Exit); err != nil {
		fmt.Fprintf(messages(c), "orange: %v\n", err)
		return 1
	}
	return 0
}

// looker looks at evidence. Patience is how long it waits for a check that runs.
func (a *app) looker(patience time.Duration) *evidence.Looker {
	return &evidence.Looker{Files: a.files, Git: a.pool, Programs: a.programs(), Notes: a.engine, Now: a.now,
		JQTime: jqTime, Patience: patience}
}

// facts are what gates ask for, as the engine looks at it: it waits for checks.
func (a *app) facts(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	return a.looker(a.checkWait).Look(ctx, t, def, parts)
}

// factsNow are those that there are already.
func (a *app) factsNow(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	return a.looker(0).Peek(ctx, t, def, parts)
}

// programs runs jq and checks.
func (a *app) programs() evidence.LocalPrograms {
	return evidence.LocalPrograms{Home: a.dir, JQ: []string{a.self, jqWord}, Folders: a.pool, Locks: a.files,
		Detach: a.detach, Environ: a.environments.OfChecks}
}

// RunCheck runs a check of a task. Unless again is set, a result that counts for the present commit is answered
// as it is, and a run that another process has begun is no error.
func (c commands) RunCheck(ctx context.Context, id, check string, again bool) (task.CheckResult, error) {
	ctx, err := c.app.forCheck(ctx, id)
	if err != nil {
		return task.CheckResult{}, err
	}
	t, def, err := c.app.queries().Pinned(ctx, id)
	if err != nil {
		return task.CheckResult{}, err
	}
	r, err := c.app.looker(checkPatience).RunCheck(ctx, t, def, check, again)
	if errors.Is(err, evidence.ErrRuns) && !again {
		err = nil
	}
	if err != nil {
		c.app.logger.Error("a check could not be run", "component", "check", "task", id, "check", check, "error",
			err.Error())
	}
	return r, err
}

// forCheck is ctx with the environment that a check is run in: that of the task, but for a person who runs one
// themselves.
func (a *app) forCheck(ctx context.Context, id string) (context.Context, error) {
	if a.runner {
		return a.inTask(ctx, id), nil
	}
	_, err := a.Actor(ctx, id, "")
	return ctx, err
}

// runnerMark distinguishes a runner of hooks from every other command.
const runnerMark = "ORANGE_RUNNER"

// detach has this program with these arguments go on where this process ends: the server does them, or a process of its
// own.
func (a *app) detach(ctx context.Context, args ...string) error {
	return a.detachIn(ctx, proc.EnvironOf(ctx).Own, args...)
}

func (a *app) detachIn(ctx context.Context, env []string, args ...string) error {
	env = append(env, runnerMark+"=1", "ORANGE_HOME="+a.dir)
	if a.own != nil && a.own.perform(args, env) {
		return nil
	}
	return a.startProcess(ctx, env, args...)
}

// startProcess starts this program with these arguments in a process that outlives this one.
func (a *app) startProcess(ctx context.Context, env []string, args ...string) error {
	_, err := proc.Detach(ctx, proc.Command{Name: a.self, Args: args, Dir: a.dir, Base: env})
	return err
}

// runHooks performs hooks in the server, or in a process of its own: whatever the hooks end, that goes on.
func (a *app) runHooks(ctx context.Context, id string, person bool) error {
	args := []string{"settle", id}
	if person {
		args = append(args, "--person")
	} else {
		// What an agent made of its environment goes no further, whatever it asks for, be it only a list. Whether
		// it may ask is judged elsewhere.
		_, _ = a.Actor(ctx, "", "")
	}
	return a.detachIn(ctx, a.environmentOfRunner(ctx, id, person), args...)
}

// environmentOfRunner is what a runner of a task is started with. Where a runner starts that of another task, which
// follows on its own, it is what is kept for its own.
func (a *app) environmentOfRunner(ctx context.Context, id string, person bool) []string {
	if a.runner && !person {
		return proc.EnvironOf(ctx).Own
	}
	return a.asker.ForRunner(id)
}

// hookSetup is what hooks read of the home.
type hookSetup struct {
	*home.Home
	*environment.PerTask
	files mirror.Files
}

func (s hookSetup) TaskDir(t task.Task) string { return s.files.Dir(t.Project, t.ID) }

func (s hookSetup) Document(t task.Task) ([]byte, error) { return s.files.Read(t.Project, t.ID, true) }

package app

import (
	"context"
	"io"
	"os"

	"orange/internal/app/doctor"
	"orange/internal/engine/query"
	"orange/internal/rules/conflict"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/environment"
	"orange/internal/store/logfile"
)

// queries read tasks and their pasts for the command line.
type queries struct {
	*query.Service
	app *app
}

func (a *app) queries() queries {
	return queries{&query.Service{Record: a.store, Setup: a.home, Files: a.files, Work: a.pool, Agents: a.lookout,
		Refresh: a.engine.Refresh, Compare: a.looker(0).Compare, Now: a.now,
		Variables: environment.Variables{Home: a.dir}.Names}, a}
}

// Why explains how a task is and what it waits for.
func (q queries) Why(ctx context.Context, id string) (decide.Explanation, error) {
	e, err := q.app.engine.Why(ctx, id, q.app.agents.Lives(ctx))
	if err != nil {
		return e, err
	}
	return q.app.lookout.Explain(ctx, e), nil
}

// Before looks at the tasks that a task waits for; with look also at the repository.
func (q queries) Before(ctx context.Context, t task.Task, look bool) ([]record.Before, error) {
	return q.app.engine.Before(ctx, t, look)
}

// Checks lists the checks of a task's workflow with their last results.
func (q queries) Checks(ctx context.Context, id string) ([]task.CheckState, error) {
	t, def, err := q.Pinned(ctx, id)
	if err != nil {
		return nil, err
	}
	return q.app.looker(checkPatience).Checks(ctx, t, def)
}

// Conflicts is what was found last of the conflicts in a project.
func (q queries) Conflicts(ctx context.Context, project string) (conflict.Overview, error) {
	return q.app.pool.Conflicts(ctx, project)
}

// ConflictsOf finds out what a task's branch conflicts with now.
func (q queries) ConflictsOf(ctx context.Context, t task.Task) (conflict.Overview, error) {
	return q.app.pool.ConflictsOf(ctx, t)
}

// Screens are what the windows of a task's agents show now.
func (q queries) Screens(ctx context.Context, id string) ([]record.AgentScreen, error) {
	return q.app.agents.Texts(ctx, id)
}

// Verify checks whether the past of tasks holds.
func (q queries) Verify(ctx context.Context, ids []string) ([]record.Finding, error) {
	return q.verifier(nil).Verify(ctx, ids)
}

// VerifyAll checks whether the past of all tasks holds, or of a project's where one is named, and whether one is gone.
func (q queries) VerifyAll(ctx context.Context, project string, progress func(what string, done, of int)) (
	[]record.Finding, error) {
	return q.verifier(progress).VerifyAll(ctx, project)
}

func (q queries) verifier(progress func(what string, done, of int)) *doctor.Doctor {
	return &doctor.Doctor{Home: q.app.dir, Record: q.app.store, Files: q.app.files,
		Engine: q.app.engine, Setup: doctorSetup{Pool: q.app.pool, app: q.app},
		Now: q.app.now, Settling: settling, Progress: progress}
}

// Changed is the cursor after everything that has happened.
func (q queries) Changed(ctx context.Context) (int64, error) { return q.app.store.Changed(ctx) }

// TasksSince are the tasks that changed after a cursor, and the ids of those that are gone.
func (q queries) TasksSince(ctx context.Context, cursor int64) ([]task.Task, []string, int64, error) {
	return q.app.store.TasksSince(ctx, cursor)
}

// Follow calls report with what happens to all tasks after a cursor, until ctx ends or report answers an error.
func (q queries) Follow(ctx context.Context, cursor int64, report func([]history.Happening) error) error {
	out, _ := q.app.call.Out.(*os.File)
	return q.app.store.Follow(ctx, out, cursor, report)
}

func (a *app) logPath() string { return logfile.Of(a.dir) }

// Log prints the last lines of the log that are to be kept.
func (a *app) Log(keep func([]byte) bool, lines int, out io.Writer) error {
	return logfile.Print(out, a.logPath(), keep, lines)
}

package app

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"orange/internal/api/caller"
	"orange/internal/engine"
	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
)

// commands change tasks for the command line: by the engine, with what it needs of this process.
type commands struct {
	*engine.Engine
	app *app
}

// Fill gives a new task what the person left out.
func (c commands) Fill(ctx context.Context, n task.New) (task.New, error) {
	env, err := c.app.environments.OfChecks(ctx, n.Project.Name, "")
	if err != nil && n.Spawn {
		return n, err
	}
	return c.app.home.Fill(n, harness.Value(env, "PATH")) // the usual harness is the first that is there
}

// Respawn starts the agent of the present status again, if it is dead.
func (c commands) Respawn(ctx context.Context, id string, actor task.Actor) (record.Outcome, error) {
	return c.Engine.Respawn(ctx, id, c.app.agents.Lives(ctx), actor)
}

// Command asks for the move that a command means.
func (c commands) Command(ctx context.Context, id, word string, actor task.Actor, reason string) (record.Outcome,
	error) {
	if word == workflow.MoveSpawn {
		return c.Spawn(ctx, id, c.app.agents.Lives(ctx), actor, reason)
	}
	return c.Engine.Command(ctx, id, word, actor, reason)
}

// Settle performs what a task owes: in the environment that is kept for the task, but for a person, whose own
// keys a push may need.
func (c commands) Settle(ctx context.Context, id string, person bool) error {
	if !person {
		ctx = c.app.inTask(ctx, id)
	}
	return c.Engine.Settle(ctx, id)
}

// Wait waits until it is the caller's turn.
func (c commands) Wait(ctx context.Context, id string, actor task.Actor, timeout time.Duration) (record.Waited,
	error) {
	asks, err := proc.Lookup(c.app.call.PID)
	if err != nil {
		return record.Waited{}, err
	}
	return c.Engine.Wait(ctx, id, actor, asks, timeout)
}

// Attach shows a person the window of a role of a task.
func (c commands) Attach(ctx context.Context, id, role string, run bool) ([]string, error) {
	s, err := c.app.store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.app.agents.Attach(ctx, s.Task, role, run)
}

// Actor finds out who asks. A person's name is asked for here and not before: those who only look need none.
func (a *app) Actor(ctx context.Context, id, as string) (task.Actor, error) {
	who, err := a.callerAt(a.dir, as)
	if err != nil {
		return task.Actor{}, err
	}
	actor, err := a.engine.Actor(ctx, id, who)
	actor.Call, actor.Again = a.call.Number, a.call.Again
	if err == nil && actor.Role == task.RoleHuman {
		a.named.Do(func() { a.person = caller.PersonName(ctx, a.call) })
		actor.Person = a.person
		return actor, nil
	}
	a.environments.Leave(ctx, a.asker, cmp.Or(id, a.call.Getenv("ORANGE_TASK_ID")))
	return actor, err
}

// Looker finds out who looks on. That needs no person.
func (a *app) Looker(ctx context.Context, id string) (task.Actor, error) {
	who, err := caller.Seat(a.call, "")
	if err != nil {
		return task.Actor{}, err
	}
	return a.engine.Actor(ctx, id, who)
}

// Person refuses what is about the whole home to a caller that is no person; what says it in words.
func (a *app) Person(ctx context.Context, what string) error {
	who, err := a.callerAt(a.dir, "")
	if err != nil {
		return err
	}
	return a.engine.Home(ctx, what, who)
}

// personWithoutRecord is Person where the record may be lost, so that no seat can be looked up.
func (at place) personWithoutRecord(dir, what string) error {
	who, err := at.callerAt(dir, "")
	if err != nil {
		return err
	}
	return decide.Home(what, who, "")
}

// Here is the task and the project of the working directory.
func (a *app) Here(ctx context.Context) (id, project string, err error) {
	if own := a.call.Getenv("ORANGE_TASK_ID"); own != "" {
		return own, a.call.Getenv("ORANGE_PROJECT"), nil
	}
	dir, err := a.call.Dir, a.call.Lost
	if err != nil {
		return "", "", task.Notef(err, "cannot tell which folder this is: %v; it may be gone: go to another one", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return a.pool.Locate(ctx, dir)
}

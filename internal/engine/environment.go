package engine

import (
	"context"
	"errors"
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

// keepForStart keeps a person's environment if their hooks prepare a workspace or start an agent, even if they are
// performed by now. What an agent asks for runs in the environment that was kept before.
func (e *outcomes) keepForStart(ctx context.Context, id string, hooks []task.OwedHook, actor task.Actor) {
	if slices.ContainsFunc(hooks, func(h task.OwedHook) bool { return runsIn(h.Action) }) {
		e.keepEnvironment(ctx, id, actor)
	}
}

// runsIn reports whether an action starts or prepares something that runs in the task's environment.
func runsIn(name string) bool {
	spec, _ := action.Of(name)
	return spec.Means == action.MakesWorkspace || spec.Means == action.StartsAgent
}

// keepEnvironment keeps the environment of this process for a task, if it is a person's. A failure holds nothing up:
// the process that performs the hooks keeps one before it starts an agent, and reports why it cannot.
func (e *outcomes) keepEnvironment(ctx context.Context, id string, actor task.Actor) {
	if actor.Role != task.RoleHuman {
		return
	}
	if err := e.environments.Keep(ctx, id); err != nil {
		e.logFailure("the environment of the person who asked could not be kept", id, err)
		return
	}
	s, err := e.record.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) ||
		err == nil && s.Task.Workspace == "" && !s.Task.Queued() && !s.Task.WaitsForTasks() && !owesRoom(s.Owed) {
		// the task gave its workspace back meanwhile, and with it went the earlier environment
		e.dropEnvironment(ctx, id)
	}
}

// owesRoom reports whether a task will have a workspace by a hook that it owes.
func owesRoom(owed []task.OwedHook) bool {
	return slices.ContainsFunc(owed, func(h task.OwedHook) bool { return h.Action == action.AcquireWorkspace })
}

// dropEnvironment drops what is kept for a task. The doctor finds what a failure leaves over.
func (e *outcomes) dropEnvironment(ctx context.Context, id string) {
	if err := e.environments.Drop(ctx, id); err != nil {
		e.logFailure("the environment of a task could not be dropped", id, err)
	}
}

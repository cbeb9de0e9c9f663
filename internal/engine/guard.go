package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/fencing"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Guard holds back acts that are seen outside of this machine.
type Guard interface {
	// Holds reports whether a task is held for a fleet; it costs next to nothing. The guard has nothing against acts
	// for another one.
	Holds(id string) bool
	// Outward is asked right before an act for a task. It returns the context for the act, which ends when the act
	// has to, with the reason as its cause, and what the caller calls at its end. An error that is a
	// fencing.ErrHeldBack says why the act may not be done.
	Outward(ctx context.Context, t task.Task) (within context.Context, done func(), err error)
}

// actGuarded does an act if the guard has nothing against it, for as long as it has not.
func actGuarded[T any](ctx context.Context, g Guard, t task.Task,
	act func(context.Context) (T, error)) (none T, err error) {
	within, done, err := g.Outward(ctx, t)
	if err != nil {
		return none, err
	}
	defer done()
	out, err := act(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return out, fmt.Errorf("%w; the act was cut short: %w", context.Cause(within), err)
	}
	return out, err
}

// Perform performs one hook.
type Perform func(ctx context.Context, job record.Job) (record.Effect, error)

// GuardHooks is perform, which asks a guard before each hook that is seen outside of this machine.
func GuardHooks(g Guard, perform Perform) Perform {
	return func(ctx context.Context, job record.Job) (record.Effect, error) {
		if !fencing.Reaches(job.Hook.Hook) || !g.Holds(job.Task.ID) {
			return perform(ctx, job)
		}
		effect, err := actGuarded(ctx, g, job.Task, func(ctx context.Context) (record.Effect, error) {
			return perform(ctx, job)
		})
		return effect, whoRetries(err, "it is tried again")
	}
}

// whoRetries adds to the error of an act that may be done later who does it then.
func whoRetries(err error, then string) error {
	if errors.Is(err, fencing.ErrWaits) {
		return fmt.Errorf("%w; %s", err, then)
	}
	return err
}

// GuardedWork asks a guard before each merge that origin gets, and once more right before the default branch moves:
// the checks of a merge may take long.
type GuardedWork struct {
	Work
	Guard Guard
}

// Merge merges a commit of a task's branch.
func (g GuardedWork) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(ctx context.Context, result string) error) (record.MergeResult, error) {
	if !order.Push || !g.Guard.Holds(t.ID) {
		return g.Work.Merge(ctx, t, order, begin)
	}
	if origin, _, err := g.Forge(ctx, t); err != nil || !origin { // then nothing leaves this machine
		return g.Work.Merge(ctx, t, order, begin)
	}
	return actGuarded(ctx, g.Guard, t, func(ctx context.Context) (record.MergeResult, error) {
		return g.Work.Merge(ctx, t, order, func(ctx context.Context, result string) error {
			_, done, err := g.Guard.Outward(ctx, t)
			if err != nil {
				return err
			}
			done()
			return begin(ctx, result)
		})
	})
}

// Package flow is the workflows of a fleet: they have its server keep the custody of each task, and whether each host
// lives, and call the hosts.
//
// It owns timeouts, retries and the order of calls. It decides nothing: package custody does. What it runs is replayed
// by the server's rules, so that it may not read a clock, draw a number or walk over a map.
package flow

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/registry"
	"orange/fleet/wire"
)

// Flow runs the workflows.
type Flow struct {
	Watch   func(custody.State)  // sees every new state of a custody, for tests; nil for no one
	Members func(registry.State) // sees every new state of the registry, for tests; nil for no one
}

// Start is what the workflow of a task begins with: the birth, or, in a later run, the state of the run before.
type Start struct {
	Fleet string                       `json:"fleet"`
	Task  string                       `json:"task"`
	Birth *wire.Message[wire.Birth]    `json:"birth,omitempty"`
	Trust custody.Trust                `json:"trust"`
	State *wire.Message[custody.State] `json:"state,omitempty"`
}

const (
	placeWait   = 10 * time.Minute // until hosts that could not take a task are asked again
	unfitPause  = 5 * time.Second
	takeWait    = 30 * time.Second // until a take counts as one that never was at its host
	takeTime    = 2 * time.Minute
	askWait     = 10 * time.Second
	askTime     = time.Minute
	askBeat     = 6 * time.Second // without a word of the host, which says every two seconds that it is at it
	lookTime    = 10 * time.Second
	releaseTime = 30 * time.Second
)

// taskRun is one run of the workflow of a task.
type taskRun struct {
	Flow
	state   custody.State
	leaving []custody.EarlierHost // hosts that are being asked to leave
	shown   [4]string             // the values of Attributes
	listed  wire.Custody          // the row of the fleet's list
}

// Task is the workflow that has the custody of a task.
func (f Flow) Task(ctx workflow.Context, start Start) error {
	r := &taskRun{Flow: f}
	if start.State != nil {
		r.state = start.State.Body
	} else if start.Birth != nil {
		s, err := custody.New(start.Fleet, start.Task, start.Birth.Body, start.Trust, workflow.Now(ctx))
		if err != nil {
			return Final(err)
		}
		r.state = s
	}
	if err := r.listen(ctx); err != nil {
		return err
	}
	whole := ctx
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	r.become(ctx, r.state)
	for r.state.Phase != custody.PhaseEnded {
		switch r.state.Phase {
		case custody.PhaseWaiting:
			r.place(ctx)
		case custody.PhaseTaking:
			r.take(ctx)
		default:
			r.rest(ctx)
			if err := r.again(ctx, start); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	cancel() // the calls of hosts that are still asked to leave
	return workflow.Await(whole, func() bool { return workflow.AllHandlersFinished(whole) })
}

// rest waits until there is something to do.
func (r *taskRun) rest(ctx workflow.Context) {
	_ = workflow.Await(ctx, func() bool { // its only error is the end of the workflow
		return r.state.Phase != custody.PhaseHeld || wantsNewRun(ctx)
	})
}

func wantsNewRun(ctx workflow.Context) bool { return workflow.GetInfo(ctx).GetContinueAsNewSuggested() }

// again goes on in a new run where the history of this one is long; the state is all that it needs.
func (r *taskRun) again(ctx workflow.Context, start Start) error {
	if !wantsNewRun(ctx) || r.state.Phase != custody.PhaseHeld || !workflow.AllHandlersFinished(ctx) {
		return workflow.Await(ctx, func() bool {
			return r.state.Phase != custody.PhaseHeld || !wantsNewRun(ctx) || workflow.AllHandlersFinished(ctx)
		})
	}
	state := wire.Of(r.state)
	return workflow.NewContinueAsNewError(ctx, wire.TaskWorkflow, Start{Fleet: start.Fleet, Task: start.Task,
		State: &state})
}

// become takes over a new state, shows it in the fleet's list, and asks hosts to leave that had the task.
func (r *taskRun) become(ctx workflow.Context, s custody.State) {
	r.state = s
	if r.Watch != nil {
		r.Watch(s)
	}
	r.show(ctx)
	for _, old := range s.Old {
		if !slices.Contains(r.leaving, old) {
			r.leaving = append(r.leaving, old)
			workflow.Go(ctx, func(ctx workflow.Context) { r.leave(ctx, old) })
		}
	}
}

// next takes over a new state, if there is one, and gives the error to who asked for it.
func (r *taskRun) next(ctx workflow.Context, s custody.State, err error) error {
	if err == nil {
		r.become(ctx, s)
	}
	return Final(err)
}

// place looks for a host.
func (r *taskRun) place(ctx workflow.Context) {
	if r.state.To != "" {
		if slices.Contains(r.state.Not, r.state.To) {
			_ = workflow.Sleep(ctx, takeWait)
		}
		r.become(ctx, r.state.Accepted(wire.OfferAnswer{Host: r.state.To}, workflow.Now(ctx)))
		return
	}
	queue := wire.PlaceQueue(r.state.Birth.Project, r.state.Label())
	offer, cancel := workflow.WithCancel(activity(ctx, queue, placeWait, askTime, 1))
	defer cancel()
	asked := workflow.ExecuteActivity(offer, wire.AcceptActivity, wire.Of(r.state.Offer()))
	_ = workflow.Await(ctx, func() bool { return asked.IsReady() || r.state.Phase != custody.PhaseWaiting })
	if !asked.IsReady() { // a person has cancelled the task
		return
	}
	var answer wire.Message[wire.OfferAnswer]
	err := asked.Get(ctx, &answer)
	if err != nil {
		r.become(ctx, r.state.Again())
		_ = workflow.Sleep(ctx, unfitPause)
		return
	}
	known := slices.Contains(r.state.Not, answer.Body.Host)
	r.become(ctx, r.state.Accepted(answer.Body, workflow.Now(ctx)))
	switch {
	case r.state.Phase != custody.PhaseWaiting:
	case known: // no other host came: those that could not take it are asked again
		_ = workflow.Sleep(ctx, takeWait)
		r.become(ctx, r.state.Again())
	default:
		_ = workflow.Sleep(ctx, unfitPause)
	}
}

// take asks the host to take the task, until it has answered, or the task was taken away from it.
func (r *taskRun) take(ctx workflow.Context) {
	epoch, wait, attempts := r.state.Epoch, takeWait, int32(1)
	if r.state.Doubt {
		wait, attempts = 0, 0
	}
	ctx, cancel := workflow.WithCancel(activity(ctx, wire.HostQueue(r.state.Host), wait, takeTime, attempts))
	defer cancel()
	asked := workflow.ExecuteActivity(ctx, wire.TakeActivity, wire.Of(r.state.Take()))
	_ = workflow.Await(ctx, func() bool {
		return asked.IsReady() || r.state.Phase != custody.PhaseTaking || r.state.Epoch != epoch
	})
	if !asked.IsReady() {
		return
	}
	var answer wire.Message[wire.TakeAnswer]
	err := asked.Get(ctx, &answer)
	if err == nil {
		var next custody.State
		if next, err = r.state.Taken(epoch, answer.Body, workflow.Now(ctx)); err == nil {
			r.become(ctx, next)
			return
		}
	}
	if neverStarted(err) {
		r.become(ctx, r.state.NeverReached(epoch))
	} else {
		r.become(ctx, r.state.Doubted(epoch))
	}
	_ = workflow.Sleep(ctx, unfitPause)
}

// leave asks a host to let go of a task, for as long as this takes.
func (r *taskRun) leave(ctx workflow.Context, old custody.EarlierHost) {
	ctx = activity(ctx, wire.HostQueue(old.Host), 0, takeTime, 0)
	var left wire.Message[wire.LeaveAnswer]
	gone := wire.Gone{Task: r.state.Task, Epoch: old.Epoch}
	if workflow.ExecuteActivity(ctx, wire.LeaveActivity, wire.Of(wire.Leave{Gone: gone})).Get(ctx, &left) == nil {
		r.become(ctx, r.state.Left(old.Host, old.Epoch, left.Body.Ref))
	}
}

// activity has the options of a call: how long it may wait for a worker, 0 for as long as it takes; how long it may
// take; how often it is tried, 0 for until it is done.
func activity(ctx workflow.Context, queue string, wait, total time.Duration, attempts int32) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, ScheduleToStartTimeout: wait, StartToCloseTimeout: total,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute,
			MaximumAttempts: attempts},
	})
}

// neverStarted reports whether a call failed before any worker had it.
func neverStarted(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == scheduleToStart
}

// Final gives an error the form in which the caller of a workflow gets it: what it asked for is not tried again.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), string(cmp.Or(wire.CodeOf(err), wire.CodeRefused)),
		nil)
}

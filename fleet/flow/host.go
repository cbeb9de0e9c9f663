package flow

import (
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

// A hold is one call of a host that lasts for as long as the host lives: its heartbeats are those of the host.
const holdTime = 24 * time.Hour

// hostRun is one run of the workflow of a host.
type hostRun struct{ state custody.HostState }

// Host is the workflow that knows whether a host lives. It begins with the state of the run before, or with one that
// has only the host's name.
func (f Flow) Host(ctx workflow.Context, start wire.Message[custody.HostState]) error {
	r := &hostRun{start.Body}
	if err := r.listen(ctx); err != nil {
		return err
	}
	for {
		if !r.state.Here {
			_ = workflow.Await(ctx, func() bool { return r.state.Here || wantsNewRun(ctx) })
		} else if number := r.state.Number; r.hold(ctx, number) {
			r.state = r.state.Silent(number, workflow.Now(ctx))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if wantsNewRun(ctx) {
			_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
			return workflow.NewContinueAsNewError(ctx, wire.HostWorkflow, wire.Of(r.state))
		}
	}
}

// listen answers updates, signals and queries.
func (r *hostRun) listen(ctx workflow.Context) error {
	err := errors.Join(
		workflow.SetUpdateHandler(ctx, wire.HereUpdate,
			func(ctx workflow.Context, m wire.Message[wire.Here]) (wire.Message[wire.Lease], error) {
				var lease wire.Lease
				r.state, lease = r.state.Came(m.Body, workflow.Now(ctx))
				return wire.Of(lease), nil
			}),
		workflow.SetUpdateHandler(ctx, wire.ReleaseUpdate,
			func(ctx workflow.Context, m wire.Message[wire.Release]) (wire.Message[wire.ReleaseAnswer], error) {
				var answer wire.ReleaseAnswer
				r.state, answer = r.state.Released(m.Body)
				if answer.Kept == "" && workflow.GetVersion(ctx, "revoke", workflow.DefaultVersion, 1) == 1 {
					r.state = r.state.Revoked()
				}
				return wire.Of(answer), nil
			}),
		workflow.SetUpdateHandler(ctx, wire.LookActivity, r.look),
		workflow.SetUpdateHandler(ctx, wire.DrainUpdate, r.drain),
		workflow.SetUpdateHandler(ctx, wire.AskUpdate, r.askOver),
		workflow.SetQueryHandler(ctx, wire.HostQuery, func() (wire.Message[custody.HostState], error) {
			return wire.Of(r.state), nil
		}))
	if err != nil {
		return err
	}
	told := workflow.GetSignalChannel(ctx, wire.ToldSignal)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var m wire.Message[wire.Here]
			if !told.Receive(ctx, &m) {
				return
			}
			r.state = r.state.Told(m.Body)
		}
	})
	return nil
}

// hold waits until the host has been silent for too long. It is false where it stopped waiting for another reason: the
// host has another lease, the run ends, or the call took as long as one may.
func (r *hostRun) hold(ctx workflow.Context, number int) (silent bool) {
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: wire.HoldQueue(r.state.Host), ScheduleToStartTimeout: custody.LostAfter,
		StartToCloseTimeout: holdTime, HeartbeatTimeout: custody.LostAfter,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}))
	defer cancel()
	stop := func() bool { return r.state.Number != number || wantsNewRun(ctx) }
	held := workflow.ExecuteActivity(ctx, wire.HoldActivity, number)
	_ = workflow.Await(ctx, func() bool { return held.IsReady() || stop() })
	if !held.IsReady() || stop() {
		return false
	}
	var timeout *temporal.TimeoutError
	return !errors.As(held.Get(ctx, nil), &timeout) ||
		timeout.TimeoutType() != enums.TIMEOUT_TYPE_START_TO_CLOSE
}

// call asks the host something. One that is lost is not waited for.
func (r *hostRun) call(ctx workflow.Context, name string, took time.Duration, message, answer any) error {
	if !r.state.Here {
		return Final(wire.Refuse(wire.CodeNotReached, "the host %q is lost since %s: nothing was done",
			r.state.Host, time.Unix(r.state.Since, 0).UTC().Format(time.RFC3339)))
	}
	ctx = activity(ctx, wire.HostQueue(r.state.Host), askWait, took, 1)
	err := workflow.ExecuteActivity(ctx, name, message).Get(ctx, answer)
	var refusal *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case neverStarted(err):
		return Final(wire.Refuse(wire.CodeNotReached, "the host %q was not reached within %s: nothing was done",
			r.state.Host, askWait))
	case errors.As(err, &refusal):
		return Final(wire.Refuse(wire.Code(refusal.Type()), "%s", refusal.Message()))
	}
	return Final(wire.Refuse(wire.CodeNotKnown, "the host %q did not answer: %v", r.state.Host, err))
}

// look forwards a question about the whole host, which changes nothing.
func (r *hostRun) look(ctx workflow.Context, m wire.Message[wire.Look]) (seen wire.Message[wire.LookAnswer],
	err error) {
	err = r.call(ctx, wire.LookActivity, lookTime, m, &seen)
	return seen, err
}

// drain forwards what a person signed: that the host takes no new tasks, or takes some again.
func (r *hostRun) drain(ctx workflow.Context, m wire.Message[wire.Ask]) (reply wire.Message[wire.Reply], err error) {
	err = r.call(ctx, wire.DrainActivity, askTime, m, &reply)
	return reply, err
}

// askHost asks a host for something. Its error has a code: with not_known it may have been done.
func askHost(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	asked := m.Body.Request
	ctx = workflow.WithHeartbeatTimeout(activity(ctx, wire.HostQueue(asked.Host), askWait, askTime, 1), askBeat)
	var reply wire.Message[wire.Reply]
	var said *temporal.ApplicationError
	err := workflow.ExecuteActivity(ctx, wire.AnswerActivity, m).Get(ctx, &reply)
	switch {
	case neverStarted(err):
		return reply, Final(wire.Refuse(wire.CodeNotReached, "the host %q was not reached within %s: nothing was "+
			"done", asked.Host, askWait))
	case errors.As(err, &said) && said.NonRetryable() && said.Type() != "": // the host has done nothing
		return reply, Final(wire.Refuse(wire.Code(said.Type()), "%s", said.Message()))
	case err != nil:
		return reply, Final(fmt.Errorf("%w: ask again: orange fleet result %s: %w", wire.CodeNotKnown, asked.Key,
			err))
	}
	return reply, nil
}

// askOver forwards a request for a task whose custody is over: what a person still asks of it, such as to delete it,
// is of the host alone, which checks the signature. Only the history of the task keeps the answer.
func (r *hostRun) askOver(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	if asked := m.Body.Request; asked.Host != r.state.Host {
		return wire.Message[wire.Reply]{}, Final(fmt.Errorf("%w: the request is for the host %q, and this is %q",
			wire.CodeStaleEpoch, asked.Host, r.state.Host))
	}
	reply, err := askHost(ctx, m)
	reply.Body.Report = nil // there is no custody any more that it is for
	return reply, err
}

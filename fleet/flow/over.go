package flow

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

// answered asks a host for something. Its error has a code: with not_known it may have been done.
func answered(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	asked := m.Body.Request
	ctx = workflow.WithHeartbeatTimeout(activity(ctx, wire.HostQueue(asked.Host), askWait, askTime, 1), askBeat)
	var reply wire.Message[wire.Reply]
	var said *temporal.ApplicationError
	err := workflow.ExecuteActivity(ctx, wire.AnswerActivity, m).Get(ctx, &reply)
	switch {
	case neverStarted(err):
		return reply, temporal.NewNonRetryableApplicationError(fmt.Sprintf("the host %q was not reached within %s: "+
			"nothing was done", asked.Host, askWait), NotReached, nil)
	case errors.As(err, &said) && said.NonRetryable() && said.Type() != "": // the host has done nothing
		return reply, temporal.NewNonRetryableApplicationError(said.Message(), said.Type(), nil)
	case err != nil:
		return reply, failed(fmt.Errorf("%w: ask again: orange fleet result %s: %w", custody.ErrNotKnown, asked.Key,
			err))
	}
	return reply, nil
}

// askOver forwards a request for a task whose custody is over: what a person still asks of it, such as to delete it,
// is of the host alone, which checks the signature. Only the history of the task keeps the answer.
func (r *hostRun) askOver(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	if asked := m.Body.Request; asked.Host != r.state.Host {
		return wire.Message[wire.Reply]{}, failed(fmt.Errorf("%w: the request is for the host %q, and this is %q",
			custody.ErrStale, asked.Host, r.state.Host))
	}
	reply, err := answered(ctx, m)
	reply.Body.Report = nil // there is no custody any more that it is for
	return reply, err
}

package flow

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

// A hold is one call of a host that lasts for as long as the host lives: its heartbeats are those of the host.
const holdTime = 24 * time.Hour

// Host is the workflow that knows whether a host lives. It begins with the state of the run before, or with one that
// has only the host's name.
func (f Flow) Host(ctx workflow.Context, start wire.Message[custody.HostState]) error {
	h := start.Body
	err := workflow.SetUpdateHandlerWithOptions(ctx, wire.HereUpdate,
		func(ctx workflow.Context, m wire.Message[wire.Here]) (wire.Message[wire.Lease], error) {
			var lease wire.Lease
			h, lease = h.Came(m.Body, workflow.Now(ctx))
			return wire.Of(lease), nil
		}, workflow.UpdateHandlerOptions{})
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.ReleaseUpdate,
			func(_ workflow.Context, m wire.Message[wire.Release]) (wire.Message[wire.Released], error) {
				var answer wire.Released
				h, answer = h.Released(m.Body)
				return wire.Of(answer), nil
			})
	}
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.AskUpdate,
			func(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
				return askOver(ctx, h.Host, m)
			})
	}
	if err == nil {
		err = workflow.SetQueryHandler(ctx, wire.HostQuery, func() (wire.Message[custody.HostState], error) {
			return wire.Of(h), nil
		})
	}
	if err != nil {
		return err
	}
	for {
		number := h.Number
		if !h.Here {
			_ = workflow.Await(ctx, func() bool { return h.Here || suggested(ctx) })
		} else if hold(ctx, h, func() bool { return h.Number != number || suggested(ctx) }) {
			h = h.Silent(number, workflow.Now(ctx))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if suggested(ctx) {
			_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
			return workflow.NewContinueAsNewError(ctx, wire.HostWorkflow, wire.Of(h))
		}
	}
}

// hold waits until the host has been silent for too long. It is false where it stopped waiting for another reason.
func hold(ctx workflow.Context, h custody.HostState, stop func() bool) (silent bool) {
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: wire.HoldQueue(h.Host), ScheduleToStartTimeout: custody.LostAfter, StartToCloseTimeout: holdTime,
		HeartbeatTimeout: custody.LostAfter, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}))
	defer cancel()
	held := workflow.ExecuteActivity(ctx, wire.HoldActivity, h.Number)
	_ = workflow.Await(ctx, func() bool { return held.IsReady() || stop() })
	return held.IsReady() && !stop()
}

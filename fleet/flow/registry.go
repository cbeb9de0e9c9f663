package flow

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/registry"
	"orange/fleet/wire"
)

// Spread has every open custody that began since a time know new lists of keys.
type Spread struct {
	Trust custody.Trust `json:"trust"`
	Since time.Time     `json:"since"`
}

const (
	spreadTime = time.Hour
	spreadBeat = time.Minute
	// A custody may begin with the lists that its person read just before they changed, and the server finds it a
	// moment later: those are looked for once more.
	spreadAgain = time.Minute
)

// members is one run of the workflow that has the lists of keys.
type members struct {
	state  registry.State
	spread custody.Trust // the lists that every open custody has
}

// Registry is the workflow that has the lists of keys of a fleet.
func (f Flow) Registry(ctx workflow.Context, start wire.Message[registry.State]) error {
	m := &members{state: start.Body}
	if err := m.listen(ctx); err != nil {
		return err
	}
	if workflow.GetInfo(ctx).ContinuedExecutionRunID != "" {
		m.spread = m.state.Trust // else a run before may have ended in the middle of it
	}
	for {
		_ = workflow.Await(ctx, func() bool { return m.spread != m.state.Trust || suggested(ctx) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if m.spread != m.state.Trust {
			m.tell(ctx)
			continue
		}
		_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
		return workflow.NewContinueAsNewError(ctx, wire.RegistryWorkflow, wire.Of(m.state))
	}
}

func (m *members) listen(ctx workflow.Context) error {
	err := workflow.SetQueryHandler(ctx, wire.TrustQuery, func() (custody.Trust, error) { return m.state.Trust, nil })
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.TrustUpdate, func(_ workflow.Context, t custody.Trust) error {
			next, err := m.state.Trusted(t)
			if err == nil {
				m.state = next
			}
			return failed(err)
		})
	}
	return err
}

// tell brings new lists to every open custody.
func (m *members) tell(ctx workflow.Context) {
	lists, changed := m.state.Trust, workflow.Now(ctx)
	call := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: wire.CoreQueue,
		StartToCloseTimeout: spreadTime, HeartbeatTimeout: spreadBeat,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute}})
	first := workflow.ExecuteActivity(call, wire.SpreadActivity, Spread{Trust: lists}).Get(ctx, nil)
	if first != nil || workflow.Sleep(ctx, spreadAgain) != nil {
		return // tried again with the lists that there are then
	}
	again := Spread{Trust: lists, Since: changed.Add(-spreadAgain)}
	if workflow.ExecuteActivity(call, wire.SpreadActivity, again).Get(ctx, nil) == nil {
		m.spread = lists
	}
}

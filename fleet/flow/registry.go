package flow

import (
	"errors"
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
	admitWait  = 20 * time.Second // until the machine with the authority's key has to have the call
	admitTime  = time.Minute
	spreadTime = time.Hour
	spreadBeat = time.Minute
	// A custody may begin with the lists that its person read just before they changed, and the server finds it a
	// moment later: those are looked for once more.
	spreadAgain = time.Minute
)

// members is one run of the workflow that has the lists of keys.
type members struct {
	Flow
	state  registry.State
	spread custody.Trust // the lists that every open custody has
	turn   workflow.Mutex
}

// Registry is the workflow that has the lists of keys of a fleet.
func (f Flow) Registry(ctx workflow.Context, start wire.Message[registry.State]) error {
	m := &members{Flow: f, state: start.Body, turn: workflow.NewMutex(ctx)}
	if err := m.listen(ctx); err != nil {
		return err
	}
	if workflow.GetInfo(ctx).ContinuedExecutionRunID != "" {
		m.spread = m.state.Trust // else a run before may have ended in the middle of it
	}
	for {
		_ = workflow.Await(ctx, func() bool { return m.spread != m.state.Trust || wantsNewRun(ctx) })
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
	return errors.Join(
		workflow.SetQueryHandler(ctx, wire.TrustQuery, func() (custody.Trust, error) { return m.state.Trust, nil }),
		workflow.SetQueryHandler(ctx, wire.MembersQuery, func() (wire.Message[registry.State], error) {
			return wire.Of(m.state), nil
		}),
		workflow.SetUpdateHandler(ctx, wire.TrustUpdate, func(_ workflow.Context, t custody.Trust) error {
			return m.become(m.state.Trusted(t))
		}),
		workflow.SetUpdateHandler(ctx, wire.InviteUpdate,
			func(ctx workflow.Context, o wire.Message[registry.Order]) error {
				return m.become(m.state.Invited(o.Body, workflow.Now(ctx)))
			}),
		workflow.SetUpdateHandlerWithOptions(ctx, wire.JoinUpdate, m.join, workflow.UpdateHandlerOptions{
			Validator: func(ctx workflow.Context, o wire.Message[registry.Order]) error {
				_, err := m.state.Judge(o.Body, workflow.Now(ctx))
				return Final(err)
			}}),
		workflow.SetUpdateHandler(ctx, wire.ClockUpdate, func(ctx workflow.Context) (time.Time, error) {
			return workflow.Now(ctx), nil
		}))
}

func (m *members) become(s registry.State, err error) error {
	if err == nil {
		m.state = s
		if m.Members != nil {
			m.Members(s)
		}
	}
	return Final(err)
}

// join has the authority admit a member, one after the other.
func (m *members) join(ctx workflow.Context, o wire.Message[registry.Order]) (registry.Admission, error) {
	var admitted registry.Admission
	if err := m.turn.Lock(ctx); err != nil {
		return admitted, err
	}
	defer m.turn.Unlock()
	if _, err := m.state.Judge(o.Body, workflow.Now(ctx)); err != nil {
		return admitted, Final(err)
	}
	call := activity(ctx, wire.AuthorityQueue, admitWait, admitTime, 3)
	err := workflow.ExecuteActivity(call, wire.AdmitActivity, o).Get(ctx, &admitted)
	var said *temporal.ApplicationError
	switch {
	case neverStarted(err):
		return admitted, Final(wire.Refuse(wire.CodeNotReached, "cannot join: the machine that has the key of the "+
			"fleet's authority does not answer: start \"orange-fleet serve\" there, and join again with the same line"))
	case errors.As(err, &said):
		return admitted, Final(wire.Refuse(wire.Code(said.Type()), "%s", said.Message()))
	case err != nil:
		return admitted, Final(err)
	}
	return admitted, m.become(m.state.Joined(o.Body, admitted))
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

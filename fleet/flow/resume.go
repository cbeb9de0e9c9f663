package flow

import (
	"go.temporal.io/sdk/workflow"

	"orange/fleet/wire"
)

// tell is what a host says that it has, at a server that may have lost the custody.
func (r *run) tell(ctx workflow.Context, m wire.Message[wire.Report]) (wire.Message[wire.Custody], error) {
	next, err := r.state.Claimed(m.Body, workflow.Now(ctx))
	if err == nil {
		r.become(ctx, next)
	}
	return wire.Of(r.state.Summary()), failed(err)
}

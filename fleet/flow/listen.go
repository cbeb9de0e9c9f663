package flow

import (
	"fmt"
	"reflect"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

const scheduleToStart = enums.TIMEOUT_TYPE_SCHEDULE_TO_START

// listen answers updates, signals and queries.
func (r *run) listen(ctx workflow.Context) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, wire.AskUpdate, r.ask, workflow.UpdateHandlerOptions{
		Validator: func(ctx workflow.Context, m wire.Message[wire.Ask]) error {
			_, _, err := r.state.Asked(m.Body, workflow.Now(ctx))
			return failed(err)
		}})
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.RescueUpdate, r.rescue)
	}
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.CancelUpdate, r.cancel)
	}
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.LookActivity, r.look)
	}
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.TrustUpdate, func(ctx workflow.Context, t custody.Trust) error {
			next, err := r.state.Trusted(t)
			if err == nil {
				r.become(ctx, next)
			}
			return failed(err)
		})
	}
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, wire.TellUpdate, r.tell)
	}
	if err == nil {
		err = workflow.SetQueryHandler(ctx, wire.CustodyQuery, func() (wire.Message[wire.Custody], error) {
			return wire.Of(r.state.Summary()), nil
		})
	}
	if err != nil {
		return err
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		reports := workflow.GetSignalChannel(ctx, wire.ReportSignal)
		for {
			var m wire.Message[wire.Report]
			if !reports.Receive(ctx, &m) {
				return
			}
			if next, err := r.state.Reported(m.Body, workflow.Now(ctx)); err == nil {
				r.become(ctx, next)
			} else {
				workflow.GetLogger(ctx).Debug("a report is dropped", "why", err)
			}
		}
	})
	return nil
}

// ask forwards a request to the host, and keeps the answer.
func (r *run) ask(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	asked := m.Body.Request
	kept, done, err := r.state.Asked(m.Body, workflow.Now(ctx))
	if done || err != nil {
		return wire.Of(kept), failed(err)
	}
	reply, err := answered(ctx, m)
	if err != nil {
		return reply, err
	}
	next, err := r.state.Answered(asked, reply.Body, workflow.Now(ctx))
	if err == nil {
		r.become(ctx, next)
	}
	reply.Body.Report = nil // it is for the custody alone
	return reply, failed(err)
}

// cancel ends a custody that no host has had.
func (r *run) cancel(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Custody], error) {
	next, err := r.state.Cancelled(m.Body, workflow.Now(ctx))
	if err == nil {
		r.become(ctx, next)
	}
	return wire.Of(r.state.Summary()), failed(err)
}

// look forwards a question that changes nothing, for servers without activities of their own.
func (r *run) look(ctx workflow.Context, m wire.Message[wire.Look]) (wire.Message[wire.Seen], error) {
	ctx = activity(ctx, wire.HostQueue(r.state.Host), askWait, lookTime, 1)
	var seen wire.Message[wire.Seen]
	err := workflow.ExecuteActivity(ctx, wire.LookActivity, m).Get(ctx, &seen)
	if err != nil {
		return seen, temporal.NewNonRetryableApplicationError(fmt.Sprintf("the host %q did not answer", r.state.Host),
			NotReached, err)
	}
	return seen, nil
}

// rescue takes the task away from its host, once the fleet's view of the host allows it.
func (r *run) rescue(ctx workflow.Context, m wire.Message[wire.Rescue]) (wire.Message[wire.Custody], error) {
	none := wire.Of(wire.Custody{})
	due, err := r.state.Rescuable(m.Body, workflow.Now(ctx))
	if err != nil {
		return none, failed(err)
	}
	if !due {
		return wire.Of(r.state.Summary()), nil
	}
	asked := wire.Release{Host: r.state.Host, Task: r.state.Task, Epoch: m.Body.From, Now: m.Body.Now != ""}
	call := activity(ctx, wire.CoreQueue, releaseTime, releaseTime, 3)
	var answer wire.Message[wire.Released]
	err = workflow.ExecuteActivity(call, wire.ReleaseActivity, wire.Of(asked)).Get(call, &answer)
	if err != nil {
		return none, failed(fmt.Errorf("%w: the task was not rescued, and its host may let go of it: "+
			"rescue it again: %w", custody.ErrNotKnown, err))
	}
	if answer.Body.Kept != "" {
		return none, temporal.NewNonRetryableApplicationError(answer.Body.Kept, Kept, nil)
	}
	next, err := r.state.Rescued(m.Body)
	if err != nil {
		return none, failed(err)
	}
	r.become(ctx, next)
	return wire.Of(r.state.Summary()), nil
}

// Attributes are the names of what the server can search the custodies by.
func Attributes() []string {
	return []string{"OrangeHost", "OrangePhase", "OrangeProject", "OrangeStatus"}
}

// show brings what the server can search by up to date.
func (r *run) show(ctx workflow.Context) {
	values := []string{r.state.Host, string(r.state.Phase), r.state.Birth.Project, r.state.Row.Status}
	var updates []temporal.SearchAttributeUpdate
	for i, name := range Attributes() {
		if values[i] != r.shown[i] {
			updates = append(updates, temporal.NewSearchAttributeKeyKeyword(name).ValueSet(values[i]))
			r.shown[i] = values[i]
		}
	}
	if len(updates) > 0 {
		_ = workflow.UpsertTypedSearchAttributes(ctx, updates...) // its only error is a call without any
	}
	r.list(ctx)
}

// list puts the row of the list where one call of the server has those of all tasks.
func (r *run) list(ctx workflow.Context) {
	row := r.state.Listed()
	if reflect.DeepEqual(row, r.listed) {
		return
	}
	r.listed = row
	_ = workflow.UpsertMemo(ctx, map[string]any{wire.RowMemo: wire.Of(row)}) // its only error is a call without any
}

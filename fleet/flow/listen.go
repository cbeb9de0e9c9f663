package flow

import (
	"errors"
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
func (r *taskRun) listen(ctx workflow.Context) error {
	err := errors.Join(
		workflow.SetUpdateHandlerWithOptions(ctx, wire.AskUpdate, r.ask, workflow.UpdateHandlerOptions{
			Validator: func(ctx workflow.Context, m wire.Message[wire.Ask]) error {
				_, _, err := r.state.Asked(m.Body, workflow.Now(ctx))
				return Final(err)
			}}),
		workflow.SetUpdateHandler(ctx, wire.RescueUpdate, r.rescue),
		workflow.SetUpdateHandler(ctx, wire.CancelUpdate, r.cancel),
		workflow.SetUpdateHandler(ctx, wire.LookActivity, r.look),
		workflow.SetUpdateHandler(ctx, wire.TrustUpdate, func(ctx workflow.Context, t custody.Trust) error {
			next, err := r.state.Trusted(t)
			return r.next(ctx, next, err)
		}),
		workflow.SetUpdateHandler(ctx, wire.TellUpdate, r.tell),
		workflow.SetQueryHandler(ctx, wire.CustodyQuery, func() (wire.Message[wire.Custody], error) {
			return wire.Of(r.state.Summary()), nil
		}))
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
func (r *taskRun) ask(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	asked := m.Body.Request
	kept, done, err := r.state.Asked(m.Body, workflow.Now(ctx))
	if done || err != nil {
		return wire.Of(kept), Final(err)
	}
	reply, err := askHost(ctx, m)
	if err != nil {
		return reply, err
	}
	next, err := r.state.Answered(asked, reply.Body, workflow.Now(ctx))
	reply.Body.Report = nil // it is for the custody alone
	return reply, r.next(ctx, next, err)
}

// cancel ends a custody that no host has had.
func (r *taskRun) cancel(ctx workflow.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Custody], error) {
	next, err := r.state.Cancelled(m.Body, workflow.Now(ctx))
	err = r.next(ctx, next, err)
	return wire.Of(r.state.Summary()), err
}

// look forwards a question that changes nothing, for servers without activities of their own.
func (r *taskRun) look(ctx workflow.Context, m wire.Message[wire.Look]) (wire.Message[wire.LookAnswer], error) {
	ctx = activity(ctx, wire.HostQueue(r.state.Host), askWait, lookTime, 1)
	var seen wire.Message[wire.LookAnswer]
	err := workflow.ExecuteActivity(ctx, wire.LookActivity, m).Get(ctx, &seen)
	if err != nil {
		return seen, Final(wire.Refuse(wire.CodeNotReached, "the host %q did not answer", r.state.Host))
	}
	return seen, nil
}

// rescue takes the task away from its host, once the fleet's view of the host allows it.
func (r *taskRun) rescue(ctx workflow.Context, m wire.Message[wire.Rescue]) (wire.Message[wire.Custody], error) {
	none := wire.Of(wire.Custody{})
	due, err := r.state.Rescuable(m.Body, workflow.Now(ctx))
	if err != nil {
		return none, Final(err)
	}
	if !due {
		return wire.Of(r.state.Summary()), nil
	}
	asked := wire.Release{Host: r.state.Host, Task: r.state.Task, Epoch: m.Body.From, Now: m.Body.Now != ""}
	call := activity(ctx, wire.CoreQueue, releaseTime, releaseTime, 3)
	var answer wire.Message[wire.ReleaseAnswer]
	err = workflow.ExecuteActivity(call, wire.ReleaseActivity, wire.Of(asked)).Get(call, &answer)
	if err != nil {
		return none, Final(fmt.Errorf("%w: the task was not rescued, and its host may let go of it: rescue it again: "+
			"%w", wire.CodeNotKnown, err))
	}
	if answer.Body.Kept != "" {
		return none, Final(wire.Refuse(wire.CodeKept, "%s", answer.Body.Kept))
	}
	next, err := r.state.Rescued(m.Body)
	if err := r.next(ctx, next, err); err != nil {
		return none, err
	}
	return wire.Of(r.state.Summary()), nil
}

// tell is what a host says that it has, at a server that may have lost the custody.
func (r *taskRun) tell(ctx workflow.Context, m wire.Message[wire.Report]) (wire.Message[wire.Custody], error) {
	next, err := r.state.Claimed(m.Body, workflow.Now(ctx))
	err = r.next(ctx, next, err)
	return wire.Of(r.state.Summary()), err
}

// Attributes are the names of what the server can search the custodies by.
func Attributes() []string {
	return []string{"OrangeHost", "OrangePhase", "OrangeProject", "OrangeStatus"}
}

// show brings what the server can search by up to date.
func (r *taskRun) show(ctx workflow.Context) {
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
func (r *taskRun) list(ctx workflow.Context) {
	row := r.state.Listed()
	if reflect.DeepEqual(row, r.listed) {
		return
	}
	r.listed = row
	_ = workflow.UpsertMemo(ctx, map[string]any{wire.RowMemo: wire.Of(row)}) // its only error is a call without any
}

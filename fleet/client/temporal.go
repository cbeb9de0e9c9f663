package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflows "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"orange/fleet/core"
	"orange/fleet/custody"
	"orange/fleet/setup"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

// Remote is the server of a fleet, which is connected to when it is asked first. Home and Setup are required.
type Remote struct {
	Home  string
	Setup setup.Setup

	once sync.Once
	c    client.Client
	data converter.DataConverter
	err  error
}

func (r *Remote) server(ctx context.Context) (client.Client, error) {
	r.once.Do(func() {
		options, err := core.Options(r.Setup)
		if r.data = options.DataConverter; r.data == nil {
			r.data = converter.GetDefaultDataConverter()
		}
		if r.err = err; err != nil {
			return
		}
		if r.c, err = core.Dial(ctx, r.Setup); err != nil {
			r.err = task.Notef(remote.ErrNotReached, "%v", err)
		}
	})
	return r.c, r.err
}

// Close ends the connection.
func (r *Remote) Close() {
	if r.c != nil {
		r.c.Close()
	}
}

// list lists workflows, and hands each one on.
func (r *Remote) list(ctx context.Context, query string, one func(*workflows.WorkflowExecutionInfo) error) error {
	c, err := r.server(ctx)
	if err != nil {
		return err
	}
	var failed error
	err = core.List(ctx, c, query, func(found []*workflows.WorkflowExecutionInfo) error {
		for _, info := range found {
			if failed = one(info); failed != nil {
				return failed
			}
		}
		return nil
	})
	if err != nil && failed == nil {
		err = r.failed("list the tasks and hosts of the fleet", err)
	}
	return err
}

const andRunning = " AND ExecutionStatus = 'Running'"

// Hosts are the hosts, each asked for what it is: their workflows know.
func (r *Remote) Hosts(ctx context.Context) ([]custody.HostState, error) {
	var ids []string
	query := "WorkflowType = '" + wire.HostWorkflow + "'" + andRunning
	err := r.list(ctx, query, func(i *workflows.WorkflowExecutionInfo) error {
		ids = append(ids, i.GetExecution().GetWorkflowId())
		return nil
	})
	if err != nil {
		return nil, err
	}
	out, failed := make([]custody.HostState, len(ids)), make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			var err error
			if out[i], err = core.Query[custody.HostState](ctx, r.c, id, wire.HostQuery); err != nil {
				failed[i] = r.failed("ask how the host "+strings.TrimPrefix(id, wire.HostID(""))+" is", err)
			}
		})
	}
	all.Wait()
	return out, errors.Join(failed...)
}

// Tasks are the rows of the open tasks.
func (r *Remote) Tasks(ctx context.Context) ([]wire.Custody, error) {
	return r.rows(ctx, "WorkflowType = '"+wire.TaskWorkflow+"'"+andRunning)
}

// Begins are the rows of the tasks whose ids begin so.
func (r *Remote) Begins(ctx context.Context, prefix string) ([]wire.Custody, error) {
	if prefix == "" || strings.ContainsAny(prefix, `'"\`) { // no id has one
		return nil, nil
	}
	all, err := r.rows(ctx, "WorkflowType = '"+wire.TaskWorkflow+"' AND WorkflowId STARTS_WITH '"+
		wire.TaskID(prefix)+"'")
	if err != nil || len(all) < 2 {
		return all, err
	}
	seen := map[string]bool{} // a task may have been created again under its id: the last run comes first
	var out []wire.Custody
	for _, t := range all {
		if !seen[t.Task] {
			out = append(out, t)
		}
		seen[t.Task] = true
	}
	return out, nil
}

// rows are the rows of workflows. One that has none yet is asked for it.
func (r *Remote) rows(ctx context.Context, query string) ([]wire.Custody, error) {
	var out []wire.Custody
	err := r.list(ctx, query, func(i *workflows.WorkflowExecutionInfo) error {
		if i.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			return nil // the next run has it
		}
		id := strings.TrimPrefix(i.GetExecution().GetWorkflowId(), wire.TaskID(""))
		payload, has := i.GetMemo().GetFields()[wire.RowMemo]
		if !has {
			t, err := r.Task(ctx, id)
			out = append(out, t)
			return err
		}
		var m wire.Message[wire.Custody]
		if err := r.data.FromPayload(payload, &m); err != nil {
			return fmt.Errorf("read the row of task %s: %w", id, err)
		}
		out = append(out, m.Body)
		return nil
	})
	return out, err
}

// Task is the custody of a task.
func (r *Remote) Task(ctx context.Context, id string) (wire.Custody, error) {
	c, err := r.server(ctx)
	if err != nil {
		return wire.Custody{}, err
	}
	t, err := core.Query[wire.Custody](ctx, c, wire.TaskID(id), wire.CustodyQuery)
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return t, wire.Refuse(wire.CodeNotFound, "the fleet has no task %q; \"orange fleet list\" lists them", id)
	}
	if err != nil {
		return t, r.failed("ask who has task "+id, err)
	}
	return t, nil
}

// Start begins the custody of a task.
func (r *Remote) Start(ctx context.Context, id string, b wire.Birth, trust custody.Trust) error {
	c, err := r.server(ctx)
	if err != nil {
		return err
	}
	err = core.Begin(ctx, c, r.Setup.Namespace, id, b, trust)
	if err != nil {
		return r.unknown("create task "+id, err)
	}
	return nil
}

// Ask asks the custody of a task, or the host where that is over.
func (r *Remote) Ask(ctx context.Context, ask wire.Ask, over bool) (wire.Reply, error) {
	id := wire.TaskID(ask.Request.Task)
	if over {
		id = wire.HostID(ask.Request.Host)
	}
	var reply wire.Message[wire.Reply]
	err := r.update(ctx, id, wire.AskUpdate, wire.Of(ask), &reply)
	return reply.Body, err
}

// Look asks a host something that changes nothing.
func (r *Remote) Look(ctx context.Context, host, id string, l wire.Look) (wire.LookAnswer, error) {
	workflow := wire.TaskID(id)
	if id == "" {
		workflow = wire.HostID(host)
	}
	var seen wire.Message[wire.LookAnswer]
	err := r.update(ctx, workflow, wire.LookActivity, wire.Of(l), &seen)
	if wire.CodeOf(err) == wire.CodeNotKnown { // nothing was asked to be done
		err = wire.Refuse(wire.CodeNotReached, "%s", err)
	}
	return seen.Body, err
}

// Rescue takes a task away from its host.
func (r *Remote) Rescue(ctx context.Context, id string, m wire.Rescue) (wire.Custody, error) {
	var c wire.Message[wire.Custody]
	err := r.update(ctx, wire.TaskID(id), wire.RescueUpdate, wire.Of(m), &c)
	return c.Body, err
}

// Cancel ends the custody of a task that no host has had.
func (r *Remote) Cancel(ctx context.Context, ask wire.Ask) error {
	var c wire.Message[wire.Custody]
	return r.update(ctx, wire.TaskID(ask.Request.Task), wire.CancelUpdate, wire.Of(ask), &c)
}

// Tell begins the custody of a task that a host has.
func (r *Remote) Tell(ctx context.Context, t wire.Newcomer, trust custody.Trust) (wire.Custody, error) {
	c, err := r.server(ctx)
	if err != nil {
		return wire.Custody{}, err
	}
	return core.Tell(ctx, c, r.Setup.Namespace, t.Birth, trust, *t.Report)
}

// AskHost asks a host itself, and not one task.
func (r *Remote) AskHost(ctx context.Context, ask wire.Ask) (wire.Reply, error) {
	var reply wire.Message[wire.Reply]
	err := r.update(ctx, wire.HostID(ask.Request.Host), wire.DrainUpdate, wire.Of(ask), &reply)
	return reply.Body, err
}

// Trust are the lists of keys of the fleet.
func (r *Remote) Trust(ctx context.Context) (custody.Trust, error) {
	c, err := r.server(ctx)
	if err != nil {
		return custody.Trust{}, err
	}
	trust, err := core.Trust(ctx, c, r.Home, r.Setup)
	var refused serviceerror.ServiceError
	if errors.As(err, &refused) || errors.Is(err, context.DeadlineExceeded) { // nothing was asked to be done
		return trust, task.Notef(remote.ErrNotReached, "cannot %v", err)
	}
	return trust, err
}

// update asks a workflow for something, and waits for its answer.
func (r *Remote) update(ctx context.Context, id, name string, message, answer any) error {
	c, err := r.server(ctx)
	if err != nil {
		return err
	}
	err = core.Update(ctx, c, id, name, message, answer)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return wire.Refuse(wire.CodeNotKnown, "no answer of %s in time", id)
	}
	return r.unknown("ask "+id, err)
}

// failed is why something that changes nothing failed.
func (r *Remote) failed(what string, err error) error {
	if wire.CodeOf(r.unknown(what, err)) == wire.CodeNotKnown {
		return task.Notef(remote.ErrNotReached, "cannot %s: the server of the fleet at %s does not answer: %v", what,
			r.Setup.Server, err)
	}
	return r.unknown(what, err)
}

// unknown is why something failed that may have been done all the same: a workflow says what it did not do, and
// everything else may be the way there or back.
func (r *Remote) unknown(what string, err error) error {
	var said *temporal.ApplicationError
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &said) && said.Type() != "":
		return wire.Refuse(wire.Code(said.Type()), "%s", said.Message())
	case errors.As(err, &none):
		return wire.Refuse(wire.CodeOver, "cannot %s: %v", what, err)
	}
	return wire.Refuse(wire.CodeNotKnown, "cannot %s at %s: %v", what, r.Setup.Server, err)
}

package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	workflows "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/fleet/wire"
	"orange/internal/rules/task"
)

// Trust are the lists of keys that the registry of the fleet has. They count as the authority that this machine knows
// signed them, and never go back; the newest are noted for setup.Trust, which needs no server.
func Trust(ctx context.Context, c client.Client, home string, s setup.Setup) (custody.Trust, error) {
	value, err := c.QueryWorkflow(ctx, wire.RegistryID, "", wire.TrustQuery)
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return custody.Trust{}, task.Notef(task.ErrNotFound, "cannot tell whom the fleet %q trusts: its server has "+
			"no registry: run \"orange-fleet serve --init\" where the key of its authority is", s.Namespace)
	}
	var seen custody.Trust
	if err == nil {
		err = value.Get(&seen)
	}
	if err != nil {
		return custody.Trust{}, fmt.Errorf("ask the registry of the fleet %q at %q for the lists of keys: %w",
			s.Namespace, s.Server, err)
	}
	return setup.KeepTrust(ctx, home, s.Namespace, seen)
}

// HasRegistry reports whether the server has a registry of the fleet, without a worker that answers.
func HasRegistry(ctx context.Context, c client.Client) (bool, error) {
	_, err := c.DescribeWorkflowExecution(ctx, wire.RegistryID, "")
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the registry of the fleet: %w", err)
	}
	return true, nil
}

// Publish brings the lists of keys of a fleet to its registry, which begins with the whole state where there is none.
func Publish(ctx context.Context, c client.Client, state registry.State) error {
	handle, err := updateOrBegin(ctx, c, wire.RegistryID, wire.RegistryWorkflow, wire.Of(state), wire.TrustUpdate,
		state.Trust)
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("bring the lists of keys to the registry of the fleet %q: %w", state.Fleet,
			workflowError(err))
	}
	return nil
}

// workflowError is an error as the workflow said it, without what the server adds.
func workflowError(err error) error {
	var said *temporal.ApplicationError
	if errors.As(err, &said) {
		return task.Notef(err, "%s", said.Message())
	}
	return err
}

// Invite brings an invitation to the registry.
func Invite(ctx context.Context, c client.Client, o registry.Order) error {
	return workflowError(Update(ctx, c, wire.RegistryID, wire.InviteUpdate, wire.Of(o), nil))
}

// Join asks the registry to admit a member.
func Join(ctx context.Context, c client.Client, o registry.Order) (registry.Admission, error) {
	var a registry.Admission
	err := Update(ctx, c, wire.RegistryID, wire.JoinUpdate, wire.Of(o), &a)
	return a, workflowError(err)
}

// Members is what the registry knows of the members. It is the server's word: package setup has what the authority
// signed.
func Members(ctx context.Context, c client.Client) (registry.State, error) {
	return Query[registry.State](ctx, c, wire.RegistryID, wire.MembersQuery)
}

// Skew is by how much the clock of the server is ahead of this machine's, at least: what the way there took is not
// counted.
func Skew(ctx context.Context, c client.Client) (time.Duration, error) {
	var there time.Time
	before := time.Now()
	if err := Update(ctx, c, wire.RegistryID, wire.ClockUpdate, nil, &there); err != nil {
		return 0, workflowError(err)
	}
	switch after := time.Now(); {
	case there.Before(before):
		return there.Sub(before), nil
	case there.After(after):
		return there.Sub(after), nil
	}
	return 0, nil
}

// AuthorityWorker is the worker of the machine that has the authority's key.
func AuthorityWorker(c client.Client, admit func(context.Context, registry.Order) (registry.Admission, error),
) worker.Worker {
	w := worker.New(c, wire.AuthorityQueue, worker.Options{DisableWorkflowWorker: true,
		DisableRegistrationAliasing: true})
	w.RegisterActivityWithOptions(func(ctx context.Context, o wire.Message[registry.Order]) (registry.Admission,
		error) {
		admitted, err := admit(ctx, o.Body)
		if err != nil {
			return admitted, flow.Final(err)
		}
		return admitted, nil
	}, activity.RegisterOptions{Name: wire.AdmitActivity})
	return w
}

const spreadAtOnce = 8

// spread brings new lists of keys to every open custody.
func (c calls) spread(ctx context.Context, s flow.Spread) error {
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", wire.TaskWorkflow)
	if !s.Since.IsZero() {
		query += fmt.Sprintf(" AND StartTime >= '%s'", s.Since.UTC().Format(time.RFC3339))
	}
	err := List(ctx, c.server, query, func(found []*workflows.WorkflowExecutionInfo) error {
		return c.trust(ctx, found, s.Trust)
	})
	if err != nil {
		return fmt.Errorf("bring the lists of keys to the open custodies: %w", err)
	}
	return nil
}

// trust brings new lists of keys to some custodies.
func (c calls) trust(ctx context.Context, some []*workflows.WorkflowExecutionInfo, t custody.Trust) error {
	var all error
	var lock sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, spreadAtOnce)
	for _, one := range some {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			err := c.trustOne(ctx, one.GetExecution().GetWorkflowId(), t)
			activity.RecordHeartbeat(ctx)
			lock.Lock()
			defer lock.Unlock()
			all = errors.Join(all, err)
		})
	}
	running.Wait()
	return all
}

func (c calls) trustOne(ctx context.Context, id string, t custody.Trust) error {
	err := Update(ctx, c.server, id, wire.TrustUpdate, t, nil)
	var over *serviceerror.NotFound
	var known *temporal.ApplicationError
	switch {
	case err == nil || errors.As(err, &over):
		return nil
	case errors.As(err, &known) && known.Type() == string(wire.CodeStaleEpoch): // it has newer lists than these
		return nil
	}
	return fmt.Errorf("bring the lists of keys to %q: %w", id, err)
}

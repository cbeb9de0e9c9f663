// Package core is the worker at a fleet's server: it runs the workflows, and has no state of its own. Two of them may
// run at once.
//
// It owns what has to be at the server before a fleet can work, and the calls of one workflow to another. The
// workflows are those of package flow.
package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/durationpb"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/wire"
)

const (
	// TaskTimeout is how long a core worker may take for one step: after that another one takes over.
	TaskTimeout     = 2 * time.Second
	stickyTime      = time.Second
	cachedWorkflows = 1000 // workflows
	retention       = 30 * 24 * time.Hour
	knownAgain      = 200 * time.Millisecond // until what was just made is looked for once more
)

// Worker is a core worker of a server; watch sees what it does.
func Worker(c client.Client, watch ...interceptor.WorkerInterceptor) worker.Worker {
	worker.SetStickyWorkflowCacheSize(cachedWorkflows)
	w := worker.New(c, wire.CoreQueue, worker.Options{StickyScheduleToStartTimeout: stickyTime,
		DisableRegistrationAliasing: true, Interceptors: watch})
	f := flow.Flow{}
	w.RegisterWorkflowWithOptions(f.Task, workflow.RegisterOptions{Name: wire.TaskWorkflow})
	w.RegisterWorkflowWithOptions(f.Host, workflow.RegisterOptions{Name: wire.HostWorkflow})
	w.RegisterWorkflowWithOptions(f.Registry, workflow.RegisterOptions{Name: wire.RegistryWorkflow})
	w.RegisterActivityWithOptions(calls{c}.release, activity.RegisterOptions{Name: wire.ReleaseActivity})
	w.RegisterActivityWithOptions(calls{c}.spread, activity.RegisterOptions{Name: wire.SpreadActivity})
	return w
}

// calls are those of a workflow to another one.
type calls struct{ server client.Client }

// release asks the workflow of a host for a task.
func (c calls) release(ctx context.Context, m wire.Message[wire.Release]) (wire.Message[wire.ReleaseAnswer], error) {
	var answer wire.Message[wire.ReleaseAnswer]
	err := UpdateHost(ctx, c.server, m.Body.Host, wire.ReleaseUpdate, m, &answer)
	return answer, err
}

// UpdateHost sends an update to the workflow of a host, which begins where there is none.
func UpdateHost(ctx context.Context, c client.Client, host, update string, message, answer any) error {
	handle, err := updateOrBegin(ctx, c, wire.HostID(host), wire.HostWorkflow,
		wire.Of(custody.HostState{Host: host}), update, message)
	if err != nil {
		return fmt.Errorf("reach the workflow of the host %q: %w", host, err)
	}
	return handle.Get(ctx, answer)
}

// Init makes what a fleet needs at its server: the namespace, and the attributes that lists search by. What is there
// stays.
func Init(ctx context.Context, options client.Options) error {
	namespaces, err := client.NewNamespaceClient(options)
	if err != nil {
		return fmt.Errorf("reach the server at %s: %w", options.HostPort, err)
	}
	defer namespaces.Close()
	err = namespaces.Register(ctx, &workflowservice.RegisterNamespaceRequest{Namespace: options.Namespace,
		WorkflowExecutionRetentionPeriod: durationpb.New(retention)})
	var there *serviceerror.NamespaceAlreadyExists
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("make the namespace %q: %w", options.Namespace, err)
	}
	c, err := client.NewLazyClient(options)
	if err != nil {
		return fmt.Errorf("reach the server at %s: %w", options.HostPort, err)
	}
	defer c.Close()
	err = untilKnown[*serviceerror.NamespaceNotFound](ctx, func() error {
		return attributes(ctx, c, options.Namespace)
	})
	if err != nil {
		return err
	}
	for _, name := range flow.Attributes() {
		err = untilKnown[*serviceerror.InvalidArgument](ctx, func() error { return search(ctx, c, name) })
		if err != nil {
			return err
		}
	}
	return nil
}

// untilKnown calls until the server knows what was just made: its parts learn of it one after the other, and answer
// with an error of the type E until then.
func untilKnown[E error](ctx context.Context, call func() error) error {
	for {
		err := call()
		if _, unknown := errors.AsType[E](err); !unknown {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(knownAgain):
		}
	}
}

// search searches by an attribute, as the first list will.
func search(ctx context.Context, c client.Client, name string) error {
	_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: name + " = 'any'"})
	if err != nil {
		return fmt.Errorf("search by the attribute %q: %w", name, err)
	}
	return nil
}

func attributes(ctx context.Context, c client.Client, namespace string) error {
	has, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list the attributes of the namespace %q: %w", namespace, err)
	}
	missing := map[string]enums.IndexedValueType{}
	for _, name := range flow.Attributes() {
		if _, there := has.GetCustomAttributes()[name]; !there {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx,
		&operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	if err != nil {
		return fmt.Errorf("make the attributes of the namespace %q: %w", namespace, err)
	}
	return nil
}

// Tell has the custody of a task that a host has begin again at a server that has lost it. Where there is a custody, it
// stays, or the greater epoch counts; the answer is who has the task then.
func Tell(ctx context.Context, c client.Client, fleet string, birth wire.Birth, trust custody.Trust, r wire.Report) (
	wire.Custody, error) {
	state, err := custody.Resume(fleet, birth, trust, r, time.Now())
	if err != nil {
		return wire.Custody{}, err
	}
	again := wire.Of(state)
	var answer wire.Message[wire.Custody]
	handle, err := updateOrBegin(ctx, c, wire.TaskID(r.Task), wire.TaskWorkflow, flow.Start{Fleet: fleet, Task: r.Task,
		State: &again}, wire.TellUpdate, wire.Of(r))
	if err == nil {
		err = handle.Get(ctx, &answer)
	}
	if err != nil {
		return wire.Custody{}, fmt.Errorf("tell the server of task %s: %w", r.Task, workflowError(err))
	}
	return answer.Body, nil
}

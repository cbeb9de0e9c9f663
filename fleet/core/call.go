package core

import (
	"context"

	enums "go.temporal.io/api/enums/v1"
	workflows "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/wire"
)

// Update asks a workflow for something, and waits for its answer.
func Update(ctx context.Context, c client.Client, id, name string, message, answer any) error {
	handle, err := c.UpdateWorkflow(ctx, update(id, name, message))
	if err != nil {
		return err
	}
	return handle.Get(ctx, answer)
}

func update(id, name string, message any) client.UpdateWorkflowOptions {
	o := client.UpdateWorkflowOptions{WorkflowID: id, UpdateName: name,
		WaitForStage: client.WorkflowUpdateStageCompleted}
	if message != nil {
		o.Args = []any{message}
	}
	return o
}

// start are the options of a workflow that begins where there is none.
func start(id string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: id, TaskQueue: wire.CoreQueue, WorkflowTaskTimeout: TaskTimeout,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING}
}

// updateOrBegin asks a workflow that begins, of a type and with a state, where there is none.
func updateOrBegin(ctx context.Context, c client.Client, id, kind string, state any, name string, message any) (
	client.WorkflowUpdateHandle, error) {
	begin := c.NewWithStartWorkflowOperation(start(id), kind, state)
	return c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{StartWorkflowOperation: begin,
		UpdateOptions: update("", name, message)})
}

// Begin begins the custody of a task; one that is there goes on as it is.
func Begin(ctx context.Context, c client.Client, fleet, id string, b wire.Birth, trust custody.Trust) error {
	birth := wire.Of(b)
	_, err := c.ExecuteWorkflow(ctx, start(wire.TaskID(id)), wire.TaskWorkflow,
		flow.Start{Fleet: fleet, Task: id, Birth: &birth, Trust: trust})
	return err
}

// Query asks a workflow how it is.
func Query[T wire.Body](ctx context.Context, c client.Client, id, name string) (T, error) {
	var m wire.Message[T]
	value, err := c.QueryWorkflow(ctx, id, "", name)
	if err == nil {
		err = value.Get(&m)
	}
	return m.Body, err
}

// page is how many workflows the server lists at once.
const page = 500

// List lists workflows, and hands the pages of them on.
func List(ctx context.Context, c client.Client, query string, each func([]*workflows.WorkflowExecutionInfo) error,
) error {
	var next []byte
	for {
		found, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: page,
			NextPageToken: next})
		if err != nil {
			return err
		}
		if err := each(found.GetExecutions()); err != nil {
			return err
		}
		if next = found.GetNextPageToken(); len(next) == 0 {
			return nil
		}
	}
}

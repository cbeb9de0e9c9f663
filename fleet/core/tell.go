package core

import (
	"context"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/wire"
)

// Tell has the custody of a task that a host has begin again at a server that has lost it. Where there is a custody, it
// stays, or the greater epoch counts; the answer is who has the task then.
func Tell(ctx context.Context, c client.Client, fleet string, birth wire.Birth, trust custody.Trust, r wire.Report) (
	wire.Custody, error) {
	state, err := custody.Resumed(fleet, birth, trust, r, time.Now())
	if err != nil {
		return wire.Custody{}, err
	}
	again := wire.Of(state)
	start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{ID: wire.TaskID(r.Task),
		TaskQueue: wire.CoreQueue, WorkflowTaskTimeout: TaskTimeout,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING}, wire.TaskWorkflow,
		flow.Start{Fleet: fleet, Task: r.Task, State: &again})
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{UpdateName: wire.TellUpdate, Args: []any{wire.Of(r)},
			WaitForStage: client.WorkflowUpdateStageCompleted}})
	var answer wire.Message[wire.Custody]
	if err == nil {
		err = handle.Get(ctx, &answer)
	}
	if err != nil {
		return wire.Custody{}, fmt.Errorf("tell the server of task %s: %w", r.Task, plain(err))
	}
	return answer.Body, nil
}

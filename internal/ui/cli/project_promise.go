package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// mayPromise refuses a promise that the workflow of a project's tasks cannot keep.
func mayPromise(c *cobra.Command, h *Services, p task.Project) error {
	if len(p.Promise) == 0 || !c.Flags().Changed("promise") && !c.Flags().Changed("workflow") {
		return nil
	}
	def, err := h.Workflows.Workflow(cmp.Or(p.Workflow, task.DefaultWorkflow))
	if err != nil {
		return err
	}
	return h.Workflows.Promises(def, p.Promise)
}

// promiseLive gives the live tasks of a project its promise, if they are to have it.
func promiseLive(ctx context.Context, h *Services, p task.Project, wanted bool) error {
	if !wanted {
		return nil
	}
	live, err := h.Queries.Tasks(ctx, record.Filter{Project: p.Name, Live: true})
	if err != nil {
		return err
	}
	var all error
	for _, t := range live {
		if err := promiseTask(ctx, h, t, p.Promise); err != nil {
			all = errors.Join(all, fmt.Errorf("the project is changed, and task %s keeps the promise that it had: %w",
				t.ID, err))
		}
	}
	return all
}

// promiseTask gives a task another promise, if its own workflow can keep it.
func promiseTask(ctx context.Context, h *Services, t task.Task, promise []string) error {
	_, def, err := h.Queries.Pinned(ctx, t.ID)
	if err == nil {
		err = h.Workflows.Promises(def, promise)
	}
	if err != nil {
		return err
	}
	actor, err := h.Identity.Actor(ctx, t.ID, "")
	if err == nil {
		_, err = h.Commands.Update(ctx, t.ID, task.Update{Actor: actor, Promise: &promise})
	}
	return err
}

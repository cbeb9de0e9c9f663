package engine

import (
	"context"
	"fmt"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// DryRun is what a new task needs so that it can start, and whether that is so. Nothing changes.
func (e *rooms) DryRun(ctx context.Context, n task.New) ([]rejection.Readiness, error) {
	t := task.Task{Project: n.Project.Name, Branch: n.Branch}
	branch := rejection.Readiness{What: "branch", Found: fmt.Sprintf("there is room for %q", n.Branch)}
	if n.Branch == "" {
		branch.Found = "it gets a name of its own"
	} else if err := e.looks.checkBranch(ctx, n.Project, t); err != nil {
		branch = rejection.Readiness{What: "branch", Found: err.Error(), Want: "choose another one"}
	}
	all, err := e.ready(ctx, t)
	return append([]rejection.Readiness{branch}, all...), err
}

// refuseUnready refuses to start a task that cannot start, before it moves. A task that was queued has asked already.
func (e *rooms) refuseUnready(ctx context.Context, t task.Task, req task.Request, c record.Change) error {
	if e.ready == nil || c.Lease != record.LeaseReserve || req.Queued || req.Waited {
		return nil
	}
	all, err := e.ready(ctx, t)
	if err != nil {
		return fmt.Errorf("ask what task %s needs to start: %w", t.ID, err)
	}
	no := &rejection.Rejection{Code: rejection.NotReady, Task: t.ID, Message: fmt.Sprintf("cannot start task %s", t.ID)}
	for _, one := range all {
		if one.Want != "" {
			no.Details = append(no.Details, rejection.Detail{Condition: one.What, Found: one.Found, Want: one.Want})
		}
	}
	if len(no.Details) == 0 {
		return nil
	}
	return no
}

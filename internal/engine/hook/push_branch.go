package hook

import (
	"context"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
)

// remotePatience is how long origin may take: no person may be there to see that it does not answer, and other
// hooks wait.
const remotePatience = 5 * time.Minute

// pushBranch brings the task's branch to origin. Without an origin there is nothing to do.
func (h *Executor) pushBranch(ctx context.Context, job record.Job) (record.Effect, error) {
	return h.push(ctx, job, "")
}

// push brings one commit of the branch to origin; the newest one where none is named.
func (h *Executor) push(ctx context.Context, job record.Job, wanted string) (record.Effect, error) {
	ctx, cancel := context.WithTimeout(ctx, remotePatience)
	defer cancel()
	commit, moved, err := h.Work.Push(ctx, job.Task, wanted)
	switch {
	case err != nil:
		return record.Effect{}, err
	case commit == "":
		return record.Effect{Said: "no origin to push to"}, nil
	case !moved:
		return record.Effect{Pushed: &commit, Said: "origin has the branch already"}, nil
	}
	event := history.Event{Type: history.BranchPushed, Data: map[string]string{
		"branch": job.Task.Branch, "commit": commit}}
	return record.Effect{Pushed: &commit, Events: []history.Event{event}, Said: "pushed " + job.Task.Branch}, nil
}

package hook

import (
	"context"

	"orange/internal/rules/record"
)

// deleteRemoteBranch deletes the task's branch on origin, if nothing on it would be lost.
func (h *Executor) deleteRemoteBranch(ctx context.Context, job record.Job) (record.Effect, error) {
	landed, err := h.mergedCommit(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	deleted, err := h.Work.DeleteRemoteBranch(ctx, job.Task, landed)
	if err != nil {
		return record.Effect{}, err
	}
	switch {
	case deleted.Left != "":
		return record.Effect{Said: "left the remote branch alone: " + deleted.Left}, nil
	case deleted.Tip == "":
		return record.Effect{Said: "no remote branch to delete"}, nil
	}
	return record.Effect{Said: "deleted " + deleted.Tip}, nil
}

// mergedCommit is the commit that the task's pull request was merged from; empty where it was not.
func (h *Executor) mergedCommit(ctx context.Context, job record.Job) (string, error) {
	t := job.Task
	if t.PRState != record.PRMerged {
		return "", nil
	}
	known, err := h.Work.Find(ctx, job.Project, t.Branch)
	for _, pr := range known {
		if pr.URL == t.PRURL && pr.State == record.PRMerged {
			return pr.Commit, err
		}
	}
	return "", err
}

package hook

import (
	"context"
	"fmt"
	"slices"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
)

// updatePR pushes the commit that the move is about to the task's open pull request, as the project pushes. Where it
// asks each time the hook fails with the commands for both answers, so that the task waits for a person.
func (h *Executor) updatePR(ctx context.Context, job record.Job) (record.Effect, error) {
	t, commit := job.Task, job.Event.Subject.Commit
	create := "orange task create-pr " + t.ID
	switch {
	case !t.Live || t.PRState != record.PROpen:
		return record.Effect{Said: "there is no open pull request any more: nothing was pushed"}, nil
	case commit == "" || commit == t.Pushed:
		return record.Effect{Said: "its pull request has the judged commit already"}, nil
	case job.Project.Push == "never":
		left := history.Event{Type: history.PRLeftBehind, Reason: fmt.Sprintf("%s has not got the judged commit %.7s: "+
			"project %q pushes nothing by itself; push it with %s", t.PRURL, commit, job.Project.Name, create)}
		return record.Effect{Events: []history.Event{left}, Said: left.Reason}, nil
	case job.Project.Push == "ask":
		return record.Effect{}, fmt.Errorf("%s lacks the judged commit %.7s, and project %q asks before each push; "+
			"push it: %s; or leave it: orange task retry %s --drop", t.PRURL, commit, job.Project.Name, create, t.ID)
	}
	known, err := h.Work.Find(ctx, job.Project, t.Branch)
	if err != nil {
		return record.Effect{}, err
	}
	own := func(pr record.PullRequest) bool {
		return pr.URL == t.PRURL && pr.State == record.PROpen && !pr.Foreign
	}
	if !slices.ContainsFunc(known, own) {
		return record.Effect{}, fmt.Errorf("%s is not open for the branch %q of origin, and nothing was pushed: it "+
			"may be over, or of a fork; push %.7s where it comes from yourself, and then: orange task retry %s --drop",
			t.PRURL, t.Branch, commit, t.ID)
	}
	return h.push(ctx, job, commit)
}

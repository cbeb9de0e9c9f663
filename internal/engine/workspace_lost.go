package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/fencing"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// displace has a task that comes back wait for a workspace in its own status, where the one that its header names is
// not here or not its own: the folder came from another machine, or the worktree was removed. A task with a living
// agent keeps what it has. Where the workspace cannot be looked at, nothing is known, and the task keeps it too.
func (e *arrivals) displace(ctx context.Context, a *record.Adoption) error {
	t := &a.Task
	if a.Foreign || !t.Live || t.Workspace == "" || len(a.Seats) > 0 {
		return nil
	}
	if held, err := e.work.Holds(ctx, *t); err != nil || held {
		return nil // the doctor reports a worktree that cannot be looked at
	}
	def, err := e.rulesOf(ctx, *t)
	if err != nil {
		return err
	}
	a.Notes = append(a.Notes, fmt.Sprintf("its workspace %q is not here or not its own: it goes on in a free one",
		t.Workspace))
	t.Workspace, t.Session = "", ""
	s := step{Snapshot: record.Snapshot{Task: *t}, def: def}
	c, err := queueRuling(s, t.Status, task.Actor{Rule: true}, e.now()).withInputs(s)
	*t, a.Events = c.Task, append(a.Events, c.Events...)
	return err
}

// settleIn gives a task that waits for it in its own status a workspace, and starts the agent of the status there.
// The outcome is queued where none is free.
func (e *rooms) settleIn(ctx context.Context, id string) (record.Outcome, error) {
	actor := task.Actor{Rule: true}
	s, started, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		if !s.Task.Displaced() {
			return nil, nil // another process was first
		}
		if err := e.branchThere(ctx, s.Task); err != nil {
			return nil, err
		}
		return e.respawnRuling(ctx, s, false, actor)
	})
	switch {
	case errors.Is(err, task.ErrPoolFull):
		s, err := e.record.Load(ctx, id)
		return record.Outcome{Task: s.Task, Queued: true}, err
	case err != nil || !started:
		return record.Outcome{Task: s.Task}, err
	}
	return e.outcomes.conclude(ctx, s.Task, s.Task.Seq, actor)
}

// makeRoom gives a task a workspace that lost its own, and is about to move on to a status that may need one. Its
// errAgain has the request judged again; any other error is why it cannot be had.
func (e *rooms) makeRoom(ctx context.Context, t task.Task) error {
	out, err := e.settleIn(ctx, t.ID)
	switch {
	case err != nil:
		return err
	case out.Queued:
		return e.noRoom(ctx, t)
	}
	return errAgain
}

// branchThere refuses to begin work again that there is elsewhere: a workspace for a branch that the repository does
// not have would start at the default branch.
func (e *rooms) branchThere(ctx context.Context, t task.Task) error {
	if t.Subject.Commit == "" {
		return nil // nothing of it was judged yet
	}
	there, err := e.work.HasBranch(ctx, t)
	if err != nil || there {
		return err
	}
	return &noBranch{t}
}

// noBranch says that the repository lacks the branch of a task that goes on here.
type noBranch struct{ task task.Task }

func (n *noBranch) Error() string {
	t := n.task
	return fmt.Sprintf("cannot give task %s a workspace: the repository has no branch %q, and its history tells of "+
		"the commit %.12s there; fetch the branch from where the task was (git fetch URL %s:%s), then: orange task "+
		"respawn %s", t.ID, t.Branch,
		t.Subject.Commit, t.Branch, t.Branch, t.ID)
}

// goOn is settleIn for a task that is next in the queue. Where its branch is missing it gets a mark, and the next task
// may have the workspace.
func (e *turns) goOn(ctx context.Context, id string) (out record.Outcome, next bool, err error) {
	out, err = e.rooms.settleIn(ctx, id)
	missing, is := errors.AsType[*noBranch](err)
	if !is {
		return out, false, err
	}
	_, _, err = e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		c, due := fencing.WithoutBranch(s.Task, missing.Error(), e.now())
		return c, due, nil
	})
	return record.Outcome{}, true, err
}

// startDisplaced has those go on that came back without their workspace, and reads them again.
func (e *arrivals) startDisplaced(ctx context.Context, all []record.Adopted) {
	projects := map[string]bool{}
	for i := range all {
		if t := all[i].Task; all[i].Err == nil && t.Displaced() {
			projects[t.Project] = true
			// Only people have tasks brought back.
			e.outcomes.keepEnvironment(ctx, t.ID, task.Actor{Role: task.RoleHuman})
		}
	}
	for project := range projects { // each independently
		for {
			started, err := e.turns.StartNext(ctx, project)
			if err != nil {
				e.log.Warn("a task that came back could not go on", "component", "engine", "project", project, "error",
					err.Error())
			}
			if started == "" {
				break
			}
		}
	}
	for i := range all {
		if t := all[i].Task; all[i].Err != nil || !projects[t.Project] || !t.Displaced() {
			continue
		}
		if s, err := e.record.Load(ctx, all[i].Task.ID); err == nil {
			all[i].Task = s.Task
		}
	}
}

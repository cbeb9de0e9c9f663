package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// poolFull is the error of what cannot be done because no workspace of a project is free.
func (e *rooms) poolFull(ctx context.Context, p task.Project, what string) error {
	holders, err := e.record.Holders(ctx, p.Name)
	if err != nil {
		return err
	}
	return task.Notef(task.ErrPoolFull, "cannot %s: %s", what, takenBy(p, holders))
}

// noRoom is the error of a task that needs a workspace now, and cannot wait for one in a queue.
func (e *rooms) noRoom(ctx context.Context, t task.Task) error {
	project, err := e.project(t.Project)
	if err != nil {
		return err
	}
	return e.poolFull(ctx, project, "give task "+t.ID+" a workspace")
}

// takenBy says that a project's workspaces are all taken, and by whom.
func takenBy(p task.Project, holders []record.Holder) string {
	text := fmt.Sprintf("all %d workspaces of %q are taken", p.PoolSize, p.Name)
	for i, h := range holders {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s (%s, %s)", sep, h.Task, h.Branch, h.Status)
	}
	return text
}

// queue marks a task that waits for a workspace, and names the tasks that have them.
func (e *rooms) queue(ctx context.Context, t task.Task, req task.Request) (record.Outcome, error) {
	if _, err := e.project(t.Project); err != nil {
		return record.Outcome{}, err // no workspace of it becomes free
	}
	s, _, err := e.do(ctx, t.ID, e.withRules, func(s step) (*ruling, error) {
		if s.Task.QueuedFor == req.To || s.Task.Status != t.Status {
			return nil, nil
		}
		return queueRuling(s, req.To, req.Actor, e.now()), nil
	})
	if err != nil {
		return record.Outcome{}, err
	}
	e.outcomes.keepEnvironment(ctx, t.ID, req.Actor) // the process that gives a workspace back may start it
	if err := e.files.Sync(ctx, t.ID); err != nil {
		return record.Outcome{}, err
	}
	holders, err := e.record.Holders(ctx, t.Project)
	return record.Outcome{Task: s.Task, Queued: true, Holders: holders}, err
}

// queueRuling has a task wait for a workspace, for a move to a status or in its own.
func queueRuling(s step, to task.Status, actor task.Actor, now time.Time) *ruling {
	return &ruling{change: decide.Queue(s.def, s.Task, to, actor, now),
		in: replay.Inputs{Ask: replay.AskQueue, To: to}.By(actor)}
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

// respawnRuling has the agent of a task started again.
func (e *rooms) respawnRuling(ctx context.Context, s step, lives bool, actor task.Actor) (*ruling, error) {
	missing, err := e.work.Missing(ctx, s.Task)
	if err != nil {
		return nil, err
	}
	c, err := decide.Respawn(s.def, s.Task, lives, missing != "", actor, e.now())
	if err == nil && c.Lease == record.LeaseReserve {
		_, err = e.project(s.Task.Project) // one that is gone has no workspaces, and never will
	}
	return &ruling{change: c, in: replay.Inputs{Ask: replay.AskRespawn, Missing: missing != ""}.By(actor),
		overtaken: "overtaken by a respawn"}, err
}

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

// Free ends the session of a task that is over and gives its workspace back, if its last transition did not.
func (e *rooms) Free(ctx context.Context, id string) error {
	s, changed, err := e.do(ctx, id, e.onRecord, func(s step) (*ruling, error) {
		c, due := decide.Free(s.Task, s.Owed, e.now())
		if !due {
			return nil, nil
		}
		return &ruling{change: c, in: replay.Inputs{Ask: replay.AskFree}}, nil
	})
	if err != nil || !changed {
		return err
	}
	_, err = e.outcomes.announceAndRun(ctx, s.Task, true)
	return err
}

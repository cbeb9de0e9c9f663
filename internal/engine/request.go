package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Request judges a request on fresh evidence. If it grants the request, it commits the move, has its hooks performed
// and waits for them a while. A refusal is a *rejection.Rejection, and nothing has changed.
// Asking for the status that the task already has succeeds and does nothing.
func (e *requests) Request(ctx context.Context, req task.Request) (record.Outcome, error) {
	return e.outcomes.once(ctx, req.Task, req.Actor, func() (record.Outcome, error) { return e.move(ctx, req) })
}

// move is Request without a look at the request's key.
func (e *requests) move(ctx context.Context, req task.Request) (record.Outcome, error) {
	r := &request{Request: req}
	if req.To == workflow.Previous {
		r.target = func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
			to, err := decide.Back(def, t, req)
			return to, false, err
		}
	}
	return e.request(ctx, r)
}

// request is a request on its way to a move:
//
//	Request/Command -> request -> attempt -> do: lookFor -> judged -> commit -> conclude
//	                      ^          |            ^                     |
//	                      +----------+            +---------------------+  while another process was faster
//	      once, while hooks of an earlier move are pending
type request struct {
	task.Request
	target target                                 // nil once Request.To is known
	before func(task.Task, decide.Evidence) error // nil, or what runs once between the yes and its commit
	known  *earlierLook                           // nil, or what an earlier look has found
	waited bool                                   // for the pending hooks of earlier moves
	absent bool                                   // the actor asked some time ago: this process is not theirs
	event  int                                    // whose hooks are pending
}

// performer is for whom hooks are performed now: for no person where this process is not theirs.
func (r *request) performer() task.Actor {
	if r.absent {
		return task.Actor{Rule: true}
	}
	return r.Actor
}

// target is where a request leads, by the first snapshot of its task: tried again, it leads to the same state.
// done reports that there is nothing to do.
type target func(def *workflow.Definition, t task.Task) (to task.Status, done bool, err error)

// earlierLook is what an earlier look has found, in the place of a new one.
type earlierLook struct {
	facts   map[string]decide.Fact
	subject task.Subject
	pull    *record.PullRequest // the merged one that the move follows; nil where there is none
	landed  string              // the commit that was merged there
}

// in is evidence with what is known in the place of what was found.
func (k *earlierLook) in(evidence decide.Evidence) decide.Evidence {
	all := map[string]decide.Fact{}
	maps.Copy(all, evidence.Facts)
	maps.Copy(all, k.facts)
	evidence.Facts, evidence.Subject, evidence.Landed = all, k.subject, k.landed
	return evidence
}

var (
	// errDone reports that what a request asks for is done already.
	errDone = errors.New("it is done already")
	// errHooksPending reports that hooks of an earlier move come first.
	errHooksPending = errors.New("hooks of an earlier move are pending")
)

// begins resolves where the request leads, and lets hooks of earlier moves go first, once. A cancellation waits for
// none.
func (r *request) begins(def *workflow.Definition, s record.Snapshot) error {
	if r.target != nil {
		to, done, err := r.target(def, s.Task)
		if err != nil {
			return err
		}
		if r.To, r.target = to, nil; done {
			return errDone
		}
	}
	if cancelled, may := def.Move(workflow.MoveCancel); r.waited || may && cancelled == r.To {
		return nil // a cancellation drops what would still start something, and ends what is performed of that
	}
	event, pending := firstPending(s.Owed)
	if r.event = event; pending {
		return errHooksPending
	}
	return nil
}

// request attempts the move, after the hooks of an earlier one.
func (e *requests) request(ctx context.Context, r *request) (record.Outcome, error) {
	out, err := e.attempt(ctx, r)
	if errors.Is(err, errHooksPending) {
		if _, err := e.outcomes.awaitHooks(ctx, ctx.Done(), r.Task, r.event, r.performer()); err != nil {
			return record.Outcome{}, err
		}
		r.waited = true
		out, err = e.attempt(ctx, r)
	}
	if errors.Is(err, errDone) {
		return out, nil
	}
	err = e.reactions.noteRefusal(ctx, r.Request, err)
	if !out.Moved {
		e.files.restoreFiles(ctx, r.Task)
	}
	return out, err
}

func (e *requests) attempt(ctx context.Context, r *request) (record.Outcome, error) {
	var was step
	moves := false
	then, _, err := e.do(ctx, r.Task, e.looks.lookFor(r), func(s step) (*ruling, error) {
		was, moves = s, false
		decision, err := e.decideRequest(s, r)
		if err != nil || !decision.Moved {
			return nil, err
		}
		c, err := e.startable(ctx, s, r, decision.Change)
		if err == nil && r.before != nil {
			if err = r.before(s.Task, s.evidence); err == nil {
				r.before = nil
			}
		}
		if moves = err == nil; !moves {
			return nil, err
		}
		in := replay.Inputs{Ask: replay.AskMove, To: r.To, Override: r.Override}.By(r.Actor)
		return &ruling{change: c, in: in, overtaken: "overtaken by a later transition"}, nil
	})
	t := then.Task
	switch {
	case errors.Is(err, task.ErrPoolFull) && moves:
		return e.rooms.queue(ctx, was.Task, r.Request)
	case errors.Is(err, errDone):
		return record.Outcome{Task: t}, err
	case err != nil:
		return record.Outcome{}, err
	case !moves:
		return record.Outcome{Task: t, Hooks: was.Owed}, nil // what is still owed belongs to the answer
	}
	if (was.Task.Queued() || was.Task.WaitsForTasks() || owesRoom(was.Owed)) && t.Workspace == "" {
		e.outcomes.dropEnvironment(ctx, t.ID) // it waits for no workspace any more
	}
	return e.outcomes.conclude(ctx, t, t.Seq, r.performer())
}

// startable refuses a move that cannot start what it is to start, and gives a task a workspace that lost its own.
func (e *requests) startable(ctx context.Context, s step, r *request, c record.Change) (record.Change, error) {
	if _, err := e.project(s.Task.Project); err != nil {
		return c, err // no hook of the move could be performed
	}
	if s.Task.Displaced() && c.Task.Live && c.Lease != record.LeaseReserve {
		return c, e.rooms.makeRoom(ctx, s.Task)
	}
	if c.Lease == record.LeaseReserve {
		if err := e.rooms.branchThere(ctx, s.Task); err != nil {
			return c, err
		}
	}
	if err := e.rooms.refuseUnready(ctx, s.Task, r.Request, c); err != nil {
		return c, err
	}
	if r.known != nil && r.known.pull != nil {
		c.Task = decide.MarkOtherHead(s.Task, c.Task, *r.known.pull)
	}
	return c, nil
}

// settleOwed drops the owed hooks that a new step overtakes, and makes the others due at once: the new ones wait
// for them.
func settleOwed(owed []task.OwedHook, next record.Change, why string) []record.Settled {
	var out []record.Settled
	overtaken := decide.Overtaken(owed, next)
	for _, h := range owed {
		switch {
		case slices.Contains(overtaken, h.ID):
			out = append(out, record.Settled{ID: h.ID, State: task.HookSuperseded, Error: why})
		case h.State == task.HookFailed:
			out = append(out, record.Settled{ID: h.ID, State: task.HookPending, Error: h.Error})
		}
	}
	return out
}

// judge looks at the evidence and decides.
func (e *requests) judge(ctx context.Context, r *request) (step, decide.Decision, error) {
	s, err := e.looks.lookFor(r)(ctx, r.Task)
	if err != nil {
		return s, decide.Decision{}, err
	}
	decision, err := e.decideRequest(s, r)
	return s, decision, err
}

// decideRequest decides on a request.
func (e *requests) decideRequest(s step, r *request) (decide.Decision, error) {
	decision, err := decide.Transition(s.def, s.Task, s.evidence, r.Request, e.now())
	if err == nil && decision.Moved {
		after := &decision.Change.Task
		after.Attention = cmp.Or(after.Attention, decide.LeftAlone(s.def, s.Owed, decision.Change))
	}
	return decision, err
}

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Request judges a request on fresh evidence. If it grants the request, it commits the move, has its hooks performed
// and waits for them a while. A refusal is a *rejection.Rejection, and nothing has changed.
// Asking for the status that the task already has succeeds and does nothing.
func (e *Engine) Request(ctx context.Context, req task.Request) (record.Outcome, error) {
	return e.once(ctx, req.Task, req.Actor, func() (record.Outcome, error) { return e.move(ctx, req) })
}

// move is Request without a look at the request's key.
func (e *Engine) move(ctx context.Context, req task.Request) (record.Outcome, error) {
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
	known  *known                                 // nil, or what an earlier look has found
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

// known is what an earlier look has found, in the place of a new one.
type known struct {
	facts   map[string]decide.Fact
	subject task.Subject
	pull    *record.PullRequest // the merged one that the move follows; nil where there is none
	landed  string              // the commit that was merged there
}

// in is evidence with what is known in the place of what was found.
func (k *known) in(evidence decide.Evidence) decide.Evidence {
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

// begins resolves where the request leads, and lets hooks of earlier moves go first, once.
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
	if r.waited {
		return nil
	}
	event, pending := firstPending(s.Owed)
	if r.event = event; pending {
		return errHooksPending
	}
	return nil
}

// request attempts the move, after the hooks of an earlier one.
func (e *Engine) request(ctx context.Context, r *request) (record.Outcome, error) {
	out, err := e.attempt(ctx, r)
	if errors.Is(err, errHooksPending) {
		if _, err := e.awaitHooks(ctx, ctx.Done(), r.Task, r.event, r.performer()); err != nil {
			return record.Outcome{}, err
		}
		r.waited = true
		out, err = e.attempt(ctx, r)
	}
	if errors.Is(err, errDone) {
		return out, nil
	}
	err = e.refused(ctx, r.Request, err)
	if !out.Moved {
		e.restoreFiles(ctx, r.Task)
	}
	return out, err
}

// restoreFiles makes the files equal to the record after a request that changed nothing: it removes a status that
// was written into the header. Its failure is not part of the refusal; the next change or the monitor reports it.
func (e *Engine) restoreFiles(ctx context.Context, id string) {
	_, _, mirrors, err := e.refresh(ctx, id, headerAlone)
	if err = errors.Join(err, mirrors); err != nil && !errors.Is(err, task.ErrNotFound) {
		e.logFailure("the files could not be made equal to the record", id, err)
	}
}

func (e *Engine) attempt(ctx context.Context, r *request) (record.Outcome, error) {
	var was step
	moves := false
	then, _, err := e.do(ctx, r.Task, e.lookFor(r), func(s step) (*ruling, error) {
		was, moves = s, false
		decision, err := e.judged(s, r)
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
		return e.queue(ctx, was.Task, r.Request)
	case errors.Is(err, errDone):
		return record.Outcome{Task: t}, err
	case err != nil:
		return record.Outcome{}, err
	case !moves:
		return record.Outcome{Task: t, Hooks: was.Owed}, nil // what is still owed belongs to the answer
	}
	if (was.Task.Queued() || was.Task.WaitsForTasks() || owesRoom(was.Owed)) && t.Workspace == "" {
		e.dropEnvironment(ctx, t.ID) // it waits for no workspace any more
	}
	return e.conclude(ctx, t, t.Seq, r.performer())
}

// startable refuses a move that cannot start what it is to start, and gives a task a workspace that lost its own.
func (e *Engine) startable(ctx context.Context, s step, r *request, c record.Change) (record.Change, error) {
	if _, err := e.Work.Project(s.Task.Project); err != nil {
		return c, err // no hook of the move could be performed
	}
	if s.Task.Displaced() && c.Task.Live && c.Lease != record.LeaseReserve {
		return c, e.room(ctx, s.Task)
	}
	if c.Lease == record.LeaseReserve {
		if err := e.branchThere(ctx, s.Task); err != nil {
			return c, err
		}
	}
	if err := e.ready(ctx, s.Task, r.Request, c); err != nil {
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
func (e *Engine) judge(ctx context.Context, r *request) (step, decide.Decision, error) {
	s, err := e.lookFor(r)(ctx, r.Task)
	if err != nil {
		return s, decide.Decision{}, err
	}
	decision, err := e.judged(s, r)
	return s, decision, err
}

// judged decides on a request.
func (e *Engine) judged(s step, r *request) (decide.Decision, error) {
	decision, err := decide.Transition(s.def, s.Task, s.evidence, r.Request, e.Now())
	if err == nil && decision.Moved {
		after := &decision.Change.Task
		after.Attention = cmp.Or(after.Attention, decide.LeftAlone(s.def, s.Owed, decision.Change))
	}
	return decision, err
}

// lookFor loads the task, and reads what a request depends on: all of the document if a gate may ask for it, else
// its header alone. It does not look at what is known already.
func (e *Engine) lookFor(r *request) look {
	return func(ctx context.Context, id string) (step, error) {
		for {
			s, before, err := e.inspectFor(ctx, id, r)
			if err != nil {
				return s, err
			}
			if renamed, err := e.followBranch(ctx, s.Snapshot); err != nil || renamed {
				if err != nil {
					return s, err
				}
				continue
			}
			if s.Task.Status != before.Status || s.Task.Previous != before.Previous {
				continue // another process moved it while its files were compared
			}
			parts := decide.Needs(s.def, s.Task, r.To)
			if r.known != nil {
				parts = slices.DeleteFunc(parts, func(p workflow.Part) bool {
					_, is := r.known.facts[p.Key()]
					return is
				})
			}
			tree := decide.WantsTree(s.def, s.Task, r.To)
			err = e.facts(ctx, s.Snapshot, s.def, tree, parts, &s.evidence, r.To)
			if err == nil && r.known != nil {
				s.evidence = r.known.in(s.evidence)
			}
			return s, err
		}
	}
}

// inspectFor inspects the task of a request. before is the task as it was when it was decided what to read of it.
func (e *Engine) inspectFor(ctx context.Context, id string, r *request) (s step, before task.Task, err error) {
	s.Snapshot, s.evidence, err = e.inspect(ctx, id, func(now record.Snapshot) (whole bool, err error) {
		if s.def, err = e.rules(ctx, now.Task); err == nil {
			err = r.begins(s.def, now)
		}
		if err != nil {
			return false, err
		}
		before = now.Task
		return decide.NeedsDocument(decide.Needs(s.def, now.Task, r.To)), nil
	})
	return s, before, err
}

// followBranch takes over the name that someone gave the task's branch in its workspace, and reports whether it did.
// It ignores a name that the task cannot have: it can read the branch all the same.
func (e *Engine) followBranch(ctx context.Context, s record.Snapshot) (bool, error) {
	name := subjectOf(ctx, e.Work, s, false).Branch
	if name == "" || name == s.Task.Branch {
		return false, nil
	}
	project, err := e.Work.Project(s.Task.Project)
	if err != nil {
		return false, err
	}
	renamed := s.Task
	renamed.Branch = name
	if e.checkBranch(ctx, project, renamed) != nil {
		return false, nil
	}
	data := map[string]string{history.DataBranch: name}
	if session := e.renameSession(ctx, s.Task, name); session != "" {
		data[history.DataSession] = session
	}
	_, _, err = e.change(ctx, s.Task.ID, func(s record.Snapshot) (record.Change, bool, error) {
		t := s.Task
		t.Branch, t.UpdatedAt = name, e.Now()
		told := inSession(&t, data)
		return record.Change{Task: t, Expect: s.Task.Version, Events: []history.Event{{
			Time: t.UpdatedAt, Type: history.Updated, Actor: task.ActorEngine,
			Reason: "its branch was renamed in the workspace",
			Data:   told,
		}}}, true, nil
	})
	return err == nil, err
}

// facts adds to the evidence its subject, and what the parts ask for outside the document. tree reports whether
// the content of the worktree belongs to it. No lock is held meanwhile: a check may take its time.
func (e *Engine) facts(ctx context.Context, s record.Snapshot, def *workflow.Definition, tree bool,
	parts []workflow.Part, evidence *decide.Evidence, to ...task.Status) error {
	evidence.Subject = subjectOf(ctx, e.Work, s, tree)
	if decide.LooksBack(def, s.Task, to...) {
		var err error
		if evidence.History, err = e.Record.Events(ctx, s.Task.ID, 0); err != nil {
			return err
		}
	}
	parts = slices.DeleteFunc(parts, func(p workflow.Part) bool { return p.Section != "" })
	if len(parts) == 0 {
		return nil
	}
	git := slices.ContainsFunc(parts, func(p workflow.Part) bool { return p.Git != "" })
	for range maxConflicts {
		facts, err := e.Facts(ctx, s.Task, def, parts)
		if err != nil {
			return fmt.Errorf("look at the evidence of task %s: %w", s.Task.ID, err)
		}
		evidence.Facts = facts
		if !git || subjectOf(ctx, e.Work, s, false).Commit == evidence.Subject.Commit && evidence.Agrees(s.Task) {
			return nil
		}
		evidence.Subject = subjectOf(ctx, e.Work, s, tree) // what was seen is about another commit than the one that was noted
	}
	return task.Notef(task.ErrConflict, "cannot look at the evidence of task %s: its branch keeps moving; "+
		"stop what commits there, and try again", s.Task.ID)
}

// subjectOf is what evidence of a task is about at this moment. A task without a workspace has none; while a workspace
// is being prepared, its content is not the task's.
func subjectOf(ctx context.Context, work Work, s record.Snapshot, tree bool) task.Subject {
	switch {
	case s.Task.Workspace == "":
		return task.Subject{}
	case movingIn(s.Owed):
		return task.Subject{Trouble: "its workspace is being made ready"}
	}
	return work.Subject(ctx, s.Task, tree)
}

// queue marks a task that waits for a workspace, and names the tasks that have them.
func (e *Engine) queue(ctx context.Context, t task.Task, req task.Request) (record.Outcome, error) {
	if _, err := e.Work.Project(t.Project); err != nil {
		return record.Outcome{}, err // no workspace of it becomes free
	}
	s, _, err := e.do(ctx, t.ID, e.withRules, func(s step) (*ruling, error) {
		if s.Task.QueuedFor == req.To || s.Task.Status != t.Status {
			return nil, nil
		}
		return queued(s, req.To, req.Actor, e.Now()), nil
	})
	if err != nil {
		return record.Outcome{}, err
	}
	e.keepEnvironment(ctx, t.ID, req.Actor) // the process that gives a workspace back may start it
	if err := e.Sync(ctx, t.ID); err != nil {
		return record.Outcome{}, err
	}
	holders, err := e.Record.Holders(ctx, t.Project)
	return record.Outcome{Task: s.Task, Queued: true, Holders: holders}, err
}

// queued has a task wait for a workspace, for a move to a status or in its own.
func queued(s step, to task.Status, actor task.Actor, now time.Time) *ruling {
	return &ruling{change: decide.Queue(s.def, s.Task, to, actor, now),
		in: replay.Inputs{Ask: replay.AskQueue, To: to}.By(actor)}
}

// conclude mirrors a committed change, has the hooks of its event performed, and waits for them as long as
// patience lasts.
func (e *Engine) conclude(ctx context.Context, t task.Task, event int, actor task.Actor) (record.Outcome, error) {
	interrupted := ctx.Done()
	ctx = context.WithoutCancel(ctx) // the move is made: its caller learns that, even if interrupted now
	out, err := e.announce(ctx, t, event)
	if err != nil {
		return out, err
	}
	if out.Hooks, err = e.Record.Hooks(ctx, t.ID, event); err != nil || len(out.Hooks) == 0 {
		if err == nil && !t.Live { // else those wait until its hooks are settled
			e.startThoseAfter(ctx, t.ID)
		}
		return out, err
	}
	e.keepForStart(ctx, t.ID, out.Hooks, actor)
	if out.Hooks, err = e.awaitHooks(ctx, interrupted, t.ID, event, actor); err != nil {
		return out, err
	}
	if out.Stayed, err = e.stayed(ctx, t.ID, event, out.Hooks); err != nil {
		return out, err
	}
	s, err := e.Record.Load(ctx, t.ID)
	if errors.Is(err, task.ErrNotFound) {
		return out, nil
	}
	out.Task = s.Task
	return out, err
}

// announce mirrors a committed change and writes it into the log.
func (e *Engine) announce(ctx context.Context, t task.Task, event int) (record.Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	out := record.Outcome{Task: t, Moved: true}
	s, _, mirrors, err := e.refresh(ctx, t.ID, headerAlone)
	if err == nil {
		out.Task = s.Task
	}
	if err = errors.Join(err, mirrors); err != nil {
		out.Warning = err.Error()
	}
	events, err := e.Record.Events(ctx, t.ID, event-1)
	if err != nil {
		return out, err
	}
	if len(events) == 0 {
		return out, task.Notef(task.ErrNotFound, "task %s was deleted meanwhile", t.ID)
	}
	out.Event = events[0]
	what := "noted"
	if out.Event.IsMove() {
		what = "moved"
	}
	if err := e.noteShared(ctx, t, s.Owed); err != nil {
		out.Warning = strings.TrimPrefix(out.Warning+"; "+err.Error(), "; ")
	}
	e.Log.Info(what, "component", "engine", "task", t.ID, "event", out.Event.Type, "from", string(out.Event.From),
		"to", string(out.Event.To), "actor", out.Event.Actor)
	return out, nil
}

// announceAndRun is announce for what a rule does: its hooks are performed, and no one waits for them.
func (e *Engine) announceAndRun(ctx context.Context, t task.Task, hooks bool) (record.Outcome, error) {
	out, err := e.announce(ctx, t, t.Seq)
	if hooks { // they run even where the move could not be announced
		err = errors.Join(err, e.RunHooks(ctx, t.ID, false))
	}
	return out, err
}

// note adds an event to a task's history that changes nothing else, except for what every act of a person resets.
func (e *Engine) note(ctx context.Context, id string, actor task.Actor, event history.Event) error {
	_, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		return noted(s, s.Task, actor, event, e.Now()), nil
	})
	return err
}

// noted is the ruling of an event that moves nothing; it leaves the task as after.
func noted(s step, after task.Task, actor task.Actor, event history.Event, now time.Time) *ruling {
	after.UpdatedAt, event.Time = now, now
	r := &ruling{change: decide.Note(s.def, s.Task, after, actor, event)}
	if len(r.change.Events[0].Counters) > 0 { // else it tells of what was done, and nothing was decided
		r.in = replay.Inputs{Ask: replay.AskNote}.By(actor)
	}
	return r
}

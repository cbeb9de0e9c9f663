package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Request judges a request on fresh evidence and, if it is granted, commits the move, has its hooks performed
// and waits for them a while. A refusal is a *decide.Rejection, and nothing has changed.
// Asking for the status that the task has already succeeds and does nothing.
func (e *Engine) Request(ctx context.Context, req task.Request) (record.Outcome, error) {
	if req.To == workflow.Previous {
		to, err := e.back(ctx, req)
		if err != nil {
			return record.Outcome{}, err
		}
		req.To = to
	}
	return e.request(ctx, req, nil, nil)
}

// back is the state that "previous" means for a task at this moment. It is found once: the same request tried
// again means the same state.
func (e *Engine) back(ctx context.Context, req task.Request) (task.Status, error) {
	s, err := e.Store.Load(ctx, req.Task)
	if err != nil {
		return "", err
	}
	def, err := e.Rules.Pinned(ctx, s.Task.Workflow)
	if err != nil {
		return "", err
	}
	return decide.Back(def, s.Task, req)
}

// known is what an earlier look has told, in the place of a new one.
type known struct {
	facts   map[string]decide.Fact
	subject task.Subject
	pull    *record.PullRequest // the merged one that the move follows; nil where there is none
}

// request runs before, once, between the yes and its commit.
func (e *Engine) request(ctx context.Context, req task.Request, before func(task.Task, decide.Evidence) error,
	facts *known) (record.Outcome, error) {
	if err := e.finishOwed(ctx, req.Task, req.Actor); err != nil {
		return record.Outcome{}, err
	}
	for range maxConflicts {
		out, err := e.attempt(ctx, req, &before, facts)
		if errors.Is(err, task.ErrConflict) {
			continue
		}
		e.logRefusal(req, err)
		if !out.Moved {
			e.putRight(ctx, req.Task)
		}
		return out, err
	}
	return record.Outcome{}, task.Notef(task.ErrConflict,
		"cannot move task %s: others move it all the time; try again", req.Task)
}

// putRight makes the files equal to the record after a request that changed nothing: whoever wrote a status into
// the header finds it gone. That it failed is no refusal's business; the next change or the monitor tells.
func (e *Engine) putRight(ctx context.Context, id string) {
	if err := e.Sync(ctx, id); err != nil && !errors.Is(err, task.ErrNotFound) {
		e.Log.Warn("the files could not be made equal to the record", "component", "engine", "task", id, "error",
			err.Error())
	}
}

func (e *Engine) attempt(ctx context.Context, req task.Request, before *func(task.Task, decide.Evidence) error,
	facts *known) (record.Outcome, error) {
	s, decision, evidence, err := e.judge(ctx, req, facts)
	if err != nil {
		return record.Outcome{}, err
	}
	if !decision.Moved {
		return record.Outcome{Task: s.Task, Hooks: s.Owed}, nil // what is still owed belongs to the answer
	}
	c := decision.Change
	if facts != nil && facts.pull != nil {
		c.Task = decide.OtherHead(s.Task, c.Task, *facts.pull)
	}
	project, err := e.Desk.Project(s.Task.Project)
	if err != nil {
		return record.Outcome{}, err
	}
	c.PoolSize = project.PoolSize
	c.Settled = settleOwed(s.Owed, c, "overtaken by a later transition")
	if run := *before; run != nil {
		if err := run(s.Task, evidence); err != nil {
			return record.Outcome{}, err
		}
		*before = nil
	}
	t, err := e.commit(ctx, c, evidence)
	if errors.Is(err, task.ErrPoolFull) {
		return e.queue(ctx, s.Task, req)
	}
	if err != nil {
		return record.Outcome{}, err
	}
	if s.Task.QueuedFor != "" && t.Workspace == "" {
		e.dropEnvironment(ctx, t.ID) // it waits for no workspace any more
	}
	return e.conclude(ctx, t, t.Seq, req.Actor)
}

// settleOwed drops the owed hooks that a new step overtakes, and makes the others due at once: the new ones wait
// behind them.
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
func (e *Engine) judge(ctx context.Context, req task.Request,
	facts *known) (record.Snapshot, decide.Decision, decide.Evidence, error) {
	s, def, evidence, err := e.look(ctx, req, facts)
	if err != nil {
		return s, decide.Decision{}, evidence, err
	}
	if facts != nil {
		all := map[string]decide.Fact{}
		maps.Copy(all, evidence.Facts)
		maps.Copy(all, facts.facts)
		evidence.Facts = all
		evidence.Subject = facts.subject
	}
	decision, err := decide.Transition(def, s.Task, evidence, req, e.Now())
	if err == nil && decision.Moved {
		decision.Change.Task.Attention = decide.LeftAlone(def, s.Owed, decision.Change)
		in := decide.Inputs{Ask: decide.AskMove, To: req.To, Override: req.Override}.By(req.Actor)
		decision.Change, err = in.Keep(def, s, evidence, decision.Change)
	}
	return s, decision, evidence, err
}

// commit commits a change, with the very texts that it rests on, and those that were looked at besides, kept
// where a later look finds them. They are there before the commit, and are made to outlive a power cut after it:
// nobody who waits for the move waits for that.
func (e *Engine) commit(ctx context.Context, c record.Change, evidence decide.Evidence) (task.Task, error) {
	var hardens []func() error
	for _, rested := range slices.Concat(c.Spent, c.Seen) {
		text, _ := evidence.Text(rested)
		harden, err := e.Documents.Keep(c.Task.Project, c.Task.ID, rested.Digest, text)
		if err != nil {
			return task.Task{}, err
		}
		hardens = append(hardens, harden)
	}
	t, err := e.Store.Commit(ctx, c)
	if err != nil {
		return t, err
	}
	for _, harden := range hardens {
		if err := harden(); err != nil { // the move is made, and its text is there
			e.Log.Warn("evidence may not outlive a power cut", "component", "engine", "task", t.ID, "error",
				err.Error())
		}
	}
	return t, nil
}

// look reads what a request depends on: all of the document where a gate may ask for it, else its header alone.
// What is known already is not looked at.
func (e *Engine) look(ctx context.Context, req task.Request,
	facts *known) (record.Snapshot, *workflow.Definition, decide.Evidence, error) {
	for {
		before, err := e.Store.Load(ctx, req.Task)
		if err != nil {
			return before, nil, decide.Evidence{}, err
		}
		def, err := e.Rules.Pinned(ctx, before.Task.Workflow)
		if err != nil {
			return before, nil, decide.Evidence{}, err
		}
		parts := decide.Needs(def, before.Task, req.To)
		s, evidence, err := e.inspect(ctx, req.Task, decide.NeedsDocument(parts))
		if err != nil {
			return s, def, evidence, err
		}
		if renamed, err := e.followBranch(ctx, s); err != nil || renamed {
			if err != nil {
				return s, def, evidence, err
			}
			continue
		}
		if facts != nil {
			parts = slices.DeleteFunc(parts, func(p workflow.Part) bool { _, is := facts.facts[p.Key()]; return is })
		}
		if s.Task.Status == before.Task.Status && s.Task.Previous == before.Task.Previous {
			err = e.facts(ctx, s, def, decide.WantsTree(def, s.Task, req.To), parts, &evidence)
			return s, def, evidence, err
		}
	}
}

// followBranch takes over the name that the task's branch was given in its workspace, and says whether it did. A
// name that the task cannot have is left: the branch is read all the same.
func (e *Engine) followBranch(ctx context.Context, s record.Snapshot) (bool, error) {
	name := e.subject(ctx, s, false).Branch
	if name == "" || name == s.Task.Branch {
		return false, nil
	}
	project, err := e.Desk.Project(s.Task.Project)
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
	_, err = e.change(ctx, s.Task.ID, func(s record.Snapshot) (*record.Change, error) {
		t := s.Task
		t.Branch, t.UpdatedAt = name, e.Now()
		told := inSession(&t, data)
		return &record.Change{Task: t, Expect: s.Task.Version, Events: []history.Event{{
			Time: t.UpdatedAt, Type: history.Updated, Actor: task.ActorEngine,
			Reason: "its branch was renamed in the workspace",
			Data:   told,
		}}}, nil
	})
	return err == nil, err
}

// facts adds to the evidence what it is about, and what the parts ask for elsewhere than in the document.
// tree says whether what lies in the worktree belongs to it. No lock is held meanwhile: a check may take its time.
func (e *Engine) facts(ctx context.Context, s record.Snapshot, def *workflow.Definition, tree bool,
	parts []workflow.Part, evidence *decide.Evidence) error {
	evidence.Subject = e.subject(ctx, s, tree)
	parts = slices.DeleteFunc(parts, func(p workflow.Part) bool { return p.Section != "" })
	if len(parts) == 0 {
		return nil
	}
	git := slices.ContainsFunc(parts, func(p workflow.Part) bool { return p.Git != "" })
	for range maxConflicts {
		facts, err := e.Facts.Look(ctx, s.Task, def, parts)
		if err != nil {
			return fmt.Errorf("look at the evidence of task %s: %w", s.Task.ID, err)
		}
		evidence.Facts = facts
		if !git || e.subject(ctx, s, false).Commit == evidence.Subject.Commit && decide.Agrees(s.Task, *evidence) {
			return nil
		}
		evidence.Subject = e.subject(ctx, s, tree) // what was seen is about another commit than the one that was noted
	}
	return task.Notef(task.ErrConflict, "cannot look at the evidence of task %s: its branch moves all the "+
		"time; end what commits there, and try again", s.Task.ID)
}

// subject is what evidence of a task is about at this moment. One without a workspace has none; while a workspace
// is made ready, what stands there is not the task's.
func (e *Engine) subject(ctx context.Context, s record.Snapshot, tree bool) task.Subject {
	switch {
	case s.Task.Workspace == "":
		return task.Subject{}
	case movingIn(s.Owed):
		return task.Subject{Trouble: "its workspace is being made ready"}
	}
	return e.Desk.Subject(ctx, s.Task, tree)
}

func (e *Engine) logRefusal(req task.Request, err error) {
	var rejection *decide.Rejection
	if errors.As(err, &rejection) {
		e.Log.Info("refused", "component", "engine", "task", req.Task, "from", string(rejection.From), "to",
			string(req.To),
			"actor", req.Actor.Name(), "as", req.Actor.As, "code", rejection.Code)
	}
}

// queue marks a task that waits for a workspace, and tells who has them.
func (e *Engine) queue(ctx context.Context, t task.Task, req task.Request) (record.Outcome, error) {
	t, err := e.change(ctx, t.ID, func(s record.Snapshot) (*record.Change, error) {
		if s.Task.QueuedFor == req.To || s.Task.Status != t.Status {
			return nil, nil
		}
		def, err := e.Rules.Pinned(ctx, s.Task.Workflow)
		if err != nil {
			return nil, err
		}
		c := decide.Queue(def, s.Task, req.To, req.Actor, e.Now())
		c, err = decide.Inputs{Ask: decide.AskQueue, To: req.To}.By(req.Actor).Keep(def, s, decide.Evidence{}, c)
		return &c, err
	})
	if err != nil {
		return record.Outcome{}, err
	}
	e.keepEnvironment(ctx, t.ID, req.Actor) // it may be started by whoever gives a workspace back
	if err := e.Sync(ctx, t.ID); err != nil {
		return record.Outcome{}, err
	}
	holders, err := e.Index.Holders(ctx, t.Project)
	return record.Outcome{Task: t, Queued: true, Holders: holders}, err
}

// conclude mirrors a committed change, has the hooks of its event performed, and waits for them as long as
// patience lasts.
func (e *Engine) conclude(ctx context.Context, t task.Task, event int, actor task.Actor) (record.Outcome, error) {
	interrupted := ctx.Done()
	ctx = context.WithoutCancel(ctx) // the move is made: whoever asked is told so, even when interrupted now
	out, err := e.announce(ctx, t, event)
	if err != nil {
		return out, err
	}
	if err := e.keepForStart(ctx, t.ID, event, actor); err != nil {
		return out, err
	}
	if err := e.runHooks(ctx, interrupted, t.ID, event, actor); err != nil {
		return out, err
	}
	if out.Hooks, err = e.Store.Hooks(ctx, t.ID, event); err != nil {
		return out, err
	}
	s, err := e.Store.Load(ctx, t.ID)
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
	if err := e.Sync(ctx, t.ID); err != nil {
		out.Warning = err.Error()
	}
	events, err := e.Index.Events(ctx, t.ID, event-1)
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
	e.Log.Info(what, "component", "engine", "task", t.ID, "event", out.Event.Type, "from", string(out.Event.From),
		"to", string(out.Event.To), "actor", out.Event.Actor)
	return out, nil
}

// runHooks starts the runner if the event owes anything, and waits until it does not.
func (e *Engine) runHooks(ctx context.Context, interrupted <-chan struct{}, id string, event int,
	actor task.Actor) error {
	owing, err := e.owes(ctx, id, event)
	if err != nil || !owing {
		return err
	}
	if err := e.Runner.Run(ctx, id, actor.Role == task.RoleHuman); err != nil {
		return fmt.Errorf("start the runner of hooks: %w", err)
	}
	patience := time.NewTimer(e.Patience)
	defer patience.Stop()
	tick := time.NewTicker(hookPoll)
	defer tick.Stop()
	for {
		if owing, err = e.owes(ctx, id, event); err != nil || !owing {
			return err
		}
		select {
		case <-interrupted:
			return nil // they go on without us
		case <-patience.C:
			return nil
		case <-tick.C:
		}
	}
}

// owes says whether an event still has hooks that nobody has tried, or that a try may still settle.
func (e *Engine) owes(ctx context.Context, id string, event int) (bool, error) {
	hooks, err := e.Store.Hooks(ctx, id, event)
	if err != nil {
		return false, err
	}
	var failed []task.OwedHook
	for _, h := range hooks {
		switch {
		case h.State == task.HookFailed:
			failed = append(failed, h)
		case h.State == task.HookPending && !decide.Waits(failed, h):
			return true, nil
		}
	}
	return false, nil
}

// finishOwed lets hooks of earlier transitions finish before a new request is judged.
func (e *Engine) finishOwed(ctx context.Context, id string, actor task.Actor) error {
	s, err := e.Store.Load(ctx, id)
	if err != nil {
		return err
	}
	for _, h := range s.Owed {
		if h.State == task.HookPending {
			return e.runHooks(ctx, ctx.Done(), id, h.Event, actor)
		}
	}
	return nil
}

// note adds an event to a task's history that changes nothing else, but for what a person sets back by all that
// they do.
func (e *Engine) note(ctx context.Context, id string, actor task.Actor, event history.Event) error {
	_, err := e.change(ctx, id, func(s record.Snapshot) (*record.Change, error) {
		return e.noted(ctx, s, s.Task, actor, event)
	})
	return err
}

// noted is the change of an event that moves nothing, which leaves the task as it is after it.
func (e *Engine) noted(ctx context.Context, s record.Snapshot, after task.Task, actor task.Actor,
	event history.Event) (*record.Change, error) {
	def, err := e.Rules.Pinned(ctx, s.Task.Workflow)
	if err != nil {
		return nil, err
	}
	after.UpdatedAt = e.Now()
	event.Time = after.UpdatedAt
	c := decide.Note(def, s.Task, after, actor, event)
	if len(c.Events[0].Counters) == 0 {
		return &c, nil // it tells of what was done, and nothing was decided
	}
	c, err = decide.Inputs{Ask: decide.AskNote}.By(actor).Keep(def, s, decide.Evidence{}, c)
	return &c, err
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// conclude mirrors a committed change, has the hooks of its event performed, and waits for them as long as
// patience lasts.
func (e *outcomes) conclude(ctx context.Context, t task.Task, event int, actor task.Actor) (record.Outcome, error) {
	interrupted := ctx.Done()
	ctx = context.WithoutCancel(ctx) // the move is made: its caller learns that, even if interrupted now
	out, err := e.announce(ctx, t, event)
	if err != nil {
		return out, err
	}
	if out.Hooks, err = e.record.Hooks(ctx, t.ID, event); err != nil || len(out.Hooks) == 0 {
		if err == nil && !t.Live { // else those wait until its hooks are settled
			e.whenOver(ctx, t.ID)
		}
		return out, err
	}
	e.keepForStart(ctx, t.ID, out.Hooks, actor)
	if out.Hooks, err = e.awaitHooks(ctx, interrupted, t.ID, event, actor); err != nil {
		return out, err
	}
	if out.Stayed, err = e.leftBehind(ctx, t.ID, event, out.Hooks); err != nil {
		return out, err
	}
	s, err := e.record.Load(ctx, t.ID)
	if errors.Is(err, task.ErrNotFound) {
		return out, nil
	}
	out.Task = s.Task
	return out, err
}

// announce mirrors a committed change and writes it into the log.
func (e *outcomes) announce(ctx context.Context, t task.Task, event int) (record.Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	out := record.Outcome{Task: t, Moved: true}
	s, mirrors, err := e.files.refresh(ctx, t.ID)
	if err == nil {
		out.Task = s.Task
	}
	if err = errors.Join(err, mirrors); err != nil {
		out.Warning = err.Error()
	}
	events, err := e.record.Events(ctx, t.ID, event-1)
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
	e.log.Info(what, "component", "engine", "task", t.ID, "event", out.Event.Type, "from", string(out.Event.From),
		"to", string(out.Event.To), "actor", out.Event.Actor)
	return out, nil
}

// announceAndRun is announce for what a rule does: its hooks are performed, and no one waits for them.
func (e *outcomes) announceAndRun(ctx context.Context, t task.Task, hooks bool) (record.Outcome, error) {
	out, err := e.announce(ctx, t, t.Seq)
	if hooks { // they run even where the move could not be announced
		err = errors.Join(err, e.runHooks(ctx, t.ID, false))
	}
	return out, err
}

// hookPoll is how often a waiting request checks whether the runner has settled its hooks.
const hookPoll = 10 * time.Millisecond

// awaitHooks starts the runner if the event owes anything, and waits until it does not. It returns the event's hooks
// as they are then.
func (e *outcomes) awaitHooks(ctx context.Context, interrupted <-chan struct{}, id string, event int,
	actor task.Actor) ([]task.OwedHook, error) {
	hooks, err := e.record.Hooks(ctx, id, event)
	if err != nil || !isOwing(hooks) {
		return hooks, err
	}
	if err := e.runHooks(ctx, id, actor.Role == task.RoleHuman); err != nil {
		return hooks, fmt.Errorf("start the runner of hooks: %w", err)
	}
	patience := time.NewTimer(e.patience)
	defer patience.Stop()
	tick := time.NewTicker(hookPoll)
	defer tick.Stop()
	began := time.Now()
	defer e.tellWait("", 0)
	for {
		if hooks, err = e.record.Hooks(ctx, id, event); err != nil || !isOwing(hooks) {
			return hooks, err
		}
		e.tellWait(pendingAction(hooks), time.Since(began))
		select {
		case <-interrupted:
			return hooks, nil // they go on without us
		case <-patience.C:
			return hooks, nil
		case <-tick.C:
		}
	}
}

// OnWait has what a request waits for told: the action of the hook, and for how long the request has waited.
// An empty action is the end of it.
func (e *outcomes) OnWait(tell func(action string, waited time.Duration)) { e.tellWait = tell }

// pendingAction is the action of the hook that is performed now or next.
func pendingAction(hooks []task.OwedHook) string {
	for _, h := range hooks {
		if h.State == task.HookPending {
			return h.Action
		}
	}
	return ""
}

// isOwing reports whether the hooks of an event have one that was not tried yet, or that a try may still settle.
func isOwing(hooks []task.OwedHook) bool {
	var failed []task.OwedHook
	for _, h := range hooks {
		switch {
		case h.State == task.HookFailed:
			failed = append(failed, h)
		case h.State == task.HookPending && !decide.Waits(failed, h):
			return true
		}
	}
	return false
}

// finishPending lets hooks of earlier moves finish before a decision that is no move of a request.
func (e *outcomes) finishPending(ctx context.Context, id string, actor task.Actor) error {
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return err
	}
	if event, pending := firstPending(s.Owed); pending {
		_, err = e.awaitHooks(ctx, ctx.Done(), id, event, actor)
	}
	return err
}

// firstPending is the event whose hook is the first of the owed ones that was not tried yet.
func firstPending(owed []task.OwedHook) (event int, found bool) {
	for _, h := range owed {
		if h.State == task.HookPending {
			return h.Event, true
		}
	}
	return 0, false
}

// leftBehind tells what stayed behind when the hooks of an event gave the workspace back: none of it is on the branch.
func (e *outcomes) leftBehind(ctx context.Context, id string, event int, hooks []task.OwedHook) ([]string, error) {
	released := func(h task.OwedHook) bool { return h.Action == action.ReleaseWorkspace }
	if !slices.ContainsFunc(hooks, released) {
		return nil, nil
	}
	return e.leftBehindSince(ctx, id, event)
}

// leftBehindSince tells what stayed behind of a task's work after an event.
func (e *outcomes) leftBehindSince(ctx context.Context, id string, event int) (out []string, err error) {
	events, err := e.record.Events(ctx, id, event)
	if err != nil {
		return nil, fmt.Errorf("look what stayed behind: %w", err)
	}
	for _, one := range events {
		switch ref := one.Data["ref"]; {
		case one.Type != history.WorkRescued:
		case one.Data["aside"] != "":
			out = append(out, one.Data["aside"]+", set aside: orange workspace restore "+id+" PATH")
		case one.Data["files"] != "":
			out = append(out, one.Data["files"]+", kept as "+ref)
		case ref != "":
			out = append(out, "commits, kept as "+ref)
		}
	}
	return out, nil
}

// keepForStart keeps a person's environment if their hooks prepare a workspace or start an agent, even if they are
// performed by now. What an agent asks for runs in the environment that was kept before.
func (e *outcomes) keepForStart(ctx context.Context, id string, hooks []task.OwedHook, actor task.Actor) {
	if slices.ContainsFunc(hooks, func(h task.OwedHook) bool { return runsIn(h.Action) }) {
		e.keepEnvironment(ctx, id, actor)
	}
}

// runsIn reports whether an action starts or prepares something that runs in the task's environment.
func runsIn(name string) bool {
	spec, _ := action.Of(name)
	return spec.Means == action.MakesWorkspace || spec.Means == action.StartsAgent
}

// keepEnvironment keeps the environment of this process for a task, if it is a person's. A failure holds nothing up:
// the process that performs the hooks keeps one before it starts an agent, and reports why it cannot.
func (e *outcomes) keepEnvironment(ctx context.Context, id string, actor task.Actor) {
	if actor.Role != task.RoleHuman {
		return
	}
	if err := e.environments.Keep(ctx, id); err != nil {
		e.logFailure("the environment of the person who asked could not be kept", id, err)
		return
	}
	s, err := e.record.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) ||
		err == nil && s.Task.Workspace == "" && !s.Task.Queued() && !s.Task.WaitsForTasks() && !owesRoom(s.Owed) {
		// the task gave its workspace back meanwhile, and with it went the earlier environment
		e.dropEnvironment(ctx, id)
	}
}

// owesRoom reports whether a task will have a workspace by a hook that it owes.
func owesRoom(owed []task.OwedHook) bool {
	return slices.ContainsFunc(owed, func(h task.OwedHook) bool { return h.Action == action.AcquireWorkspace })
}

// dropEnvironment drops what is kept for a task. The doctor finds what a failure leaves over.
func (e *outcomes) dropEnvironment(ctx context.Context, id string) {
	if err := e.environments.Drop(ctx, id); err != nil {
		e.logFailure("the environment of a task could not be dropped", id, err)
	}
}

// noteShared notes in the history of a task, at whose change it was seen, which of the settings that all worktrees of
// its repository share have changed. Each change is noted once, whatever task comes next.
func (e *outcomes) noteShared(ctx context.Context, t task.Task, owed []task.OwedHook) error {
	if e.sharedNews == nil || slices.ContainsFunc(owed, func(h task.OwedHook) bool {
		return h.Action == action.AcquireWorkspace // no agent is in its worktree yet
	}) {
		return nil
	}
	news, err := e.sharedNews(ctx, t)
	if err != nil {
		return fmt.Errorf("look at the settings that all worktrees share: %w", err)
	}
	if len(news) == 0 {
		return nil
	}
	said := strings.Join(news, "; ")
	e.warn(t.ID, fmt.Sprintf("settings of git that all worktrees of project %q share have changed, and Orange did not "+
		"change them: %s; put them back with %q, or keep them with %q", t.Project, said,
		"orange project restore --project "+t.Project, "orange project accept --project "+t.Project))
	_, _, err = e.change(ctx, t.ID, func(s record.Snapshot) (record.Change, bool, error) {
		now := s.Task
		now.UpdatedAt = e.now()
		return record.Change{Task: now, Expect: s.Task.Version, Events: []history.Event{{
			Time: now.UpdatedAt, Type: history.SharedChanged, Actor: task.ActorEngine, Reason: said,
		}}}, true, nil
	})
	return err
}

// once does a request once, if it has a key or its call is repeated: a repeat is answered from the task's history. A
// request under the same key that is on its way is waited for. A refusal is not kept: Orange judges a repeat again.
//
// Its caller holds no lock: the answer to an agent that asks in a loop is held back here.
func (e *outcomes) once(ctx context.Context, id string, actor task.Actor,
	do func() (record.Outcome, error)) (record.Outcome, error) {
	out, err := e.underKey(ctx, id, actor, do)
	if no, is := errors.AsType[*rejection.Rejection](err); is && no.Wait > 0 && e.holdBack != nil {
		e.holdBack(ctx, no.Wait)
		no.Wait = 0
	}
	return out, err
}

func (e *outcomes) underKey(ctx context.Context, id string, actor task.Actor,
	do func() (record.Outcome, error)) (record.Outcome, error) {
	if !actor.Repeats() {
		return do()
	}
	if actor.Key != "" {
		release, err := e.folder.Lock(ctx, idempotency.Lock(id, actor.Key))
		if err != nil {
			return record.Outcome{}, err
		}
		defer release()
	}
	out, _, answered, err := e.Answered(ctx, id, actor)
	if err != nil || answered {
		return out, err
	}
	if out, err = do(); err != nil || actor.Key == "" {
		return out, err
	}
	return out, e.keepNothing(ctx, id, actor)
}

// Answered is the answer to a request that was done under the actor's key before, with how a merge was made. Where
// the program that did it was ended before its hooks were done, Answered has them performed. An error that is a
// idempotency.ErrReused says that the key stands for another request.
func (e *outcomes) Answered(ctx context.Context, id string, actor task.Actor) (
	out record.Outcome, how string, answered bool, err error) {
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return out, "", false, err
	}
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return out, "", false, err
	}
	a, err := e.earlier(ctx, id, events, actor)
	if err != nil || !a.Found {
		return out, "", false, err
	}
	if err := a.Failed(); err != nil {
		return out, "", true, err
	}
	out, err = e.answer(ctx, s, events, a, actor)
	return out, a.How(), true, err
}

// earlier is what a task's history says of a request that was made before, under its key or by its call.
func (e *outcomes) earlier(ctx context.Context, id string, events []history.Event, actor task.Actor) (
	idempotency.Earlier, error) {
	var seqs []int
	if actor.Again && actor.Key == "" {
		var err error
		if seqs, err = e.record.Called(ctx, actor.Call, id); err != nil {
			return idempotency.Earlier{}, err
		}
	}
	return idempotency.Find(events, actor, seqs)
}

// answer tells of an event of a task's history as the request did that it answers.
func (e *outcomes) answer(ctx context.Context, s record.Snapshot, events []history.Event, a idempotency.Earlier,
	actor task.Actor) (record.Outcome, error) {
	def, err := e.rulesOf(ctx, s.Task)
	if err != nil {
		return record.Outcome{}, err
	}
	live := func(status task.Status) bool {
		state, _ := def.State(status)
		return !state.Terminal
	}
	out := record.Outcome{Event: a.Event, Moved: a.Event.Type != history.PRRequested}
	switch {
	case a.Event.Type == history.Updated && len(a.Event.Hooks) == 0:
		out = record.Outcome{}
	case a.Event.Type == history.QueuedForSpace:
		out = record.Outcome{Queued: true}
		out.Holders, err = e.record.Holders(ctx, s.Task.Project)
	default:
		out.Hooks, err = e.hooksAgain(ctx, s.Task.ID, a.Event.Seq, actor)
	}
	if err != nil {
		return record.Outcome{}, err
	}
	if err := e.files.Sync(ctx, s.Task.ID); err != nil {
		out.Warning = err.Error()
	}
	if s, err = e.record.Load(ctx, s.Task.ID); err != nil {
		return record.Outcome{}, err
	}
	out.Task, err = a.Task(events, s.Task, live)
	return out, err
}

// hooksAgain has the hooks of an event performed that are still owed, and answers all of them.
func (e *outcomes) hooksAgain(ctx context.Context, id string, event int, actor task.Actor) ([]task.OwedHook, error) {
	hooks, err := e.record.Hooks(ctx, id, event)
	if err != nil || !isOwing(hooks) {
		return hooks, err
	}
	e.keepForStart(ctx, id, hooks, actor)
	return e.awaitHooks(ctx, ctx.Done(), id, event, actor)
}

// keepNothing records that a request had nothing to do, where no event has its key.
func (e *outcomes) keepNothing(ctx context.Context, id string, actor task.Actor) error {
	ctx = context.WithoutCancel(ctx)
	_, _, err := e.files.amend(ctx, id, func(s record.Snapshot) (c record.Change, due bool, err error) {
		events, err := e.record.Events(ctx, id, 0)
		if err != nil {
			return c, false, err
		}
		a, err := idempotency.Find(events, actor, nil)
		return idempotency.Nothing(s, actor, "", e.now()), !a.Found, err
	})
	return err
}

// failedOnce records, where the request has a key, that it failed after it was on record: the answer to a
// repeat is that failure, and nothing is done.
func (e *outcomes) failedOnce(ctx context.Context, id string, actor task.Actor, failed error) error {
	if failed == nil || actor.Key == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	_, _, err := e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		return idempotency.Nothing(s, actor, failed.Error(), e.now()), true, nil
	})
	return err
}

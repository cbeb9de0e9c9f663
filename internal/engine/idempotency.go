package engine

import (
	"context"
	"errors"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// once does a request once, if it has a key: a repeat is answered from the task's history. A request under the same
// key that is on its way is waited for. A refusal is not kept: Orange judges a repeat again.
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
	if actor.Key == "" {
		return do()
	}
	release, err := e.folder.Lock(ctx, idempotency.Lock(id, actor.Key))
	if err != nil {
		return record.Outcome{}, err
	}
	defer release()
	out, _, answered, err := e.Answered(ctx, id, actor)
	if err != nil || answered {
		return out, err
	}
	if out, err = do(); err != nil {
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
	a, err := idempotency.Find(events, actor)
	if err != nil || !a.Found {
		return out, "", false, err
	}
	if err := a.Failed(); err != nil {
		return out, "", true, err
	}
	out, err = e.answer(ctx, s, events, a, actor)
	return out, a.How(), true, err
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
		a, err := idempotency.Find(events, actor)
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

// createOnce creates a task with an id that is known before, the caller's own or the one that belongs to the key. A
// task that has it is the answer; one that was to be started and was not yet is started.
func (e *arrivals) createOnce(ctx context.Context, n task.New) (record.Outcome, error) {
	if n.ID == "" {
		var err error
		if n.ID, err = idempotency.ID(n.Actor.Key); err != nil {
			return record.Outcome{}, err
		}
	}
	release, err := e.folder.Lock(ctx, idempotency.Lock(n.ID, n.Actor.Key))
	if err != nil {
		return record.Outcome{}, err
	}
	defer release()
	s, err := e.record.Load(ctx, n.ID)
	if errors.Is(err, task.ErrNotFound) {
		lines, err := e.folder.ReadHistory(n.Project.Name, n.ID)
		if err == nil && len(lines) > 0 {
			err = task.Notef(task.ErrUsage, "cannot create the task %s: there is a folder with the history of a task "+
				"of that id, which is not on record; bring it back with orange doctor --rebuild, or move the folder "+
				"away", n.ID)
		}
		if err != nil {
			return record.Outcome{}, err
		}
		return e.createNamed(ctx, n)
	}
	if err != nil {
		return record.Outcome{}, err
	}
	if s.Task.Project != n.Project.Name {
		kind := task.ErrUsage
		if n.Actor.Key != "" {
			kind = idempotency.ErrReused
		}
		return record.Outcome{}, task.Notef(kind, "cannot create the task %s in %q: the task that was created so "+
			"is in %q; use another key or id", n.ID, n.Project.Name, s.Task.Project)
	}
	events, err := e.record.Events(ctx, n.ID, 0)
	if err != nil {
		return record.Outcome{}, err
	}
	a, err := idempotency.Find(events, n.Actor)
	if err != nil {
		return record.Outcome{}, err
	}
	def, err := e.rulesOf(ctx, s.Task)
	if err != nil {
		return record.Outcome{}, err
	}
	birth, _ := def.Birth(s.Task.Status)
	begins := decide.Start(def, s.Task, n.Actor, n.Reason) != nil && birth.Spawns() // its first event starts the agent
	if n.Spawn && n.Plan == "" && !begins && len(events) == 1 && s.Task.Status == def.Initial {
		return e.startAgain(ctx, def, s, events, n)
	}
	if !a.Found {
		a = idempotency.Earlier{Found: true, Event: birthEvent(events, n.Spawn)}
	}
	return e.outcomes.answer(ctx, s, events, a, n.Actor)
}

// startAgain starts a task whose creation was cut short between its first event and its start.
func (e *arrivals) startAgain(ctx context.Context, def *workflow.Definition, s record.Snapshot, events []history.Event,
	n task.New) (record.Outcome, error) {
	out, err := e.outcomes.answer(ctx, s, events, idempotency.Earlier{Found: true, Event: events[0]}, n.Actor)
	if err != nil {
		return out, err
	}
	return e.startNew(ctx, def, out, s.Task, n)
}

// birthEvent is the event that tells of a task's creation: its start, if it was started at once.
func birthEvent(events []history.Event, start bool) history.Event {
	if start && len(events) > 1 {
		if next := events[1]; next.Type == history.QueuedForSpace || next.Type == history.StatusChanged {
			return next
		}
	}
	return events[0]
}

package engine

import (
	"context"
	"errors"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// restoreFiles makes the files equal to the record after a request that changed nothing: it removes a status that
// was written into the header. Its failure is not part of the refusal; the next change or the monitor reports it.
func (e *files) restoreFiles(ctx context.Context, id string) {
	_, _, mirrors, err := e.refresh(ctx, id, headerAlone)
	if err = errors.Join(err, mirrors); err != nil && !errors.Is(err, task.ErrNotFound) {
		e.logFailure("the files could not be made equal to the record", id, err)
	}
}

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
	s, _, mirrors, err := e.files.refresh(ctx, t.ID, headerAlone)
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

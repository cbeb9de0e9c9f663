package engine

import (
	"context"
	"errors"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// goOnLater is how long Orange waits where it was not safe to type.
const goOnLater = 30 * time.Second

// GoOn tells an agent that rests at its provider's limit to go on once the limit is over. It returns when to ask again;
// zero if there is nothing to wait for. It types only where that is safe, and never waits for that.
func (e *crew) GoOn(ctx context.Context, id string, rest record.Rest) (again time.Time, err error) {
	s, limit, err := e.restsAt(ctx, id, rest)
	if err != nil {
		return again, err
	}
	if again, err = e.goOnAt(ctx, s, rest, limit); err != nil || again.IsZero() || again.After(e.now()) {
		return again, err
	}
	release, idle, err := e.folder.TryLock(hooksLock(id))
	if err != nil || !idle { // a hook may type into the same window
		return e.now().Add(goOnLater), err
	}
	defer release()
	told := false
	err = e.agents.Say(ctx, s.Task, rest.Role, rest.Harness, harness.GoOn, func(ctx context.Context) error {
		told = true
		return e.noteGoOn(ctx, id, rest, limit)
	})
	if _, unsafe := errors.AsType[*tmux.NotSafe](err); unsafe && !told {
		return e.now().Add(goOnLater), nil // people know of a dialog, and a draft of theirs stays as it is
	}
	if told {
		err = errors.Join(err, e.files.Sync(ctx, id))
	}
	return time.Time{}, err
}

// restsAt is the limit at which an agent rests, with the task as it is then.
func (e *crew) restsAt(ctx context.Context, id string, rest record.Rest) (record.Snapshot, task.Limit, error) {
	limit := task.Limit{Line: rest.Line, Provider: rest.Provider, Until: rest.Until}
	s, evidence, err := e.files.inspect(ctx, id, func(record.Snapshot) (bool, error) { return true, nil })
	if err != nil {
		return s, limit, err
	}
	evidence.Subject = subjectOf(ctx, e.work, s, false)
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return s, limit, err
	}
	return s, evidence.AtLimit(limit, events), nil
}

// goOnAt is when an agent is to go on; zero if it is not. Its time has come unless it is after now.
func (e *crew) goOnAt(ctx context.Context, s record.Snapshot, rest record.Rest, limit task.Limit) (time.Time, error) {
	def, err := e.rulesOf(ctx, s.Task)
	if err != nil {
		return time.Time{}, err
	}
	now := e.now()
	if _, due, again := decide.GoOn(def, s.Task, rest.Role, limit, rest.Since, now); !due {
		return again, nil
	}
	return now, nil
}

// noteGoOn records that Orange tells an agent to go on, right before it types that.
func (e *crew) noteGoOn(ctx context.Context, id string, rest record.Rest, limit task.Limit) error {
	_, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		c, due, _ := decide.GoOn(s.def, s.Task, rest.Role, limit, rest.Since, e.now())
		if !due {
			return nil, task.Notef(task.ErrConflict, "the task has changed meanwhile")
		}
		return &ruling{change: c, in: replay.Inputs{Ask: replay.AskGoOn}.Resting(rest, limit)}, nil
	})
	return err
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

const (
	longestSaid = 4 << 10          // bytes: the event holds them, and every reader of the history reads them
	sayPatience = 15 * time.Second // how long to look for a safe moment
	sayAgain    = 200 * time.Millisecond
)

// Say says something to the agent of a role, or to that of the present status if none is named, and records it. It
// returns the role, and how the text reached the agent. A refusal is a *rejection.Rejection, and then nothing was
// said.
func (e *crew) Say(ctx context.Context, id, role, text string, actor task.Actor) (
	to, how string, err error) {
	out, err := e.outcomes.once(ctx, id, actor, func() (out record.Outcome, err error) {
		to, how, err = e.say(ctx, id, role, text, actor)
		return out, err
	})
	if kind := out.Event.Type; kind == history.PersonSaid || kind == history.AgentNotified { // it was said before
		to, how = out.Event.Data["role"], out.Event.Data[history.DataHow]
		if kind == history.PersonSaid && how == history.HowTyped && err == nil {
			err = fmt.Errorf("the text is recorded, and the program that was to type it was ended: it is not known "+
				"whether it reached the %s; look at it: orange task attach %s --role %s; to say it again, give "+
				"another key", to, id, to)
		}
	}
	return to, how, err
}

func (e *crew) say(ctx context.Context, id, role, text string, actor task.Actor) (
	to, how string, err error) {
	switch text = strings.TrimSpace(text); {
	case text == "":
		return "", "", task.Notef(task.ErrUsage, "cannot say nothing; give the text, or - to read it")
	case len(text) > longestSaid:
		return "", "", task.Notef(task.ErrUsage, "cannot say %d bytes to an agent, at most %d; write the rest into "+
			"the task's document", len(text), longestSaid)
	}
	s, err := e.withRules(ctx, id)
	if err != nil {
		return "", "", err
	}
	def := s.def
	if role, err = decide.Say(def, s.Task, role, actor); err != nil {
		return role, "", err
	}
	w := message{crew: e, task: s.Task, role: role, text: text, actor: actor}
	how, err = w.deliver(ctx)
	if err == nil && how == history.HowTyped && actor.Key != "" { // else a repeat could not tell that it was typed
		err = e.note(context.WithoutCancel(ctx), id, actor, history.Event{Type: history.AgentNotified,
			Data: map[string]string{"role": role, history.DataHow: how}})
	}
	if w.recorded {
		err = errors.Join(err, e.outcomes.failedOnce(ctx, id, actor, err), e.files.Sync(ctx, id))
	}
	return role, how, err
}

// message is something that a person says to an agent.
type message struct {
	*crew
	task       task.Task
	role, text string
	actor      task.Actor
	recorded   bool
}

// deliver hands the text to the command with which the agent waits, or types it at the first safe moment.
func (w *message) deliver(ctx context.Context) (string, error) {
	agent, err := w.harness(ctx)
	if err != nil {
		return "", err
	}
	patience := time.NewTimer(sayPatience)
	defer patience.Stop()
	again := time.NewTicker(sayAgain)
	defer again.Stop()
	for told := false; ; told = true {
		if handed, err := w.handOver(ctx); err != nil || handed {
			return history.HowWait, err
		}
		err := w.attempt(ctx, agent)
		unsafe, waits := errors.AsType[*tmux.NotSafe](err)
		if !waits || unsafe.Pasted || unsafe.Reason == tmux.DialogOpen {
			return history.HowTyped, w.explain(err)
		}
		if !told {
			w.hear(fmt.Sprintf("waiting up to %s for a safe moment: %s", sayPatience, unsafe.Reason))
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-patience.C:
			return "", w.explain(err)
		case <-again.C:
		}
	}
}

// handOver reports whether a command waits for the role that will read the text before it ends.
func (w *message) handOver(ctx context.Context) (bool, error) {
	waits, err := w.agents.Waits(ctx, w.task, w.role)
	if err != nil || !waits {
		return false, err
	}
	if err := w.note(ctx, history.HowWait); err != nil {
		return false, err
	}
	// A command that still waits reads the history again before it ends. One that has ended may have done so before
	// the event was there.
	return w.agents.Waits(ctx, w.task, w.role)
}

// harness is that of the role's agent.
func (w *message) harness(ctx context.Context) (string, error) {
	events, err := w.record.Events(ctx, w.task.ID, 0)
	return history.HarnessFor(w.task, w.role, events), err
}

// attempt types the text if that is safe now. It holds the lock of the task's hooks for each look alone, because one of
// them may type into the same window, and others must not wait.
func (w *message) attempt(ctx context.Context, agent string) error {
	release, err := w.folder.Lock(ctx, hooksLock(w.task.ID))
	if err != nil {
		return err
	}
	defer release()
	return w.agents.Say(ctx, w.task, w.role, agent, w.text, func(ctx context.Context) error {
		return w.note(ctx, history.HowTyped)
	})
}

// explain returns what a person should know of a text that was not typed.
func (w *message) explain(err error) error {
	attach := "orange task attach " + w.task.ID + " --role " + w.role
	unsafe, is := errors.AsType[*tmux.NotSafe](err)
	switch {
	case err == nil:
		return nil
	case is && unsafe.Pasted:
		return fmt.Errorf("the text is recorded and lies in the input of the %s, but Enter was not pressed: %s; "+
			"look at it: %s", w.role, unsafe.Reason, attach)
	case w.recorded:
		return fmt.Errorf("the text is recorded and did not reach the %s: %w; look at it: %s", w.role, err, attach)
	case is && unsafe.Reason == tmux.DialogOpen:
		return w.noteRefusal("a dialog that waits for an answer, which Enter would give",
			"answer it there: "+attach)
	case is:
		return w.noteRefusal(string(unsafe.Reason),
			"say it again later, or there: "+attach)
	case errors.Is(err, task.ErrNotFound), errors.Is(err, tmux.ErrEnded):
		return w.noteRefusal("no "+w.role+" that lives",
			"start it: orange task respawn "+w.task.ID+"; or name another agent: --role")
	}
	return err
}

func (w *message) noteRefusal(found, want string) error {
	return &rejection.Rejection{
		Code: rejection.SayRefused, Task: w.task.ID,
		Message: fmt.Sprintf("cannot say it to the %s of task %s", w.role, w.task.ID),
		Details: []rejection.Detail{{Condition: "an agent that waits for input", Found: found, Want: want}},
	}
}

// note records the text, once.
func (w *message) note(ctx context.Context, how string) error {
	if w.recorded {
		return nil
	}
	err := w.crew.note(ctx, w.task.ID, w.actor, history.Event{Type: history.PersonSaid, Reason: w.text,
		Data: map[string]string{"role": w.role, history.DataHow: how}})
	if w.recorded = err == nil; err != nil {
		return err
	}
	return w.reactions.resetRefusals(ctx, w.task.ID, w.actor)
}

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
	evidence.Subject = e.looks.subjectOf(ctx, s, false)
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

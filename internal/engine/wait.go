package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// waitPoll is how often a waiting command looks for a change of the record: one cheap question, no file is read.
const waitPoll = 40 * time.Millisecond

// waitResume is how often a waiting command has owed hooks finished whose runner may have been killed:
// otherwise it would wait for them in vain.
const waitResume = 2 * time.Second

// Wait blocks while another agent is at work on the task, or while hooks of its last transition are still being
// performed, until timeout. It returns the task's state; Blocked reports that the time was up first.
func (e *questions) Wait(ctx context.Context, id string, actor task.Actor, self task.Process,
	timeout time.Duration) (record.Waited, error) {
	role := actor.Speaks()
	var waited record.Waited
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return waited, err
	}
	if err = e.record.Wait(ctx, id, role, self); err == nil {
		waited, err = e.wait(ctx, id, role, s.Task.Seq, timeout)
	}
	// Remove the note even if the wait or the noting was cancelled: it may be on record all the same.
	err = errors.Join(err, e.record.Unwait(context.WithoutCancel(ctx), id, role, self))
	if err == nil { // who saw the note relies on it that what was said until now is heard
		waited.Said, err = e.saidTo(ctx, id, role, s.Task.Seq)
	}
	return waited, err
}

// saidTo is what a person has said to a role since an event of its task, and who it was.
func (e *questions) saidTo(ctx context.Context, id, role string, after int) ([]record.Said, error) {
	events, err := e.record.Events(ctx, id, after)
	var out []record.Said
	for _, event := range history.SaidTo(events, role) {
		out = append(out, record.Said{By: cmp.Or(event.Person, event.Actor), Text: event.Reason})
	}
	return out, err
}

// wait waits until it is the role's turn, or something was said to it after an event.
func (e *questions) wait(ctx context.Context, id, role string, after int, timeout time.Duration) (
	record.Waited, error) {
	up := time.NewTimer(timeout)
	defer up.Stop()
	tick := time.NewTicker(waitPoll)
	defer tick.Stop()
	resume := time.NewTicker(waitResume)
	defer resume.Stop()
	seen, look := int64(-1), role == task.RoleHuman
	for {
		version, err := e.record.DataVersion(ctx)
		if err != nil {
			return record.Waited{}, err
		}
		if version != seen {
			seen = version
			waited, err := e.waitState(ctx, id, role)
			if err != nil || !waited.Blocked {
				return waited, err
			}
			if look && e.needs != nil {
				look = false
				if waited.Need, err = e.needs(ctx, waited.Task); err != nil || waited.Need.Kind != "" {
					waited.Blocked = false
					return waited, err
				}
			}
			if waited.Task.Seq > after {
				if said, err := e.saidTo(ctx, id, role, after); err != nil || len(said) > 0 {
					return waited, err
				}
			}
		}
		select {
		case <-ctx.Done():
			return record.Waited{}, ctx.Err()
		case <-up.C:
			return e.waitState(ctx, id, role)
		case <-resume.C:
			if err := e.hooks.Resume(ctx); err != nil {
				return record.Waited{}, err
			}
			seen = -1 // the version does not show what this same process changed
			look = role == task.RoleHuman
		case <-tick.C:
		}
	}
}

// waitState reports whether a caller of the role has to go on waiting, and if not, what there is to know.
func (e *questions) waitState(ctx context.Context, id, role string) (record.Waited, error) {
	s, err := e.withRules(ctx, id)
	if err != nil {
		return record.Waited{}, err
	}
	def := s.def
	state, _ := def.State(s.Task.Status)
	out := record.Waited{Task: s.Task, About: state.About, Blocked: decide.Blocks(def, s.Task.Status, role)}
	if role == task.RoleHuman && (s.Task.Attention != "" || !s.Task.StalledAt.IsZero()) {
		out.Blocked = false // no agent works until this person has looked
	}
	out.Blocked = out.Blocked || isOwing(s.Owed)
	for _, to := range decide.MayAsk(def, s.Task, task.Actor{Role: role}) {
		out.MayAsk = append(out.MayAsk, string(to))
	}
	if out.Before, err = e.turns.Before(ctx, s.Task, false); err != nil || out.Blocked {
		return out, err
	}
	notice, err := e.record.Notice(ctx, id, role)
	if err != nil {
		return out, err
	}
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return out, err
	}
	last := 0
	for _, event := range events {
		if event.IsMove() {
			last = event.Seq
		}
	}
	if notice.Seq >= last && notice.Seq > 0 {
		out.Notice = notice.Text
	}
	return out, nil
}

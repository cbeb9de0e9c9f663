package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Command asks for the move that a command means in the task's workflow.
func (e *requests) Command(ctx context.Context, id, command string, actor task.Actor,
	reason string) (record.Outcome, error) {
	r := &request{
		Request: task.Request{Task: id, Actor: actor, Reason: reason, Command: true},
		target: func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
			return decide.MoveTarget(def, t, command)
		},
	}
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) { return e.request(ctx, r) })
}

// Spawn starts a task. One that has begun goes on in its status, as by Respawn, and is left alone where its agent
// lives.
func (e *requests) Spawn(ctx context.Context, id string, alive func(task.Task, string) (bool, error), actor task.Actor,
	reason string) (record.Outcome, error) {
	begun := false
	r := &request{
		Request: task.Request{Task: id, Actor: actor, Reason: reason, Command: true},
		target: func(def *workflow.Definition, t task.Task) (to task.Status, _ bool, err error) {
			to, begun, err = decide.MoveTarget(def, t, workflow.MoveSpawn)
			return to, begun, err
		},
	}
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) {
		out, err := e.request(ctx, r)
		if err != nil || !begun {
			return out, err
		}
		lives := false
		again, err := e.crew.respawn(ctx, id, func(t task.Task, role string) (bool, error) {
			var err error
			lives, err = alive(t, role)
			return lives, err
		}, actor)
		if refused, is := errors.AsType[*rejection.Rejection](err); is && lives &&
			refused.Code == rejection.RespawnRefused {
			return out, nil // it runs: there is nothing to do
		}
		return again, err
	})
}

// RequestChanges writes a person's change requests into the document and sends the task back to its worker.
func (e *requests) RequestChanges(ctx context.Context, id, text string, actor task.Actor) (record.Outcome, error) {
	r := &request{Request: task.Request{Task: id, Actor: actor, Reason: text, Command: true}}
	r.target = func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
		to, _, err := decide.MoveTarget(def, t, workflow.MoveRequestChanges)
		if err == nil && t.Status == to && text != "" {
			err = decide.AtWork(def, t, actor)
		}
		return to, false, err
	}
	r.before = func(t task.Task, evidence decide.Evidence) error {
		if text == "" {
			return evidence.Instructed(t, r.To)
		}
		block := toMend(text)
		whole, err := e.folder.Read(t.Project, t.ID, true)
		if err == nil && bytes.HasSuffix(whole, []byte(block)) {
			return nil // a program that was ended before its commit has written it
		}
		return e.folder.Append(t.Project, t.ID, block)
	}
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) { return e.request(ctx, r) })
}

// Next asks for the one move that the evidence supports, and records in the history what supports it.
// With override it asks, for a person and with a reason, for the move that the workflow lets a person override:
// the one to the status to, or the only one there is if to is empty.
func (e *requests) Next(ctx context.Context, id string, actor task.Actor, override bool, to task.Status,
	reason string) (record.Outcome, error) {
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) {
		if err := e.outcomes.finishPending(ctx, id, actor); err != nil {
			return record.Outcome{}, err
		}
		s, evidence, err := e.files.inspect(ctx, id, wholeDocument)
		if err != nil {
			return record.Outcome{}, err
		}
		def, err := e.rulesOf(ctx, s.Task)
		if err != nil {
			return record.Outcome{}, err
		}
		why := reason
		switch {
		case override && to == "":
			to, err = decide.Overridable(def, s.Task, actor)
		case !override && to == "":
			if err := e.looks.addFacts(ctx, s, def, false, decide.NeedsOfAll(def, s.Task), &evidence); err != nil {
				return record.Outcome{}, err
			}
			var rests string
			to, rests, err = decide.Next(def, s.Task, evidence, actor, reason, e.now())
			if why == "" {
				why = rests
			}
		}
		req := task.Request{Task: id, To: to, Actor: actor, Reason: why, Override: override}
		if err != nil {
			err = e.reactions.noteRefusal(ctx, req, err)
			e.files.restoreFiles(ctx, id)
			return record.Outcome{}, err
		}
		return e.move(ctx, req)
	})
}

// Redo takes a task back to a state that its workflow allows to begin again.
func (e *requests) Redo(ctx context.Context, id string, to task.Status, actor task.Actor, reason string) (
	record.Outcome, error) {
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) {
		if err := e.outcomes.finishPending(ctx, id, actor); err != nil {
			return record.Outcome{}, err
		}
		look := e.looks.withDocument(to, func(s step) (*workflow.Definition, []workflow.Part) {
			return s.def, decide.NeedsOnEntry(s.def, to)
		})
		s, _, err := e.do(ctx, id, look, func(s step) (*ruling, error) {
			events, err := e.record.Events(ctx, id, 0)
			if err != nil {
				return nil, err
			}
			if _, err := e.project(s.Task.Project); err != nil {
				return nil, err // no hook of it could be performed
			}
			c, err := decide.Redo(s.def, s.Task, to, s.evidence, events, actor, strings.TrimSpace(reason), e.now())
			return &ruling{change: c, in: replay.Inputs{Ask: replay.AskRedo, To: to}.By(actor),
				overtaken: "overtaken by a redo"}, err
		})
		if errors.Is(err, task.ErrPoolFull) {
			err = e.rooms.noRoom(ctx, s.Task)
		}
		if err != nil {
			e.files.restoreFiles(ctx, id)
			return record.Outcome{}, err
		}
		return e.outcomes.conclude(ctx, s.Task, s.Task.Seq, actor)
	})
}

package engine

import (
	"context"
	"errors"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

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
			if _, err := e.registered(s.Task.Project); err != nil {
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

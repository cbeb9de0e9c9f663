package engine

import (
	"context"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/workflow"
)

// conversation adds to a job what an agent goes on with that is started in the place of one that is dead: whether there
// was such a one, its conversation, and what kept its move.
func (e *hooks) conversation(ctx context.Context, def *workflow.Definition, job *record.Job) error {
	events, err := e.record.Events(ctx, job.Task.ID, 0)
	if err != nil {
		return err
	}
	again := job.Hook.Action == action.NotifyWorker // it starts a worker only where none lives
	for i := range events {
		again = again || events[i].Seq == job.Hook.Event && events[i].Type == history.AgentRespawned
	}
	if !again || history.LastStart(events, job.Role) == nil {
		return nil
	}
	job.Again, job.Held = true, decide.Conversations(events).HeldBack(job.Role)
	job.Conversation = decide.Conversations(events).ToContinue(def, job.Task, job.Role, job.Harness(),
		job.Start.Subject)
	return nil
}

// heedConversation notes which conversation the agent of a seat has, as its program told the command that asks. Most
// commands tell what is on record already: they read what happened since the agent's start, and nothing more. No
// command fails because of this: without the note, an agent in this one's place begins a conversation of its own.
func (e *crew) heedConversation(ctx context.Context, seat record.Seat, name string) {
	events, err := e.record.Events(ctx, seat.Task, max(0, seat.Event-1))
	if err == nil && decide.Conversations(events).MayLack(seat.Role, name) {
		err = e.noteConversation(ctx, seat, name)
	}
	if err != nil {
		e.log.Warn("the agent's conversation is not noted", "component", "engine", "task", seat.Task, "role", seat.Role,
			"error", err.Error())
	}
}

func (e *crew) noteConversation(ctx context.Context, seat record.Seat, name string) error {
	_, _, err := e.files.amend(ctx, seat.Task, func(s record.Snapshot) (c record.Change, due bool, err error) {
		now, err := e.record.Seat(ctx, seat.Hash)
		if err != nil || now.Ended { // else it would be noted for the agent in its place
			return c, false, err
		}
		events, err := e.record.Events(ctx, seat.Task, 0)
		if err != nil {
			return c, false, err
		}
		c, due = decide.Conversations(events).Note(s.Task, seat.Role, name, e.now())
		return c, due, nil
	})
	return err
}

package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Actor finds out who asks about a task. A seat speaks only for its role and its own task. A caller without a seat
// is a person, unless one of its parent processes is an agent, or its own process is one that only an agent has.
// An empty id asks who the caller is in general. What an agent's program says of its conversation is noted on the way.
func (e *crew) Actor(ctx context.Context, id string, caller task.Caller) (task.Actor, error) {
	seat, seated, err := e.seat(ctx, caller)
	if err != nil {
		return task.Actor{}, err
	}
	if !seated {
		if err := decide.Person(id, caller); err != nil {
			return task.Actor{}, err
		}
		return task.Actor{Role: task.RoleHuman, As: caller.As, Via: caller.Via, May: caller.May}, nil
	}
	switch {
	case caller.As != "":
		return task.Actor{}, rejection.Denied(id, "an agent that wants to act as "+caller.As,
			"ask as what you are, without --as")
	case seat.Ended:
		return task.Actor{}, rejection.Denied(id,
			fmt.Sprintf("a %s whose time is over: its part is done, it was ended, or another agent has its place",
				seat.Role),
			"stop; nothing more is asked of you")
	case id != "" && seat.Task != id:
		return task.Actor{}, rejection.Denied(id, "the agent of another task, "+seat.Task,
			"speak for your own task only")
	}
	if caller.Secret != "" && caller.Conversation != "" {
		e.heedConversation(ctx, seat, caller.Conversation)
	}
	return task.Actor{Role: seat.Role}, nil
}

// Home reports, as an error, that the caller may not do what concerns the whole home.
func (e *crew) Home(ctx context.Context, what string, caller task.Caller) error {
	seat, _, err := e.seat(ctx, caller)
	if err != nil {
		return err
	}
	return decide.Home(what, caller, seat.Role)
}

// seat finds the seat that the caller shows, or that Orange gave to one of its parent processes.
func (e *crew) seat(ctx context.Context, caller task.Caller) (record.Seat, bool, error) {
	if caller.Secret != "" {
		seat, err := e.record.Seat(ctx, harness.SeatOf(caller.Secret))
		if errors.Is(err, task.ErrNotFound) {
			return seat, false, rejection.Denied("", "an unknown seat (ORANGE_SEAT)",
				"use the seat that you were started with, or unset ORANGE_SEAT if you are a person")
		}
		return seat, err == nil, err
	}
	seat, err := e.record.SeatOf(ctx, caller.Above...)
	if errors.Is(err, task.ErrNotFound) {
		return seat, false, nil
	}
	return seat, err == nil, err
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

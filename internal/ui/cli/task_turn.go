package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// turn says to an agent whether it has to act next.
func (x *explainer) turn(ctx context.Context, h *Services, id string) error {
	role := x.as
	if role == "" {
		actor, err := h.Identity.Looker(ctx, id)
		if err != nil {
			return err
		}
		if role = actor.Role; role == task.RoleHuman {
			return usage("which agent? You are none; name the role with --as, such as --as worker")
		}
	}
	own, awaits, err := h.Turns.Next(ctx, id, role)
	if err != nil {
		return err
	}
	if x.json {
		return x.printJSON(map[string]any{"task": view(own.Task, ""), "role": role, "yours": len(own.Ways) > 0,
			"ways": orEmpty(own.Ways), "awaits": awaits})
	}
	if len(own.Ways) == 0 {
		x.say("Nothing is yours to do in task %s now: %s. You may end your turn.", own.Task.ID, awaits)
		return nil
	}
	return x.print(turnText(own, role))
}

// endOfTurn answers a hook that a program runs before an agent ends its turn. It keeps no agent that it cannot help: a
// caller that is none of this home, or whose part is over, hears nothing, and an error lets go too. Status 2 would keep
// an agent in some programs, so no error has it here.
func (x *explainer) endOfTurn(ctx context.Context, args []string) error {
	own, role, err := x.ending(ctx, args)
	refused, is := errors.AsType[*rejection.Rejection](err)
	switch {
	case is && refused.Code == rejection.ActorDenied, errors.Is(err, task.ErrNotFound):
		return nil
	case err != nil:
		x.warn("cannot tell whether the next act is yours, so you may end your turn: %v", err)
		return &ended{exitFailed}
	case len(own.Ways) == 0:
		return nil
	}
	return x.encode(map[string]any{"decision": "block", "reason": turnText(own, role)}, "")
}

// ending counts that the agent of this seat wants to end its turn. A person's turn is their own.
func (x *explainer) ending(ctx context.Context, args []string) (own decide.Explanation, role string, err error) {
	h, err := x.open(ctx)
	if err != nil {
		return own, "", err
	}
	actor, err := h.Identity.Looker(ctx, "")
	if err != nil || actor.Role == task.RoleHuman {
		return own, "", err // before any task is looked for: a person's sessions elsewhere may have the hook too
	}
	id, err := x.find(ctx, h, args)
	if err != nil {
		return own, "", err
	}
	if actor, err = h.Identity.Looker(ctx, id); err != nil {
		return own, "", err
	}
	own, _, err = h.Turns.End(ctx, id, actor.Role)
	return own, actor.Role, err
}

// turnText says to an agent what is its own to do.
func turnText(own decide.Explanation, role string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s is in %q, and the next act is yours, the %s's. "+
		"Do not end your turn before you have asked for one of these:\n", own.Task.ID, own.Task.Status, role)
	for _, w := range own.Ways {
		command := "orange task update --status " + string(w.To)
		if w.Reason {
			command += ` --reason "..."`
		}
		if w.Open {
			fmt.Fprintf(&b, "%s: open now, by: %s\n", w.To, command)
			continue
		}
		fmt.Fprintf(&b, "%s: not open yet\n", w.To)
		for _, d := range w.Details {
			b.WriteString(detailText("  ", d))
		}
		fmt.Fprintf(&b, "  then: %s\n", command)
	}
	return b.String()
}

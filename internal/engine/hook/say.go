package hook

import (
	"context"
	"slices"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// Waits reports whether a living command waits for a task on behalf of a role.
func (h *Executor) Waits(ctx context.Context, t task.Task, role string) (bool, error) {
	return h.waits(ctx, t.ID, role)
}

// Say types a text for the living agent of a role, at once or not at all: an error that is a *tmux.NotSafe says why
// not now. agent is the agent's harness. There is task.ErrNotFound if no agent of that role lives.
// Say calls begin right before it types; an error of begin ends it.
func (h *Executor) Say(ctx context.Context, t task.Task, role, agent, text string,
	begin func(context.Context) error) error {
	own, err := h.panesOf(ctx, record.Job{Task: t})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(own, func(p tmux.Pane) bool { return p.Role == role && !p.Dead })
	if at < 0 {
		return task.Notef(task.ErrNotFound, "no %s lives", role)
	}
	typing, err := h.typing(agent)
	if err != nil {
		return err
	}
	typing.Patience, typing.Begin = 0, begin
	return h.Sessions.Type(ctx, own[at].ID, text, typing)
}

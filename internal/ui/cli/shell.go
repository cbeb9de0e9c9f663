package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func (p *Program) shellCommand() *cobra.Command {
	return &cobra.Command{
		Use: "shell [ID]", Short: "Move one task with the slash commands of its workflow", Args: between(0, 1),
		Long: `Move one task with the slash commands that its workflow declares, with the moves out of its status
(/spawn, /complete, /stuck, /merge and /cancel where the workflow has them, and the name of each
state that a move leads to, as /agent-review), and with /next, /redo, /status, /why, /history, /help
and /quit. A command of the workflow, and a state's name, ask for the move to that state. If the
task is in that state already, the command begins the state again, if the workflow has a transition
from it to itself; otherwise it starts the agent again if the agent has died.
Without a terminal, orange shell runs the lines of standard input. Its exit status is then that of
the last line that failed.`,
		Example: "  orange shell 4Fz\n  echo '/next --override \"I accept the risk\"' | orange shell 4Fz",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			p.lend()
			p.guessed = nil // its prompt names the task before every line
			status, err := p.Shell(ctx, &TaskShell{program: p, services: h, id: id})
			if err == nil && status != 0 {
				err = &ended{status} // what failed is printed already
			}
			return err
		}),
	}
}

// TaskShell is the command line's side of a conversation about one task. Every method prints the answer to what it
// asks for, but Here.
type TaskShell struct {
	program  *Program
	services *Services
	id       string

	looker *task.Actor // who asks, once Orange has looked
}

// Here is the task as it is now, with its workflow.
func (t *TaskShell) Here(ctx context.Context) (task.Task, *workflow.Definition, error) {
	return t.services.Queries.Pinned(ctx, t.id)
}

// Open are the states that the caller may ask for.
func (t *TaskShell) Open(ctx context.Context, one task.Task, def *workflow.Definition) ([]task.Status, error) {
	if t.looker == nil {
		actor, err := t.services.Identity.Looker(ctx, t.id)
		if err != nil {
			return nil, err
		}
		t.looker = &actor
	}
	return decide.MayAsk(def, one, *t.looker), nil
}

// Move asks for the move that a word of the command line stands for. The line named the task's move in full, and so no
// question follows.
func (t *TaskShell) Move(ctx context.Context, word, reason string) error {
	actor, err := t.services.Identity.Actor(ctx, t.id, "")
	if err != nil {
		return err
	}
	if word != workflow.MoveMerge {
		return t.program.command(ctx, t.services, t.id, word, actor, reason)
	}
	out, done, err := t.services.Commands.Merge(ctx, t.id, task.Merge{}, actor)
	if err != nil {
		return err
	}
	if !t.program.json {
		t.program.say("%s: %s", out.Task.Branch, done)
	}
	return t.program.performed(out, "", actor)
}

// Tell ends the answer to a line as every command does, with an error where there is one.
func (t *TaskShell) Tell(err error) int { return t.program.end(err) }

// Go asks for a move. Asked for where the task is already, it begins that state again where the workflow lets the
// actor do so; else it starts a dead agent again, and leaves a living one alone.
func (t *TaskShell) Go(ctx context.Context, to task.Status, reason string) error {
	actor, err := t.services.Identity.Actor(ctx, t.id, "")
	if err != nil {
		return err
	}
	one, def, err := t.Here(ctx)
	if err != nil {
		return err
	}
	there := one.Status == to
	if there && !decide.CanRestart(def, one, actor) {
		return t.again(ctx, one, def, actor)
	}
	out, err := t.services.Commands.Request(ctx, task.Request{Task: t.id, To: to, Actor: actor, Reason: reason})
	if err != nil {
		return err
	}
	if there && !out.Moved && !out.Queued { // its branch has not moved
		return t.again(ctx, one, def, actor)
	}
	return t.program.outcome(out, "")
}

func (t *TaskShell) again(ctx context.Context, one task.Task, def *workflow.Definition, actor task.Actor) error {
	state, _ := def.State(one.Status)
	if state.RespawnPrompt.Name == "" {
		return t.program.outcome(record.Outcome{Task: one}, "") // no agent can be started there
	}
	out, err := t.services.Commands.Respawn(ctx, t.id, actor)
	if refused, is := errors.AsType[*rejection.Rejection](err); is && refused.Code == rejection.RespawnRefused {
		return t.atWork(ctx, one, state, err)
	}
	if err != nil {
		return err
	}
	return t.program.outcome(out, respawnWords(out.Event)+t.id)
}

// atWork says that the state's agent is at work, where that is why it was not started again.
func (t *TaskShell) atWork(ctx context.Context, one task.Task, state workflow.State, refused error) error {
	sessions, err := t.services.Queries.Sessions(ctx, []task.Task{one})
	if err != nil {
		return err
	}
	if sessions[t.id] != record.AgentAlive {
		return refused
	}
	return t.program.outcome(record.Outcome{Task: one}, fmt.Sprintf("%s is %s already, and its %s is at work", t.id,
		one.Status, state.Role))
}

// Next makes the one move that the evidence supports.
func (t *TaskShell) Next(ctx context.Context, to task.Status, override bool, reason string) error {
	actor, err := t.services.Identity.Actor(ctx, t.id, "")
	if err != nil {
		return err
	}
	return t.program.next(ctx, t.services, t.id, actor, override, to, reason)
}

// Redo has a state done again.
func (t *TaskShell) Redo(ctx context.Context, to task.Status, reason string) error {
	actor, err := t.services.Identity.Actor(ctx, t.id, "")
	if err != nil {
		return err
	}
	return t.program.redo(ctx, t.services, t.id, to, actor, reason)
}

// Show prints how the task is, why it does not move, or its history.
func (t *TaskShell) Show(ctx context.Context, what string) error {
	switch {
	case what == "history":
		return t.program.runFor(ctx, t.program.taskHistory(), t.id)
	case what == "why":
		return t.program.runFor(ctx, t.program.taskWhy(), t.id)
	case t.program.json:
		return t.program.runFor(ctx, t.program.taskShow(), t.id)
	}
	return t.status(ctx)
}

// status is what a person wants to know between two lines; orange task show has the rest.
func (t *TaskShell) status(ctx context.Context) error {
	actor, err := t.services.Identity.Looker(ctx, t.id)
	if err != nil {
		return err
	}
	r, err := t.services.Queries.Report(ctx, t.id, actor)
	if err != nil {
		return err
	}
	p := t.program
	p.say("%s  %s", r.Task.ID, oneLine(r.Task.Summary, 200))
	line := p.field
	line("status", strings.TrimSpace(string(r.Task.Status)+"  "+r.About))
	line("work", r.Work)
	line("attention", r.Task.Attention)
	if r.Task.Queued() {
		line("queued for", string(r.Task.QueuedFor))
	}
	line("agents", r.Session)
	line("may ask for", strings.Join(r.MayAsk, ", "))
	for _, h := range r.Owed {
		line("hook to run", strings.TrimSpace(h.Action+" ("+string(h.State)+") "+h.Error))
	}
	for _, problem := range r.Problems {
		line("problem", problem)
	}
	return nil
}

// runFor runs a command for a task, as if it had been typed.
func (p *Program) runFor(ctx context.Context, c *cobra.Command, id string) error {
	c.SetContext(ctx)
	return c.RunE(c, []string{id})
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/history"
	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// mover asks for moves of a task, and tells what became of them.
type mover struct{ *finder }

// moveCommand makes a command that asks for the move which a word stands for in the task's workflow.
func moveCommand(p *Program, use, short, example, command string) *cobra.Command {
	var ask asker
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: between(0, 1),
		RunE: p.onKeyed(&ask.as, &ask.requestKey, func(ctx context.Context, h *Services, id string,
			actor task.Actor) error {
			return mover{&p.finder}.command(ctx, h, id, command, actor, ask.reason)
		}),
	}
	ask.flags(c)
	return c
}

// command asks for the move which a word stands for in the task's workflow.
func (mv mover) command(ctx context.Context, h *Services, id, command string, actor task.Actor, reason string) error {
	out, err := h.Commands.Command(ctx, id, command, actor, reason)
	if err != nil {
		return err
	}
	return mv.tellDone(out, "", actor)
}

func taskCancel(p *Program) *cobra.Command {
	var ask asker
	var yes bool
	c := &cobra.Command{
		Use: "cancel [ID]", Short: "Cancel a task; its branch and all work on it stay", Args: between(0, 1),
		Long: "Cancel a task; its branch and all work on it stay.\n" +
			"A person is asked first; where no one can be asked, it takes --yes.",
		Example: "  orange task cancel 4Fz --yes",
		RunE: p.onKeyed(&ask.as, &ask.requestKey, func(ctx context.Context, h *Services, id string,
			actor task.Actor) error {
			if err := p.sureOf(id, actor, yes, "Cancel", " Its agents are ended; its work is kept.",
				"not cancelled"); err != nil {
				return err
			}
			return mover{&p.finder}.command(ctx, h, id, workflow.MoveCancel, actor, ask.reason)
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	ask.flags(c)
	return c
}

func taskMove(p *Program) *cobra.Command {
	var m madeMove
	var key requestKey
	c := &cobra.Command{
		Use: "move ID [STATE]", Short: "List the moves of a task, or make one of them", Args: between(1, 2),
		Long: `Without STATE, list the moves out of the task's status: open, or closed with what is missing; what
each does, whether it takes a reason, and the states that can begin again. The dashboard's key M
opens the same list as a menu; "orange task why" says more.

With STATE, make the move. If a merge leads to that state, this merges. If no other move to the
state is open and the workflow lets it begin again, this does what "orange task redo" does. A move
that gives the task up asks first, or takes --yes.

--override REASON makes a move in spite of its conditions, where the workflow allows that; the
reason is kept in the history.

With --json and without STATE: {"id", "status", "moves": [{"to", "how": "request", "override",
"redo" or "", "reason": whether it takes one, "hooks", "details"}]}.`,
		Example: "  orange task move 4Fz\n  orange task move 4Fz working --reason \"the API key is there now\"\n" +
			"  orange task move 4Fz done --override \"I have looked at the last commit\"",
	}
	c.RunE = p.run(func(ctx context.Context, h *Services, args []string) error {
		id, err := p.find(ctx, h, args[:1])
		if err != nil {
			return err
		}
		if len(args) == 1 {
			return mover{&p.finder}.moves(ctx, h, id)
		}
		if c.Flags().Changed("override") && strings.TrimSpace(m.override) == "" {
			return usage("an override needs a reason: --override \"why\"")
		}
		m.to = task.Status(args[1])
		actor, err := key.actor(ctx, h, id, "", args[1])
		if err != nil {
			return err
		}
		return mover{&p.finder}.moveTo(ctx, h, id, m, actor)
	})
	key.flag(c)
	c.Flags().StringVar(&m.reason, "reason", "", "why, for the history")
	c.Flags().StringVar(&m.override, "override", "", "make the move in spite of its conditions, for this reason")
	c.Flags().BoolVar(&m.yes, "yes", false, "do not ask")
	return c
}

// moves lists the moves of a task that the caller has.
func (mv mover) moves(ctx context.Context, h *Services, id string) error {
	e, err := h.Queries.Why(ctx, id)
	if err != nil {
		return err
	}
	actor, err := h.Identity.Looker(ctx, id)
	if err != nil {
		return err
	}
	all := inbox.Ways(e, actor.Role)
	if mv.json {
		return mv.printJSON(map[string]any{"id": id, "status": e.Task.Status, "moves": orEmpty(all)})
	}
	mv.say("%s is %s  %s", id, e.Task.Status, e.About)
	if e.Need.Reason != "" {
		mv.need(e.Need)
	}
	if len(all) == 0 {
		mv.say("no move leads out of here")
	}
	for _, c := range all {
		mv.say("%s %s%s", map[bool]string{true: "->", false: "  "}[c.Open()], c.To, howText(c))
		for _, d := range c.Details {
			mv.detail("     ", d)
		}
	}
	return nil
}

// howText says how a move is made, and what is done then.
func howText(c inbox.Way) string {
	text := map[string]string{inbox.ByRequest: "  open", inbox.ByRedo: "  begins again",
		inbox.ByOverride: "  closed; --override REASON makes it all the same"}[c.How]
	if text == "" {
		text = "  closed"
	}
	if c.Reason && c.How == inbox.ByRequest {
		text += ", with --reason"
	}
	if len(c.Hooks) > 0 {
		text += "; then " + strings.Join(c.Hooks, ", ")
	}
	return text
}

// madeMove is a move as someone asks for it.
type madeMove struct {
	to               task.Status
	reason, override string
	yes              bool
}

// moveTo makes one move of a task. How it is made depends on where the task is, so that one that was made before
// under its key, or by its call, is answered first.
func (mv mover) moveTo(ctx context.Context, h *Services, id string, m madeMove, actor task.Actor) error {
	if actor.Repeats() {
		out, how, answered, err := h.Commands.Answered(ctx, id, actor)
		if err != nil || answered {
			return mv.tellAgain(out, how, actor, err)
		}
	}
	to := m.to
	e, err := h.Queries.Why(ctx, id)
	if err != nil {
		return err
	}
	_, def, err := h.Queries.Pinned(ctx, id)
	if err != nil {
		return err
	}
	if e.Task.Live && leads(def, workflow.MoveCancel, to) {
		if err := mv.sure(actor, m.yes, "Cancel task "+id+"? Its agents are ended; its work is kept.",
			"not cancelled"); err != nil {
			return err
		}
	}
	c, _ := inbox.Find(inbox.Ways(e, actor.Role), to)
	switch {
	case e.Task.Live && e.Task.Workspace != "" && leads(def, workflow.MoveMerge, to):
		return mv.merge(ctx, h, id, task.Merge{Override: m.override}, actor)
	case m.override != "":
		return mv.next(ctx, h, id, actor, true, to, m.override)
	case c.How == inbox.ByRedo:
		return mv.redo(ctx, h, id, to, actor, m.reason)
	}
	return mv.tellAnswer(h.Commands.Request(ctx, task.Request{Task: id, To: to, Actor: actor, Reason: m.reason}))
}

// tellAgain tells of a move that was made before, as the command did that made it.
func (mv mover) tellAgain(out record.Outcome, merge string, actor task.Actor, err error) error {
	switch {
	case err != nil:
		return err
	case merge != "":
		return mv.tellMerge(out, merge, actor)
	case out.Event.Data[history.DataOverride] != "":
		return mv.tellReason(out, nil)
	case out.Event.Data[history.DataRedo] != "":
		return mv.tellRedo(out, nil)
	}
	return mv.tellAnswer(out, nil)
}

// leads reports whether a command of a workflow leads to a state.
func leads(def *workflow.Definition, command string, to task.Status) bool {
	there, has := def.Move(command)
	return has && there == to
}

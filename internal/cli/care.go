package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/record"
	"orange/internal/task"
)

// sure asks a person whether to go on, unless they said so already. Only people are asked: an agent has no one to
// answer for it, and what it asks for is judged like everything else. Where no person can answer, nothing is
// done.
func (p *Program) sure(actor task.Actor, yes bool, question, not string) error {
	switch {
	case yes || actor.Role != task.RoleHuman:
		return nil
	case !p.Terminal:
		return usage("%s: no person can be asked here; add --yes", not)
	case !p.confirm(question):
		return usage("%s", not)
	}
	return nil
}

// confirm asks a person at a terminal.
func (p *Program) confirm(question string) bool {
	fmt.Fprintf(p.Err, "%s [y/N] ", question)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}

func (p *Program) taskAttach() *cobra.Command {
	var role string
	c := &cobra.Command{
		Use: "attach [ID]", Short: "Look over an agent's shoulder, and talk to it", Args: between(0, 1),
		Long: `Look over an agent's shoulder, and talk to it. F12 leads back to where you were; F11 shows the next window.
Inside a tmux of your own the keys of the two do not get in each other's way: the inner one has no prefix key.`,
		Example: "  orange task attach 4Fz\n  orange task attach 4Fz --role reviewer",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			argv, err := h.Commands.Attach(ctx, id, role, !p.json)
			if err != nil || !p.json {
				return err
			}
			return p.printJSON(map[string]any{"attach": argv})
		}),
	}
	c.Flags().StringVar(&role, "role", "", "whose window: worker or reviewer (default: that of the present status)")
	return c
}

func (p *Program) taskRespawn() *cobra.Command {
	return &cobra.Command{
		Use: "respawn [ID]", Short: "Start the agent of the present status again, when it has died",
		Args:    between(0, 1),
		Example: "  orange task respawn 4Fz",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			out, err := h.Commands.Respawn(ctx, id, actor)
			if err != nil {
				return err
			}
			return p.outcome(out, "respawned the "+out.Event.Data["role"]+" of "+id)
		}),
	}
}

func (p *Program) taskRetry() *cobra.Command {
	return &cobra.Command{
		Use: "retry [ID]", Short: "Perform again what failed after a move", Args: between(0, 1),
		Example: "  orange task retry 4Fz",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			out, err := h.Commands.Retry(ctx, id, actor)
			if err != nil {
				return err
			}
			said := "nothing to retry for " + id
			if len(out.Hooks) > 0 {
				said = "retried what " + id + " owed"
			}
			return p.outcome(out, said)
		}),
	}
}

func (p *Program) taskDelete() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete [ID]", Short: "Forget a task; a live one is cancelled first", Args: between(0, 1),
		Long: "Forget a task; a live one is cancelled first. Its folder goes to the trash, its branch and " +
			"rescued work stay in the repository.",
		Example: "  orange task delete 4Fz --yes",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if err := p.sure(actor, yes, "Delete task "+id+"? Its branch and rescued work stay.",
				"not deleted"); err != nil {
				return err
			}
			report, err := h.Queries.Report(ctx, id, actor)
			if err != nil {
				return err
			}
			where, err := h.Commands.Delete(ctx, id, actor)
			if err != nil {
				return err
			}
			return p.deleted(ctx, h, report, where)
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (p *Program) deleted(_ context.Context, _ *Services, report record.Report, where string) error {
	t := report.Task
	if p.json {
		return p.printJSON(map[string]any{"deleted": t.ID, "folder": where, "branch": t.Branch})
	}
	p.say("deleted task %s; its folder is now %s", t.ID, where)
	p.say("  kept: branch %s, and all that was rescued: git for-each-ref refs/orange/rescue/%s", t.Branch, t.ID)
	return nil
}

// waitDefault stays below the time limits that agent programs put on the commands they run.
const waitDefault = 100 * time.Second

func (p *Program) taskWait() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use: "wait [ID]", Short: "Wait until it is your turn", Args: between(0, 1),
		Long: `Wait until it is your turn: a worker until its review is over, a person until the agents need one.
Ends after --timeout with "not yet: run it again" and exit status 0, so that it fits into any time limit.`,
		Example: "  orange task wait\n  orange task wait 4Fz --timeout 10m",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			actor, err := h.Identity.Looker(ctx, id)
			if err != nil {
				return err
			}
			waited, err := h.Commands.Wait(ctx, id, actor, timeout)
			if err != nil {
				return err
			}
			return p.waited(waited)
		}),
	}
	c.Flags().DurationVar(&timeout, "timeout", waitDefault, "how long at most")
	return c
}

func (p *Program) waited(w record.Waited) error {
	if p.json {
		return p.printJSON(map[string]any{
			"task": view(w.Task, ""), "ready": !w.Blocked, "about": w.About, "notice": w.Notice,
			"open": orEmpty(w.Open),
		})
	}
	if w.Blocked {
		p.say("not yet: the task is %s. %s\nrun it again: orange task wait %s", w.Task.Status, w.About, w.Task.ID)
		return nil
	}
	p.say("status: %s. %s", w.Task.Status, w.About)
	if w.Notice != "" {
		p.say("%s", w.Notice)
	}
	if w.Task.Attention != "" {
		p.say("attention: %s", w.Task.Attention)
	}
	if len(w.Open) > 0 {
		p.say("moves open to you: %s", strings.Join(w.Open, ", "))
	}
	return nil
}

func (p *Program) settleCommand() *cobra.Command {
	var person bool
	c := &cobra.Command{
		Use: "settle ID", Short: "Perform the hooks that a task owes", Args: between(1, 1), Hidden: true,
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			return h.Commands.Settle(ctx, args[0], person)
		}),
	}
	c.Flags().BoolVar(&person, "person", false, "a person asked: what needs their keys has this process's environment")
	return c
}

func (p *Program) launchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "launch TICKET", Short: "Run an agent in this window", Args: between(1, 1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if status := p.Launch(args[0]); status != 0 {
				return &ended{status}
			}
			return nil
		},
	}
}

// ended carries an agent's exit status to the caller of the program.
type ended struct{ status int }

func (e *ended) Error() string { return fmt.Sprintf("the agent ended with status %d", e.status) }

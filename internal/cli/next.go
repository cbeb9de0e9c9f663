package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/action"
	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/task"
)

func (p *Program) taskNext() *cobra.Command {
	var ask asker
	var override, to string
	c := &cobra.Command{
		Use: "next [ID]", Short: "Make the one move that the evidence supports", Args: between(0, 1),
		Long: `Make the one move that the evidence supports, and say what it rests on. Where no move is supported, or several are,
nothing changes, every condition that is not met is listed, and the exit status is 3.

--override REASON makes a move in spite of its conditions, where the workflow allows that; the reason is kept in the history.`,
		Example: "  orange task next\n  orange task next 4Fz --override \"I accept the risk\"",
	}
	c.RunE = p.onTask(&ask.as, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
		overriding := c.Flags().Changed("override")
		if to != "" && !overriding {
			return usage("--to goes with --override; to ask for a status, there is: orange task update --status %s", to)
		}
		if overriding && strings.TrimSpace(override) == "" {
			return usage("an override needs a reason: --override \"why\"")
		}
		reason := ask.reason
		if overriding {
			reason = override
		}
		return p.next(ctx, h, id, actor, overriding, task.Status(to), reason)
	})
	c.Flags().StringVar(&override, "override", "", "make the move in spite of its conditions, for this reason")
	c.Flags().StringVar(&to, "to", "", "the status, where several moves may be overridden")
	ask.flags(c)
	return c
}

func (p *Program) next(ctx context.Context, h *Services, id string, actor task.Actor, override bool, to task.Status,
	reason string) error {
	out, err := h.Commands.Next(ctx, id, actor, override, to, reason)
	if err != nil {
		return err
	}
	if err := p.outcome(out, ""); err != nil || p.json || !out.Event.IsMove() {
		return err
	}
	p.say("  because: %s", out.Event.Reason)
	return nil
}

func (p *Program) taskRedo() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "redo ID STATE", Short: "Take a task back to a state, and have it done again", Args: between(1, 2),
		Long: `Take a task back to a state that its workflow lets begin again: one that comes before its present one, or that one itself.
An agent at work is ended, the files of the state's folder are set aside, and the state's agent is started.
A task that is done opens again only so. Inside a workspace the ID can be left out.`,
		Example: "  orange task redo 4Fz planning --reason \"the requirements have changed\"",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			state := args[len(args)-1]
			id, err := p.find(ctx, h, args[:len(args)-1])
			if err != nil {
				return err
			}
			return p.redo(ctx, h, id, task.Status(state), reason)
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the history")
	return c
}

func (p *Program) redo(ctx context.Context, h *Services, id string, to task.Status, reason string) error {
	actor, err := h.Identity.Actor(ctx, id, "")
	if err != nil {
		return err
	}
	out, err := h.Commands.Redo(ctx, id, to, actor, reason)
	if err != nil {
		return err
	}
	if err := p.outcome(out, ""); err != nil {
		return err
	}
	for _, h := range out.Hooks {
		if h.Action == action.SetAside && h.State == task.HookDone && !p.json {
			p.say("  the earlier files, if there were any, are in %s of the task's folder",
				task.AsideName(h.Event, h.Folder))
		}
	}
	return nil
}

func (p *Program) workflowMigrate() *cobra.Command {
	var id string
	var pairs []string
	c := &cobra.Command{
		Use: "migrate NAME", Short: "Give live tasks the rules of a workflow as it is now", Args: between(1, 1),
		Long: `Give every live task that was created with the workflow NAME its rules as they stand now; or one task, with --task, whatever its workflow is.
A task is pinned to the text that it was created with, and this is the only way to change that. A task whose status does not exist any more
is left alone, unless --map says what stands for it. Exit status 3 where a task was left alone.`,
		Example: "  orange workflow migrate default\n  orange workflow migrate team --task 4Fz --map " +
			"agent-review=review",
		RunE: p.runForPerson("give tasks other rules", func(ctx context.Context, h *Services, args []string) error {
			statuses, err := statusPairs(pairs)
			if err != nil {
				return err
			}
			tasks, err := p.toMigrate(ctx, h, args[0], id)
			if err != nil {
				return err
			}
			return p.migrate(ctx, h, args[0], tasks, statuses)
		}),
	}
	c.Flags().StringVar(&id, "task", "", "only this task")
	c.Flags().StringArrayVar(&pairs, "map", nil,
		"OLD=NEW: the state that stands for one of the present workflow (repeatable)")
	return c
}

func statusPairs(pairs []string) (map[task.Status]task.Status, error) {
	out := map[task.Status]task.Status{}
	for _, pair := range pairs {
		from, to, found := strings.Cut(pair, "=")
		if !found || from == "" || to == "" {
			return nil, usage("found %q as --map, expected OLD=NEW", pair)
		}
		out[task.Status(from)] = task.Status(to)
	}
	return out, nil
}

func (p *Program) toMigrate(ctx context.Context, h *Services, name, id string) ([]task.Task, error) {
	if id != "" {
		id, err := p.find(ctx, h, []string{id})
		if err != nil {
			return nil, err
		}
		return h.Queries.Tasks(ctx, record.Filter{Prefix: id})
	}
	live, err := h.Queries.Tasks(ctx, record.Filter{Live: true})
	var of []task.Task
	for i := range live {
		if live[i].Workflow.Name == name {
			of = append(of, live[i])
		}
	}
	return of, err
}

// migrated is what became of one task.
type migrated struct {
	Task    string          `json:"task"`
	Status  task.Status     `json:"status"`
	Moved   bool            `json:"migrated"`
	Code    string          `json:"code,omitempty"`
	Error   string          `json:"error,omitempty"`
	Details []decide.Detail `json:"details,omitempty"`

	err error
}

func (p *Program) migrate(ctx context.Context, h *Services, name string, tasks []task.Task,
	statuses map[task.Status]task.Status) error {
	all := []migrated{}
	var last error
	for i := range tasks {
		one := migrated{Task: tasks[i].ID, Status: tasks[i].Status}
		actor, err := h.Identity.Actor(ctx, one.Task, "")
		if err != nil {
			return err
		}
		out, err := h.Commands.Migrate(ctx, one.Task, name, statuses, actor)
		if err != nil {
			_, one.Code = classify(err)
			one.Error, one.err, last = err.Error(), err, err
			if refused := (*decide.Rejection)(nil); errors.As(err, &refused) {
				one.Error, one.Details = refused.Message, refused.Details
			}
		} else {
			one.Status, one.Moved = out.Task.Status, out.Moved
		}
		all = append(all, one)
	}
	if p.json {
		if err := p.printJSON(map[string]any{"tasks": all}); err != nil {
			return err
		}
	}
	for _, one := range all {
		switch {
		case p.json:
		case one.Error != "":
			p.warn("%v", one.err)
		case one.Moved:
			p.say("%s has the present rules of %s (%s)", one.Task, name, one.Status)
		default:
			p.say("%s had them already", one.Task)
		}
	}
	if len(all) == 0 && !p.json {
		p.say("no live task was created with the workflow %s", name)
	}
	if last != nil {
		status, _ := classify(last)
		return &ended{status}
	}
	return nil
}

// fromPlan reads the plan file of a new task.
func (p *Program) fromPlan(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := p.readText(path)
	if err == nil && strings.TrimSpace(text) == "" {
		err = usage("the plan file %q is empty", path)
	}
	if err != nil {
		return "", fmt.Errorf("read the plan: %w", err)
	}
	return text, nil
}

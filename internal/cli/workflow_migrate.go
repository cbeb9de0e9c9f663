package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/record"
	"orange/internal/rejection"
	"orange/internal/task"
)

func (p *Program) workflowMigrate() *cobra.Command {
	var id string
	var pairs []string
	c := &cobra.Command{
		Use: "migrate NAME", Short: "Move live tasks to the present text of their workflow", Args: between(1, 1),
		Long: `Move every live task that was created with the workflow NAME to the present text of that workflow;
with --task only one task, whatever its workflow is. A task is pinned to the text that it was
created with, and this is the only way to change that. What the present text asks for and does that
theirs did not has a plus before it, what is gone a minus. Orange skips a task whose status no
longer exists, unless --map names a new one for it. Exit status 3 if a task was skipped.`,
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

func (p *Program) sayChanges(changes []string) {
	if len(changes) == 0 {
		p.say("  its states, moves and checks are the same; details differ")
	}
	for _, line := range changes {
		p.say("  %s", line)
	}
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
	return slices.DeleteFunc(live, func(t task.Task) bool { return t.Workflow.Name != name }), err
}

type migrated struct {
	Task    string             `json:"task"`
	Status  task.Status        `json:"status"`
	Moved   bool               `json:"migrated"`
	Changes []string           `json:"changes,omitempty"` // what its new rules ask for and do
	Code    string             `json:"code,omitempty"`
	Error   string             `json:"error,omitempty"`
	Details []rejection.Detail `json:"details,omitempty"`

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
			if refused, is := errors.AsType[*rejection.Rejection](err); is {
				one.Error, one.Details = refused.Message, refused.Details
			}
		} else {
			one.Status, one.Moved, one.Changes = out.Task.Status, out.Moved, out.Changes
		}
		all = append(all, one)
	}
	if p.json {
		if err := p.printJSON(map[string]any{"tasks": all}); err != nil {
			return err
		}
	}
	var said []string
	for _, one := range all {
		switch {
		case p.json:
		case one.Error != "":
			p.warn("%v", one.err)
		case one.Moved:
			p.say("%s has the present rules of %s (%s)", one.Task, name, one.Status)
			if !slices.Equal(one.Changes, said) { // tasks of the same text have the same
				said = one.Changes
				p.sayChanges(said)
			}
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

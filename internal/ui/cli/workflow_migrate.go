package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// migration is what a person asks for.
type migration struct {
	*finder

	name     string
	task     string // only this one; empty for all of them
	allTasks bool   // whatever their workflows are
	dryRun   bool
	statuses map[task.Status]task.Status
}

func workflowMigrate(p *Program) *cobra.Command {
	m := migration{finder: &p.finder}
	var pairs []string
	c := &cobra.Command{
		Use: "migrate NAME", Short: "Move live tasks to the present text of a workflow", Args: between(1, 1),
		Long: `Move every live task that was created with the workflow NAME to the present text of that workflow,
in all projects or in the one of --project. With --task move only one task, whatever its workflow
is. With --all-tasks move the live tasks of the project that you are in, or of all projects where
you are in none, whatever their workflows are. A task is pinned to the text that it was created
with, and this is the only way to change that. A text is named by its workflow, its version and the
first letters of its digest, as "default 5 (3fa9c2)".

What the present text asks for and does that theirs did not has a plus before it, what is gone a
minus. Orange skips a task whose status no longer exists, unless --map names a new one for it. Exit
status 3 if a task was skipped. With --dry-run it says all this, with the same exit status, and
changes nothing.`,
		Example: "  orange workflow migrate default\n  orange workflow migrate team --task 4Fz --map " +
			"agent-review=review\n  orange workflow migrate team --all-tasks --dry-run",
		RunE: p.runForPerson("give tasks other rules", func(ctx context.Context, h *Services, args []string) error {
			statuses, err := statusPairs(pairs)
			if err != nil {
				return err
			}
			if m.name, m.statuses = args[0], statuses; m.task != "" && m.allTasks {
				return usage("found --task and --all-tasks, expected one of the two")
			}
			def, err := h.Workflows.Workflow(m.name)
			if err != nil {
				return err
			}
			tasks, err := m.tasks(ctx, h)
			if err != nil {
				return err
			}
			all := make([]migrated, len(tasks))
			for i := range tasks {
				all[i] = m.migrate(ctx, h, tasks[i], def.Ref())
			}
			return m.tell(all)
		}),
	}
	c.Flags().StringVar(&m.task, "task", "", "only this task")
	c.Flags().BoolVar(&m.allTasks, "all-tasks", false, "all live tasks, whatever their workflows are")
	c.Flags().BoolVar(&m.dryRun, "dry-run", false, "say what would happen to each task, and change nothing")
	c.Flags().StringArrayVar(&pairs, "map", nil,
		"OLD=NEW: the state that takes the place of an old one (repeatable)")
	return c
}

func sayChanges(p *printer, changes []string) {
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

// tasks are the tasks that are asked for: those of one text next to each other, and then by project and id.
func (m migration) tasks(ctx context.Context, h *Services) ([]task.Task, error) {
	if m.task != "" {
		id, err := m.find(ctx, h, []string{m.task})
		if err != nil {
			return nil, err
		}
		return h.Queries.Tasks(ctx, record.Filter{Prefix: id})
	}
	filter, err := m.filterOf(ctx, h, !m.allTasks)
	if err != nil {
		return nil, err
	}
	filter.Live = true
	live, err := h.Queries.Tasks(ctx, filter)
	live = slices.DeleteFunc(live, func(t task.Task) bool { return !m.allTasks && t.Workflow.Name != m.name })
	slices.SortFunc(live, func(a, b task.Task) int {
		v, w := a.Workflow, b.Workflow
		return cmp.Or(cmp.Compare(v.Name, w.Name), cmp.Compare(v.Version, w.Version), cmp.Compare(v.Digest, w.Digest),
			cmp.Compare(a.Project, b.Project), cmp.Compare(a.ID, b.ID))
	})
	return live, err
}

// textView is a text of a workflow as JSON has it.
type textView struct {
	Name    string `json:"workflow"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
}

// migrated is what became of one task, or would.
type migrated struct {
	Task    string             `json:"task"`
	Was     task.Status        `json:"was"` // its status before
	Status  task.Status        `json:"status"`
	From    textView           `json:"from"`
	To      textView           `json:"to"`
	Moved   bool               `json:"migrated"`
	Would   bool               `json:"would_migrate,omitempty"`
	Changes []string           `json:"changes,omitempty"` // what its new rules ask for and do
	Code    string             `json:"code,omitempty"`
	Error   string             `json:"error,omitempty"`
	Details []rejection.Detail `json:"details,omitempty"`

	err error
}

// migrate asks for one task. What goes wrong with it keeps no other one from being asked for.
func (m migration) migrate(ctx context.Context, h *Services, t task.Task, to task.WorkflowRef) migrated {
	one := migrated{Task: t.ID, Was: t.Status, Status: t.Status, From: textView(t.Workflow), To: textView(to)}
	ask := h.Commands.Migrate
	if m.dryRun {
		ask = h.Commands.WouldMigrate
	}
	var out record.Outcome
	actor, err := h.Identity.Actor(ctx, t.ID, "")
	if err == nil {
		out, err = ask(ctx, t.ID, m.name, m.statuses, actor)
	}
	if err != nil {
		_, one.Code = classify(err)
		one.Error, one.err = err.Error(), err
		if refused, is := errors.AsType[*rejection.Rejection](err); is {
			one.Error, one.Details = refused.Message, refused.Details
		}
		return one
	}
	one.Status, one.To = out.Task.Status, textView(out.Task.Workflow)
	one.Moved, one.Would, one.Changes = out.Moved && !m.dryRun, out.Moved && m.dryRun, out.Changes
	return one
}

// tell tells what became of all tasks, and then all that was refused.
func (m migration) tell(all []migrated) error {
	if m.json {
		if err := m.printJSON(map[string]any{"tasks": all, "dry_run": m.dryRun}); err != nil {
			return err
		}
	}
	var said textView // what leads from there to the present text
	var last error
	for _, one := range all {
		if one.err != nil {
			last = one.err
		}
		if m.json || one.err != nil {
			continue
		}
		if sayOneMigrated(&m.printer, one); (one.Moved || one.Would) && one.From != said {
			said = one.From
			sayChanges(&m.printer, one.Changes)
		}
	}
	for _, one := range all {
		if one.err != nil && !m.json {
			m.warn("%v", one.err)
		}
	}
	switch {
	case len(all) > 0 || m.json:
	case m.allTasks:
		m.say("there is no live task")
	default:
		m.say("no live task was created with the workflow %s", m.name)
	}
	if last != nil {
		status, _ := classify(last)
		return &ended{status}
	}
	return nil
}

func sayOneMigrated(p *printer, one migrated) {
	from, to := task.WorkflowRef(one.From), task.WorkflowRef(one.To)
	status := string(one.Status)
	if one.Was != one.Status {
		status = fmt.Sprintf("%s, for %s", one.Status, one.Was)
	}
	switch {
	case one.Moved:
		p.say("%s has the present rules of %s, and had those of %s (%s)", one.Task, to, from, status)
	case one.Would:
		p.say("%s would have the present rules of %s, and has those of %s (%s)", one.Task, to, from, status)
	default:
		p.say("%s has the rules of %s already", one.Task, to)
	}
}

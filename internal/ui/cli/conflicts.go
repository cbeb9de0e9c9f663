package cli

import (
	"context"
	"time"

	"orange/internal/rules/conflict"
	"orange/internal/rules/task"
)

// lastConflicts is what was found last of the conflicts of tasks, by project. It says where that is not known.
func lastConflicts(ctx context.Context, p *printer, h *Services, tasks []task.Task) map[string]conflict.Overview {
	all := map[string]conflict.Overview{}
	for i := range tasks {
		project := tasks[i].Project
		if _, read := all[project]; read {
			continue
		}
		known, err := h.Queries.Conflicts(ctx, project)
		if err != nil {
			p.warn("which branches of project %q conflict cannot be read: %v", project, err)
		} else if why := known.Unknown[""]; why != "" {
			p.warn("which branches of project %q conflict is not known, or not up to date: %s", project, why)
		}
		all[project] = known
	}
	return all
}

// conflictMark is what a list says of the conflicts of a task.
func conflictMark(all conflict.Overview, id string) string {
	mark := conflict.Mark(all.Of[id], time.Now())
	if mark == "" && all.Unknown[id] != "" {
		return "not compared"
	}
	return mark
}

// conflictLines tell of the conflicts of a task, each with its files.
func conflictLines(all conflict.Overview, id string) (lines []string) {
	for _, c := range all.Of[id] {
		lines = append(lines, c.With()+": "+c.In()+", "+conflict.Ago(time.Since(c.At)))
	}
	for _, why := range []string{all.Unknown[id], all.Unknown[""]} {
		if why != "" {
			lines = append(lines, "not all is known: "+oneLine(why, 300))
		}
	}
	return lines
}

// conflictsNow finds out what a task conflicts with. Where that cannot be done, the answer says why: what the task may
// do does not depend on it.
func conflictsNow(ctx context.Context, h *Services, t task.Task) conflict.Overview {
	all, err := h.Queries.ConflictsOf(ctx, t)
	if err != nil {
		return conflict.Overview{Of: all.Of, Unknown: map[string]string{"": err.Error()}}
	}
	return all
}

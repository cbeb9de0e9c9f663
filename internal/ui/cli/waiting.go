package cli

import (
	"context"
	"fmt"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// beforeOf is how the tasks are that some tasks wait for, as far as the record says, by the one that waits.
func beforeOf(ctx context.Context, p *printer, h *Services, tasks []task.Task) map[string][]record.Before {
	all := map[string][]record.Before{}
	for i := range tasks {
		if !tasks[i].WaitsForTasks() {
			continue
		}
		before, err := h.Queries.Before(ctx, tasks[i], false)
		if err != nil {
			p.warn("what task %s waits for cannot be read: %v", tasks[i].ID, err)
			continue
		}
		all[tasks[i].ID] = before
	}
	return all
}

// waitLines says of each task that another one waits for what is missing of it.
func waitLines(before []record.Before) []string {
	var lines []string
	for _, b := range before {
		if b.Found != "" {
			lines = append(lines, fmt.Sprintf("task %s: %s", b.ID, b.Found))
		}
	}
	return lines
}

// waitMark says in a few words which task a task waits for that is not over, or else the first one.
func waitMark(t task.Task, before []record.Before) string {
	first, more := t.After[0], -1
	for _, b := range before {
		if b.State == record.BeforeOver {
			continue
		}
		if more++; more == 0 {
			first = b.ID
		}
	}
	text := "waits for " + first[:min(len(first), 8)]
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

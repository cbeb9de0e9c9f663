package monitor

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// conflictsEvery is how often the branches of live tasks are looked at. Where none has moved, that reads a few files.
const conflictsEvery = 30 * time.Second

// watchConflicts finds out again and again which live tasks conflict. git may take its time: nothing else waits for it.
func (m *Monitor) watchConflicts(ctx context.Context) {
	if m.Conflicts != nil {
		m.again(ctx, "conflicts", conflictsEvery, m.conflicts)
	}
}

// conflicts looks at the branches of every project that has live tasks. It answers what went wrong, by project: nothing
// is missing but the warning of a conflict, and anyone who asks for that hears why.
func (m *Monitor) conflicts(ctx context.Context) map[string]error {
	tasks, err := m.taskLists(ctx)
	if err != nil {
		return map[string]error{"": err}
	}
	var projects []string
	for i := range tasks.live {
		if project := tasks.live[i].Project; !slices.Contains(projects, project) {
			projects = append(projects, project)
		}
	}
	met := map[string]error{}
	for _, project := range projects {
		if err := m.Conflicts(ctx, project, tasks.live); err != nil {
			met[project] = fmt.Errorf("conflicts of %q: %w", project, err)
		}
	}
	return met
}

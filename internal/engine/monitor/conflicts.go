package monitor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/task"
)

// conflictsEvery is how often the branches of live tasks are looked at. Where none has moved, that reads a few files.
const conflictsEvery = 30 * time.Second

// conflicts looks at the branches of every project that has live tasks. It answers what went wrong, by project: nothing
// is missing but the warning of a conflict, and anyone who asks for that hears why.
func (m *Monitor) conflicts(ctx context.Context, live []task.Task) map[string]error {
	var projects []string
	for i := range live {
		if project := live[i].Project; !slices.Contains(projects, project) {
			projects = append(projects, project)
		}
	}
	met := map[string]error{}
	for _, project := range projects {
		if err := m.Conflicts(ctx, project, live); err != nil {
			met[project] = fmt.Errorf("conflicts of %q: %w", project, err)
		}
	}
	return met
}

package cli

import (
	"context"
	"fmt"

	"orange/internal/rules/task"
)

// fromIssue fills a new task from an issue.
func fromIssue(ctx context.Context, p *finder, h *Services, n task.New, number int) (task.New, error) {
	switch {
	case number == 0:
		return n, nil
	case number < 0:
		return n, usage("found %d as --issue, expected the number of an issue", number)
	}
	project, err := p.projectOf(ctx, h)
	if err != nil {
		return n, err
	}
	issue, err := h.Pool.Issue(ctx, project.Name, number)
	if err != nil {
		return n, err
	}
	return withOutside(&p.printer, n, issue, fmt.Sprintf("issue %d", number), false), nil
}

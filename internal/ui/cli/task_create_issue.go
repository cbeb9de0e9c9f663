package cli

import (
	"context"
	"fmt"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Issues are the issues of a project's repository, and its pull requests.
type Issues interface {
	// Where is the kind of place that a project's pull requests are at.
	Where(ctx context.Context, project string) (string, error)
	// Request is a pull request, by its number.
	Request(ctx context.Context, project string, number int) (record.Adoptee, error)
	// Bring makes a branch here of the head of a pull request.
	Bring(ctx context.Context, project string, a record.Adoptee) error
	Issue(ctx context.Context, project string, number int) (record.Issue, error)
}

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
	issue, err := h.Issues.Issue(ctx, project.Name, number)
	if err != nil {
		return n, err
	}
	return withOutside(&p.printer, n, issue, fmt.Sprintf("issue %d", number), false), nil
}

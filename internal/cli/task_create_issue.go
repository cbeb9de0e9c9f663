package cli

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/document"
	"orange/internal/printable"
	"orange/internal/record"
	"orange/internal/task"
)

// Issues are the issues of a project's repository.
type Issues interface {
	Issue(ctx context.Context, project string, number int) (record.Issue, error)
}

// fromIssue fills a new task from an issue: its title is the summary, and its text, quoted, comes before the context.
// The text of someone who may not write to the repository stays out, because an agent would read it.
func (p *Program) fromIssue(ctx context.Context, h *Services, n task.New, number int) (task.New, error) {
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
	if n.Summary == "" {
		n.Summary = printable.Line(strings.TrimSpace(issue.Title))
	}
	author, address := printable.Line(issue.Author.Name), printable.Line(issue.Address)
	switch {
	case !issue.Author.Writes && strings.TrimSpace(issue.Text) != "":
		p.warn("the text of issue %d is left out: %s may not write to the repository; read it (%s), and hand over "+
			"with --context what an agent should read", number, author, address)
	case strings.TrimSpace(issue.Text) != "":
		p.warn("the text of issue %d is by %s, who may write to the repository: an agent will read it", number, author)
		quote := document.Quote(document.Outside{From: author + ", in " + address, Text: issue.Text})
		n.Context = strings.TrimSpace(quote + "\n" + n.Context)
	}
	if !strings.Contains(n.Context, address) {
		n.Context = strings.TrimSpace(fmt.Sprintf("It is about %s.\n\n%s", address, n.Context))
	}
	return n, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/rejection"
	"orange/internal/task"
	"orange/internal/yaml"
)

// ended carries an agent's exit status to the caller of the program.
type ended struct{ status int }

func (e *ended) Error() string { return fmt.Sprintf("the agent ended with status %d", e.status) }

// Exit statuses.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitRefused  = 3
	exitNotFound = 4
	exitStopped  = 130
)

func usage(format string, args ...any) error { return task.Notef(task.ErrUsage, format, args...) }

// classify is the one place that turns an error into an exit status and a code.
func classify(err error) (status int, code string) {
	var rejection *rejection.Rejection
	var problems yaml.Problems
	switch {
	case errors.As(err, &rejection):
		return exitRefused, rejection.Code
	case errors.As(err, &problems):
		return exitUsage, "invalid_file"
	case errors.Is(err, task.ErrUsage):
		return exitUsage, "usage"
	case errors.Is(err, task.ErrNotFound):
		return exitNotFound, "not_found"
	case errors.Is(err, task.ErrBranchTaken):
		return exitFailed, "branch_taken"
	case errors.Is(err, task.ErrPoolFull):
		return exitFailed, "pool_full"
	case errors.Is(err, task.ErrConflict):
		return exitFailed, "conflict"
	case errors.Is(err, context.Canceled):
		return exitStopped, "stopped"
	case strings.HasPrefix(err.Error(), "unknown command"):
		return exitUsage, "usage"
	}
	return exitFailed, "failed"
}

// report tells a command's end and answers the exit status.
func (p *Program) report(err error) int {
	if err == nil {
		return 0
	}
	var agent *ended
	if errors.As(err, &agent) {
		return agent.status
	}
	status, code := classify(err)
	var rejection *rejection.Rejection
	var problems yaml.Problems
	if !p.json {
		text := err.Error()
		if errors.As(err, &problems) {
			text = strings.Replace(text, problems.Error(), problems.Marked(), 1)
		}
		fmt.Fprintf(p.Err, "orange: %s\n", text)
		return status
	}
	answer := map[string]any{"error": err.Error(), "code": code, "details": []string{}}
	switch {
	case errors.As(err, &rejection):
		answer["error"], answer["open"] = rejection.Message, orEmpty(rejection.Open)
		answer["details"] = orEmpty(rejection.Details)
	case errors.As(err, &problems):
		answer["details"] = problems
	}
	if err := p.printJSON(answer); err != nil {
		fmt.Fprintf(p.Err, "orange: %v\n", err)
	}
	return status
}

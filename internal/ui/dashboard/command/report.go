package command

import (
	"fmt"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/ui/dashboard/tasks"
)

// Incomplete is an error of a command that succeeded, but not in all of its consequences: it must not be repeated.
type Incomplete struct{ text string }

func (i *Incomplete) Error() string { return i.text }

// Report is the outcome of a command in words. Hooks that failed are an *Incomplete that says how to go on.
func (c Commands) Report(out record.Outcome, err error) (string, error) {
	if err != nil {
		return "", err
	}
	failures, _ := out.HookFailures()
	if out.Warning != "" {
		failures = append(failures, out.Warning)
	}
	if len(failures) > 0 {
		return "", &Incomplete{tasks.Name(out.Task) + " is " + string(out.Task.Status) + ", but " +
			strings.Join(failures, "; ") + "; " + c.Style.Keys.Of("retry") + " tries again" + rescueWords(out.Stayed)}
	}
	return outcomeWords(out) + rescueWords(out.Stayed), nil
}

// rescueWords says what stayed behind of a task's work and is kept; empty where nothing did.
func rescueWords(stayed []string) string {
	if len(stayed) == 0 {
		return ""
	}
	return "; rescued: " + strings.Join(stayed, "; ")
}

// outcomeWords is what became of a task.
func outcomeWords(out record.Outcome) string {
	name := tasks.Name(out.Task)
	switch {
	case out.Queued:
		return name + " waits for a workspace and starts when one is free"
	case out.Event.IsMove():
		return name + ": " + string(out.Event.From) + " → " + string(out.Event.To)
	case out.Moved || len(out.Hooks) > 0:
		return name + " stays " + string(out.Task.Status)
	}
	return name + " is " + string(out.Task.Status) + " already"
}

// ReportCreated is the outcome of creating a task in words.
func (c Commands) ReportCreated(out record.Outcome) (string, error) {
	message, err := c.Report(out, nil)
	if err == nil && !out.Queued && !out.Event.IsMove() {
		message = fmt.Sprintf("created %s (%s)", tasks.Name(out.Task), out.Task.Status)
	}
	return message, err
}

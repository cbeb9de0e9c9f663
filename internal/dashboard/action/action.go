// Package action has what a person can do with a task: why that is not possible now, what it asks first, and what it
// does.
package action

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/form"
	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Commands change tasks on behalf of the person at the terminal.
type Commands interface {
	Create(ctx context.Context, n task.New) (record.Outcome, error)
	Command(ctx context.Context, id, command, reason string) (record.Outcome, error)
	RequestChanges(ctx context.Context, id, text string) (record.Outcome, error)
	Merge(ctx context.Context, id string, m task.Merge) (out record.Outcome, how string, err error)
	RequestPR(ctx context.Context, id string) (record.Outcome, error)
	// Next makes the one move that the evidence supports; with a reason to override, the one to a status that the
	// workflow lets a person make although its conditions are unmet.
	Next(ctx context.Context, id string, to task.Status, override string) (record.Outcome, error)
	Respawn(ctx context.Context, id string) (record.Outcome, error)
	Retry(ctx context.Context, id string) (record.Outcome, error)
	Delete(ctx context.Context, id string) (string, error)
}

// FirstStep is what an action begins with. At most one of its fields is set.
type FirstStep struct {
	Start   *form.Operation
	Ask     *form.Question
	Prompt  *form.TextPrompt
	Attach  bool   // give the terminal to the task's agent
	Message string // the action is impossible, and why
}

// Actions are what a person can do with a task.
type Actions struct {
	Commands Commands
	Style    *screen.Style
	Edit     func(text string) tea.Cmd // opens the person's editor, and answers form.Edited
}

func start(what string, work func(ctx context.Context) (string, error)) FirstStep {
	return FirstStep{Start: &form.Operation{What: what, Work: work}}
}

// Enter starts the task's agent, attaches to it, or starts it again.
func (a Actions) Enter(on Target) FirstStep {
	t := on.Task
	means, _ := on.enter()
	switch means {
	case EnterAttach:
		return FirstStep{Attach: true}
	case EnterStart:
		return start("start "+tasks.Name(t), func(ctx context.Context) (string, error) {
			return Report(a.Commands.Command(ctx, t.ID, workflow.MoveSpawn, ""))
		})
	case EnterRestart:
		return start("start the agent of "+tasks.Name(t)+" again", func(ctx context.Context) (string, error) {
			return Report(a.Commands.Respawn(ctx, t.ID))
		})
	}
	return FirstStep{}
}

// OpenPR pushes the task's branch and opens a pull request.
func (a Actions) OpenPR(on Target) FirstStep {
	t := on.Task
	return start("open a pull request for "+tasks.Name(t), func(ctx context.Context) (string, error) {
		message, err := Report(a.Commands.RequestPR(ctx, t.ID))
		if err == nil {
			message = "the pull request of " + tasks.Name(t) + " is under way"
		}
		return message, err
	})
}

// Next makes the one move that the evidence supports.
func (a Actions) Next(on Target) FirstStep {
	t := on.Task
	return start("move "+tasks.Name(t)+" on", func(ctx context.Context) (string, error) {
		return Report(a.Commands.Next(ctx, t.ID, "", ""))
	})
}

// Retry runs the hooks that failed again.
func (a Actions) Retry(on Target) FirstStep {
	t := on.Task
	return start("try again what "+tasks.Name(t)+" owes", func(ctx context.Context) (string, error) {
		out, err := a.Commands.Retry(ctx, t.ID)
		if err == nil && len(out.Hooks) == 0 && out.Warning == "" {
			return tasks.Name(t) + " owes nothing", nil
		}
		return Report(out, err)
	})
}

// Merge asks how to merge the task's branch.
func (a Actions) Merge(on Target) FirstStep {
	t := on.Task
	merge := func(strategy string) func(ctx context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			out, how, err := a.Commands.Merge(ctx, t.ID, task.Merge{Strategy: strategy})
			message, err := Report(out, err)
			return strings.TrimSuffix(message+"; "+how, "; "), err
		}
	}
	text := "Its branch goes into the default branch, and the task is finished."
	if judged := cmp.Or(on.Judged, t.Subject.Words()); judged != "" {
		text += " Its work: " + judged + "."
	}
	what := "merge " + tasks.Name(t)
	return FirstStep{Ask: &form.Question{
		Style: a.Style, Title: "Merge " + tasks.Name(t) + "?", Text: text,
		Answers: []form.Answer{
			{Key: "y", Label: "merge, forward only where that is possible", What: what, Work: merge("")},
			{Key: "f", Label: "only if it can be a fast-forward", What: what, Work: merge("ff")},
			{Key: "c", Label: "with a merge commit", What: what, Work: merge("merge")},
		},
	}}
}

// Cancel asks whether the task is to be cancelled.
func (a Actions) Cancel(on Target) FirstStep {
	t := on.Task
	return FirstStep{Ask: &form.Question{
		Style: a.Style, Title: "Cancel " + tasks.Name(t) + "?",
		Text: "Its agents are ended; its branch and all work on it stay.",
		Answers: []form.Answer{
			{Key: "y", Label: "cancel it", What: "cancel " + tasks.Name(t),
				Work: func(ctx context.Context) (string, error) {
					return Report(a.Commands.Command(ctx, t.ID, workflow.MoveCancel, ""))
				}}},
	}}
}

// Delete asks whether the task is to be deleted.
func (a Actions) Delete(on Target) FirstStep {
	t := on.Task
	text := "Its folder goes to the trash; its branch and rescued work stay."
	if t.Live {
		text = "It is live and is cancelled first. " + text
	}
	return FirstStep{Ask: &form.Question{
		Style: a.Style, Title: "Delete " + tasks.Name(t) + "?", Text: text,
		Answers: []form.Answer{
			{Key: "y", Label: "delete it", What: "delete " + tasks.Name(t),
				Work: func(ctx context.Context) (string, error) {
					where, err := a.Commands.Delete(ctx, t.ID)
					if err != nil {
						return "", err
					}
					return strings.TrimSuffix(tasks.Name(t)+" is deleted; its folder is "+where,
						"; its folder is "), nil
				}}},
	}}
}

// Override asks for the reason of a move whose conditions are unmet.
func (a Actions) Override(on Target) FirstStep {
	t := on.Task
	to, err := decide.Overridable(on.Workflow, t, person())
	if err != nil {
		return FirstStep{Message: "o: " + firstLine(err)}
	}
	return FirstStep{Prompt: &form.TextPrompt{
		Style: a.Style, Edit: a.Edit, Title: "Override: why?", Needed: true,
		Text: fmt.Sprintf("%s is moved from %s to %s in spite of what is unmet. The reason goes into the history.",
			tasks.Name(t), t.Status, to),
		What: "override a move of " + tasks.Name(t), Work: func(ctx context.Context, reason string) (string, error) {
			return Report(a.Commands.Next(ctx, t.ID, to, reason))
		},
	}}
}

// RequestChanges asks what to change.
func (a Actions) RequestChanges(on Target) FirstStep {
	t := on.Task
	return FirstStep{Prompt: &form.TextPrompt{
		Style: a.Style, Edit: a.Edit, Title: "Request changes: what?", Long: true,
		Text: "It goes into TASK.md of " + tasks.Name(t) +
			", and Orange tells the worker. Without a text, what is there counts.",
		What: "send " + tasks.Name(t) + " back", Work: func(ctx context.Context, text string) (string, error) {
			return Report(a.Commands.RequestChanges(ctx, t.ID, text))
		},
	}}
}

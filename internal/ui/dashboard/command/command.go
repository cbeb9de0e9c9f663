// Package command has what a person can do with a task: why that is not possible now, what it asks first, and what it
// does.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/decide"
	"orange/internal/rules/diff"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/review"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Runner changes tasks on behalf of the person at the terminal.
type Runner interface {
	Create(ctx context.Context, n task.New) (record.Outcome, error)
	Command(ctx context.Context, id, command, reason string) (record.Outcome, error)
	RequestChanges(ctx context.Context, id, text string) (record.Outcome, error)
	Merge(ctx context.Context, id string, m task.Merge) (out record.Outcome, how string, err error)
	// MergeMany merges several tasks of a project, one on top of the other. It calls told for each of them, up to an
	// error, which is of what concerns all that are left.
	MergeMany(ctx context.Context, in record.MergeMany, told func(record.MergedOne)) error
	RequestPR(ctx context.Context, id string) (record.Outcome, error)
	// Next makes the one move that the evidence supports; with a reason to override, the one to a status that the
	// workflow lets a person make although its conditions are unmet.
	Next(ctx context.Context, id string, to task.Status, override string) (record.Outcome, error)
	// Move asks for a status, Redo lets an earlier one begin again.
	Move(ctx context.Context, id string, to task.Status, reason string) (record.Outcome, error)
	Redo(ctx context.Context, id string, to task.Status, reason string) (record.Outcome, error)
	// Say says something to the agent of the present status, and answers its role.
	Say(ctx context.Context, id, text string) (role string, err error)
	Retry(ctx context.Context, id string) (record.Outcome, error)
	Delete(ctx context.Context, id string) (record.DeletedTask, error)
}

// FirstStep is what a command begins with. At most one of its fields is set.
type FirstStep struct {
	Ask     *form.Question
	Prompt  *form.TextPrompt
	Menu    *form.Menu
	Then    tea.Cmd // what is looked up for the prompt while it is open
	Attach  bool    // give the terminal to the task's agent
	Message string  // the command is impossible, and why
}

// Commands are what a person can do with a task.
type Commands struct {
	Runner   Runner
	Comments review.Comments
	Style    *screen.Style
	Edit     func(text string) tea.Cmd // opens the person's editor, and answers form.Edited
	// Why has the moves out of a task's status.
	Why func(ctx context.Context, id string) (decide.Explanation, error)
}

// ask asks once whether something is to be done, and says what happens then.
func (c Commands) ask(title, text, label, what string, work func(ctx context.Context) (string, error)) FirstStep {
	return FirstStep{Ask: &form.Question{Style: c.Style, Title: title, Text: text,
		Answers: []form.Answer{{Key: "y", Label: label, What: what, Work: work}}}}
}

// Enter starts the task's agent, attaches to it, or starts it again.
func (c Commands) Enter(on Target) FirstStep {
	t := on.Task
	means, _ := on.enter()
	switch means {
	case EnterAttach:
		return FirstStep{Attach: true}
	case EnterStart:
		to, _ := decide.SpawnTarget(on.Workflow, t)
		return c.ask("Start "+tasks.Name(t)+"?",
			fmt.Sprintf("It moves from %s to %s%s", t.Status, to, then(hooksTo(on.Workflow, t.Status, to))),
			"start it", "start "+tasks.Name(t), func(ctx context.Context) (string, error) {
				return c.Report(c.Runner.Command(ctx, t.ID, workflow.MoveSpawn, ""))
			})
	case EnterRestart:
		state, _ := on.Workflow.State(t.Status)
		return c.ask("Start the agent of "+tasks.Name(t)+" again?",
			fmt.Sprintf("A new %s starts in its workspace and goes on in %s.", state.Role, t.Status),
			"start it again", "start the agent of "+tasks.Name(t)+" again", func(ctx context.Context) (string, error) {
				return c.Report(c.Runner.Command(ctx, t.ID, workflow.MoveSpawn, ""))
			})
	}
	return FirstStep{}
}

// OpenPR asks whether the task's branch is to be pushed and a pull request opened.
func (c Commands) OpenPR(on Target) FirstStep {
	t := on.Task
	if t.PRState == record.PROpen && t.PRURL != "" {
		return c.ask("Push "+tasks.Name(t)+" to its pull request "+prNumber(t)+"?",
			fmt.Sprintf("Orange pushes the branch %q to origin. %s stays open.", t.Branch, prNumber(t)),
			"push it", "push "+tasks.Name(t), func(ctx context.Context) (string, error) {
				return c.Report(c.Runner.RequestPR(ctx, t.ID))
			})
	}
	return c.ask("Open a pull request for "+tasks.Name(t)+"?",
		fmt.Sprintf("Orange pushes the branch %q to origin and opens a pull request there.", t.Branch),
		"push it and open one", "open a pull request for "+tasks.Name(t), func(ctx context.Context) (string, error) {
			message, err := c.Report(c.Runner.RequestPR(ctx, t.ID))
			if err == nil {
				message = PRUnderWay(t)
			}
			return message, err
		})
}

// PRUnderWay says that a pull request was asked for, until the task has one.
func PRUnderWay(t task.Task) string {
	return "the pull request of " + tasks.Name(t) + " is being opened"
}

// PRThere says that it is there.
func PRThere(t task.Task) string {
	return "the pull request of " + tasks.Name(t) + " is open: " + prNumber(t)
}

// Retry asks whether the hooks that failed are to run again.
func (c Commands) Retry(on Target) FirstStep {
	t := on.Task
	text := "What failed runs again: that may start agents, tell them something, or push."
	if t.Attention != "" {
		text = tasks.InKeys(on.Keys, t.ID, t.Attention) + ". " + text
	}
	return c.ask("Try again what failed of "+tasks.Name(t)+"?", text, "try it again",
		"try again what failed of "+tasks.Name(t), func(ctx context.Context) (string, error) {
			out, err := c.Runner.Retry(ctx, t.ID)
			if err == nil && len(out.Hooks) == 0 && out.Warning == "" {
				return "nothing of " + tasks.Name(t) + " has failed", nil
			}
			return c.Report(out, err)
		})
}

// Merge asks how to merge the task's branch.
func (c Commands) Merge(on Target) FirstStep {
	t := on.Task
	merge := func(m task.Merge) func(ctx context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			out, how, err := c.Runner.Merge(ctx, t.ID, m)
			message, err := c.Report(out, err)
			return strings.TrimSuffix(message+"; "+how, "; "), err
		}
	}
	open := t.PRState == record.PROpen && t.PRURL != ""
	text := capital(on.lands()) + ". The task is finished then." + on.meets()
	if open {
		text = fmt.Sprintf("%s. Merge it there (%s opens it): the task is finished then.%s", capital(on.lands()),
			c.Style.Keys.Of("open-pull-request"), on.meets())
	}
	if judged := cmp.Or(on.Judged, t.Subject.Words()); judged != "" {
		text += " Its work: " + judged + "."
	}
	what := "merge " + tasks.Name(t)
	if open {
		return FirstStep{Ask: &form.Question{
			Style: c.Style, Title: "Merge " + tasks.Name(t) + "?", Text: text,
			Answers: []form.Answer{
				{Key: "y", Label: prNumber(t) + " is merged there: finish the task", What: what,
					Work: merge(task.Merge{})},
				{Key: "l", Label: "merge here all the same, and leave " + prNumber(t) + " as it is", What: what,
					Work: merge(task.Merge{Local: true})},
			},
		}}
	}
	return FirstStep{Ask: &form.Question{
		Style: c.Style, Title: "Merge " + tasks.Name(t) + "?", Text: text,
		Answers: []form.Answer{
			{Key: "y", Label: "merge as the project says", What: what, Work: merge(task.Merge{})},
			{Key: "f", Label: "only if it can be a fast-forward", What: what, Work: merge(task.Merge{Strategy: "ff"})},
			{Key: "c", Label: "with a merge commit", What: what, Work: merge(task.Merge{Strategy: "merge"})},
			{Key: "s", Label: "as one commit", What: what, Work: merge(task.Merge{Strategy: "squash"})},
		},
	}}
}

// Cancel asks whether the task is to be cancelled.
func (c Commands) Cancel(on Target) FirstStep {
	t := on.Task
	return FirstStep{Ask: &form.Question{
		Style: c.Style, Title: "Cancel " + tasks.Name(t) + "?",
		Text: "Its agents are ended; its branch and all work on it stay.",
		Answers: []form.Answer{
			{Key: "y", Label: "cancel it", What: "cancel " + tasks.Name(t),
				Work: func(ctx context.Context) (string, error) {
					return c.Report(c.Runner.Command(ctx, t.ID, workflow.MoveCancel, ""))
				}}},
	}}
}

// Delete asks whether the task is to be deleted.
func (c Commands) Delete(on Target) FirstStep {
	t := on.Task
	text := "Its folder goes to the trash; its branch and rescued work stay."
	if t.Live {
		text = "It is live and is cancelled first. " + text
	}
	return FirstStep{Ask: &form.Question{
		Style: c.Style, Title: "Delete " + tasks.Name(t) + "?", Text: text,
		Answers: []form.Answer{
			{Key: "y", Label: "delete it", What: "delete " + tasks.Name(t),
				Work: func(ctx context.Context) (string, error) {
					gone, err := c.Runner.Delete(ctx, t.ID)
					if err != nil {
						return "", err
					}
					return strings.TrimSuffix(tasks.Name(t)+" is deleted; its folder is "+gone.Folder,
						"; its folder is ") + rescueWords(gone.Stayed), nil
				}}},
	}}
}

// Override asks for the reason of a move whose conditions are unmet.
func (c Commands) Override(on Target) FirstStep {
	t := on.Task
	to, err := decide.Overridable(on.Workflow, t, person())
	if err != nil {
		return FirstStep{Message: c.Style.Keys.Of("override") + ": " + firstLine(err)}
	}
	return FirstStep{Prompt: &form.TextPrompt{
		Style: c.Style, Edit: c.Edit, Title: "Override: why?", Needed: true,
		Text: fmt.Sprintf("%s is moved from %s to %s in spite of what is unmet. The reason goes into the history.%s",
			tasks.Name(t), t.Status, to, on.mergesToo(to)),
		What: "override a move of " + tasks.Name(t), Work: func(ctx context.Context, reason string) (string, error) {
			return c.Report(c.overriding(on)(ctx, t.ID, to, reason))
		},
	}}
}

// RequestChanges asks what to change. The comments that the person wrote on lines are in the text already: they see
// what they send.
func (c Commands) RequestChanges(on Target) FirstStep {
	t := on.Task
	what := "send " + tasks.Name(t) + " back"
	prompt := &form.TextPrompt{
		Style: c.Style, Edit: c.Edit, Title: "Request changes: what?", Long: true, Awaits: true,
		Text: "It goes into TASK.md of " + tasks.Name(t) +
			", and Orange tells the worker, or starts one where none is running. " +
			"Leave it empty where the review says it all.",
		What: what, Work: func(ctx context.Context, text string) (string, error) {
			message, err := c.Report(c.Runner.RequestChanges(ctx, t.ID, text))
			return message, c.sent(ctx, t, text, err)
		},
	}
	return FirstStep{Prompt: prompt, Then: func() tea.Msg {
		comments, err := c.Comments.Comments(t.Project, t.ID)
		return form.Drafted{What: what, Text: diff.Instructions(comments), Err: err}
	}}
}

// sent takes away the comments that were sent with a request for changes, where it was made.
func (c Commands) sent(ctx context.Context, t task.Task, text string, err error) error {
	if incomplete := (*Incomplete)(nil); err != nil && !errors.As(err, &incomplete) {
		return err
	}
	_, failed := c.Comments.ChangeComments(ctx, t.Project, t.ID, func(all []diff.Comment) []diff.Comment {
		return diff.Unsent(all, text)
	})
	if err == nil && failed != nil {
		return &Incomplete{tasks.Name(t) + " was sent back, but the comments are kept: " + failed.Error()}
	}
	return err
}

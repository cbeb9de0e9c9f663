// Package client asks a home for the operations of the table: each is a command line, and its answer in JSON.
//
// It owns how an operation is put into words and how its answer is read. It does not own how the words get there: in
// this process, at another host, or over a server of a fleet, by the function that a Client has for that.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/api/remote"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Client asks one home in the name of the one for whom its Run asks.
type Client struct {
	// Run does a command line. An error says that it is not known whether it was done; what the command itself says
	// is in the reply.
	Run func(ctx context.Context, c remote.Call) (remote.Reply, error)
}

// answer is what commands that change a task print.
type answer struct {
	Error    string             `json:"error"`
	Code     string             `json:"code"`
	Details  []rejection.Detail `json:"details"`
	MayAsk   []task.Status      `json:"may_ask"`
	Repeated string             `json:"repeated"`
	Override string             `json:"override"`

	Task    *changed    `json:"task"`
	From    task.Status `json:"from"`
	To      task.Status `json:"to"`
	Moved   bool        `json:"moved"`
	Queued  bool        `json:"queued"`
	Stayed  []string    `json:"stayed_behind"`
	Warning string      `json:"warning"`
	How     string      `json:"how"` // of a merge, and of what was said
	Role    string      `json:"role"`
	Folder  string      `json:"folder"`
	Hooks   hooks       `json:"hooks"`

	Merged, Left []oneOfMany
}

// changed is what of a task an answer is read for.
type changed struct {
	ID        string      `json:"id"`
	Project   string      `json:"project"`
	Branch    string      `json:"branch"`
	Summary   string      `json:"summary"`
	Status    task.Status `json:"status"`
	Workspace string      `json:"workspace"`
	Attention string      `json:"attention"`
	PRURL     string      `json:"pr_url"`
	PRState   string      `json:"pr_state"`
	Live      bool        `json:"live"`
}

func (c changed) task() task.Task {
	return task.Task{ID: c.ID, Project: c.Project, Branch: c.Branch, Summary: c.Summary, Status: c.Status,
		Workspace: c.Workspace, Attention: c.Attention, PRURL: c.PRURL, PRState: c.PRState, Live: c.Live}
}

func (a answer) outcome() record.Outcome {
	out := record.Outcome{Moved: a.Moved, Queued: a.Queued, Stayed: a.Stayed, Warning: a.Warning,
		Event: history.Event{From: a.From, To: a.To}}
	if a.Task != nil {
		out.Task = a.Task.task()
	}
	if a.Error == "" && (a.From != a.To || a.Moved) {
		out.Event.Type = history.StatusChanged
	}
	out.Hooks = a.Hooks.owed()
	return out
}

// hooks are those of a move, as they are when the asker is answered.
type hooks []struct {
	Action string         `json:"action"`
	State  task.HookState `json:"state"`
	Error  string         `json:"error"`
}

func (all hooks) owed() (out []task.OwedHook) {
	for _, h := range all {
		out = append(out, task.OwedHook{Hook: task.Hook{Action: h.Action}, State: h.State, Error: h.Error})
	}
	return out
}

// ask has the home do a command line and reads its answer. A task that moved and has a hook that failed is no error.
func (c Client) ask(ctx context.Context, call remote.Call) (answer, error) {
	call.V = remote.Version
	reply, err := c.Run(ctx, call)
	if err != nil {
		return answer{}, err
	}
	return read(reply)
}

func read(reply remote.Reply) (a answer, err error) {
	unread := json.Unmarshal([]byte(reply.Stdout), &a)
	const refused = 3
	switch {
	case reply.Refused != "":
		return answer{}, errors.New(reply.Failure())
	case reply.Exit == refused && unread == nil && a.Error != "":
		return a, &rejection.Rejection{Code: a.Code, Message: a.Error, Details: a.Details, MayAsk: a.MayAsk,
			Repeated: a.Repeated, Override: a.Override, From: a.From, To: a.To}
	case reply.Exit != 0 && (unread != nil || a.Error != "" || a.Task == nil && len(a.Left) == 0):
		return a, errors.New(reply.Failure())
	case unread != nil:
		return answer{}, fmt.Errorf("it was done, and what was said of it cannot be read: %w", unread)
	}
	return a, nil
}

// Outcome is what became of a task by the command of a reply.
func Outcome(reply remote.Reply) (record.Outcome, error) {
	a, err := read(reply)
	return a.outcome(), err
}

// ofTask is the command line of an operation on a task. Flags are words as --name=value.
func ofTask(operation, id string, flags []string, args ...string) []string {
	words := append([]string{"task", operation, "--json"}, flags...)
	return append(append(words, "--", id), args...)
}

func (c Client) task(ctx context.Context, operation, id string, flags []string, args ...string) (record.Outcome,
	error) {
	a, err := c.ask(ctx, remote.Call{Argv: ofTask(operation, id, flags, args...)})
	return a.outcome(), err
}

// flag is one word for a flag, none where its value is empty.
func flag(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + name + "=" + value}
}

// Command asks for the move that a word stands for.
func (c Client) Command(ctx context.Context, id, word, reason string) (record.Outcome, error) {
	flags := flag("reason", reason)
	if word == workflow.MoveCancel {
		flags = append(flags, "--yes")
	}
	return c.task(ctx, word, id, flags)
}

// Move asks for a status.
func (c Client) Move(ctx context.Context, id string, to task.Status, reason string) (record.Outcome, error) {
	return c.task(ctx, "move", id, flag("reason", reason), string(to))
}

// Redo lets an earlier status begin again.
func (c Client) Redo(ctx context.Context, id string, to task.Status, reason string) (record.Outcome, error) {
	return c.task(ctx, "redo", id, flag("reason", reason), string(to))
}

// RequestChanges sends a task back with a text.
func (c Client) RequestChanges(ctx context.Context, id, text string) (record.Outcome, error) {
	a, err := c.ask(ctx, withText(ofTask("request-changes", id, nil, text), text))
	return a.outcome(), err
}

// withText is a call with a text as its last word: one that is a dash alone would mean the standard input.
func withText(words []string, text string) remote.Call {
	call := remote.Call{Argv: words}
	if text == "-" {
		call.Stdin = text
	}
	return call
}

// RequestPR opens a pull request, or pushes to the one that is open.
func (c Client) RequestPR(ctx context.Context, id string) (record.Outcome, error) {
	return c.task(ctx, "create-pr", id, nil)
}

// Next makes the one move that the evidence supports; with a reason to override, the one to a status that the workflow
// lets a person make although its conditions are unmet.
func (c Client) Next(ctx context.Context, id string, to task.Status, override string) (record.Outcome, error) {
	flags := flag("override", override)
	if override != "" {
		flags = append(flags, flag("to", string(to))...)
	}
	return c.task(ctx, "next", id, flags)
}

// Retry tries again what failed.
func (c Client) Retry(ctx context.Context, id string) (record.Outcome, error) {
	return c.task(ctx, "retry", id, nil)
}

// Merge merges a task's branch, and says how.
func (c Client) Merge(ctx context.Context, id string, m task.Merge) (record.Outcome, string, error) {
	flags := append(mergeFlags(m), flag("override", m.Override)...)
	if m.Local {
		flags = append(flags, "--local")
	}
	a, err := c.ask(ctx, remote.Call{Argv: ofTask("merge", id, flags)})
	return a.outcome(), a.How, err
}

func mergeFlags(m task.Merge) []string {
	flags := flag("strategy", m.Strategy)
	switch m.Push {
	case "always":
		flags = append(flags, "--push")
	case "never":
		flags = append(flags, "--no-push")
	}
	if m.With > 0 {
		flags = append(flags, "--with="+strconv.Itoa(m.With))
	}
	return flags
}

// oneOfMany is what became of one task of a merge of several.
type oneOfMany struct {
	ID      string             `json:"id"`
	Branch  string             `json:"branch"`
	How     string             `json:"how"`
	Error   string             `json:"error"`
	Code    string             `json:"code"`
	Details []rejection.Detail `json:"details"`
	With    []string           `json:"with"`
	Stayed  []string           `json:"stayed_behind"`
	Warning string             `json:"warning"`
	Hooks   hooks              `json:"hooks"`
}

// MergeMany merges several tasks of a project, one on top of the other. It calls each when no more is merged; an error
// is of what concerns all that are left.
func (c Client) MergeMany(ctx context.Context, in record.MergeMany, each func(record.MergedOne)) error {
	words := append([]string{"merge", "--json"}, mergeFlags(in.Merge)...)
	words = append(words, flag("project", in.Project)...)
	if in.DryRun {
		words = append(words, "--dry-run")
	}
	if in.Bisect {
		words = append(words, "--bisect")
	}
	a, err := c.ask(ctx, remote.Call{Argv: append(append(words, "--"), in.Tasks...)})
	for _, one := range slices.Concat(a.Merged, a.Left) {
		t := task.Task{ID: one.ID, Branch: one.Branch, Project: in.Project}
		out := record.MergedOne{Task: t, How: one.How, With: one.With, Outcome: record.Outcome{Task: t,
			Hooks: one.Hooks.owed(), Stayed: one.Stayed, Warning: one.Warning}}
		if one.Error != "" {
			refused := &rejection.Rejection{Code: one.Code, Message: one.Error, Details: one.Details}
			if len(one.Details) > 0 { // the text has them too
				refused.Message, _, _ = strings.Cut(one.Error, "\n")
			}
			out.Left = refused
		}
		each(out)
	}
	return err
}

// Say says something to the agent of the present status, and answers its role.
func (c Client) Say(ctx context.Context, id, text string) (role string, err error) {
	a, err := c.ask(ctx, withText(ofTask("say", id, nil, text), text))
	return a.Role, err
}

// Delete deletes a task.
func (c Client) Delete(ctx context.Context, id string) (record.DeletedTask, error) {
	a, err := c.ask(ctx, remote.Call{Argv: ofTask("delete", id, []string{"--yes"})})
	if a.Warning != "" {
		a.Folder += "; " + a.Warning
	}
	return record.DeletedTask{Folder: a.Folder, Stayed: a.Stayed}, err
}

// Create creates a task.
func (c Client) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	call := Creation(n)
	call.Argv = append(call.Argv, flag("project", n.Project.Name)...)
	a, err := c.ask(ctx, call)
	return a.outcome(), err
}

// Creation is the command line that creates a task, without its project: who asks another host says where.
func Creation(n task.New) remote.Call {
	call := remote.Call{V: remote.Version, Argv: []string{"task", "create", "--json"}}
	for _, f := range [][2]string{{"workflow", n.Workflow}, {"harness", n.Harness},
		{"review-harness", n.ReviewHarness}, {"effort", n.Effort}, {"review-effort", n.ReviewEffort},
		{"model", n.Model}, {"review-model", n.ReviewModel}, {"status", string(n.Status)}, {"summary", n.Summary}} {
		call.Argv = append(call.Argv, flag(f[0], f[1])...)
	}
	if !n.Spawn {
		call.Argv = append(call.Argv, "--no-spawn")
	}
	for _, id := range n.After {
		call.Argv = append(call.Argv, "--after="+id)
	}
	if n.Branch != "" || !n.NameBranch { // else the home names it
		call.Argv = append(call.Argv, "--branch="+n.Branch)
	}
	if n.Context != "" {
		const file = "context.md"
		call.Argv, call.Files = append(call.Argv, "--context="+file), map[string]string{file: n.Context}
	}
	return call
}

package screen

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"orange/internal/api"
	"orange/internal/api/remote"
	"orange/internal/rules/diff"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard"
)

// ask has the host of a task do a command, which the person signs.
func (v *view) ask(ctx context.Context, id, command string, flags []string, args ...string) (remote.Reply, error) {
	r, err := v.of(id)
	if err != nil {
		return remote.Reply{}, err
	}
	if _, err := v.fleet.Find(ctx, id); err != nil { // who has it now
		return remote.Reply{}, err
	}
	c := remote.Call{V: remote.Version, Argv: append(append([]string{"task", command, "--json"}, flags...), "--", id)}
	c.Argv = append(c.Argv, args...)
	if remote.RepeatOf(command) == api.Keyed {
		c.Key = rand.Text()
	}
	reply, err := v.fleet.Ask(ctx, r.host, c, askTime)
	if err == nil && (reply.Exit != 0 || reply.Refused != "") {
		err = refusal(reply)
	}
	return reply, err
}

// refusal is why a host did not do what it was asked.
func refusal(reply remote.Reply) error {
	var said struct {
		Error    string
		Code     string
		Details  []rejection.Detail
		MayAsk   []task.Status `json:"may_ask"`
		Repeated string
	}
	const refused = 3
	if reply.Exit == refused && json.Unmarshal([]byte(reply.Stdout), &said) == nil {
		return &rejection.Rejection{Code: said.Code, Message: said.Error, Details: said.Details,
			MayAsk:   said.MayAsk,
			Repeated: said.Repeated}
	}
	return errors.New(reply.Failure())
}

// outcome does a command, and reads what became of the task.
func (v *view) outcome(ctx context.Context, id, command string, flags []string, args ...string) (record.Outcome,
	error) {
	reply, err := v.ask(ctx, id, command, flags, args...)
	if err != nil {
		return record.Outcome{}, err
	}
	return outcomeOf(reply)
}

func outcomeOf(reply remote.Reply) (record.Outcome, error) {
	var said struct {
		Task   listed      `json:"task"`
		From   task.Status `json:"from"`
		To     task.Status `json:"to"`
		Moved  bool        `json:"moved"`
		Queued bool        `json:"queued"`
		Stayed []string    `json:"stayed_behind"`
		Hooks  []struct {
			Action string         `json:"action"`
			State  task.HookState `json:"state"`
			Error  string         `json:"error"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(reply.Stdout), &said); err != nil {
		return record.Outcome{}, fmt.Errorf("it was done; read what the host says: %w", err)
	}
	out := record.Outcome{Task: said.Task.row(remote.Host{}).task, Moved: said.Moved, Queued: said.Queued,
		Stayed: said.Stayed, Event: history.Event{From: said.From, To: said.To}}
	for _, h := range said.Hooks {
		out.Hooks = append(out.Hooks, task.OwedHook{Hook: task.Hook{Action: h.Action}, State: h.State, Error: h.Error})
	}
	return out, nil
}

func reasoned(reason string, flags ...string) []string {
	if reason != "" {
		flags = append(flags, "--reason="+reason)
	}
	return flags
}

// Command asks for the move that a word stands for.
func (v *view) Command(ctx context.Context, id, command, reason string) (record.Outcome, error) {
	flags := reasoned(reason)
	if command == workflow.MoveCancel {
		flags = append(flags, "--yes")
	}
	return v.outcome(ctx, id, command, flags)
}

// Move asks for a status.
func (v *view) Move(ctx context.Context, id string, to task.Status, reason string) (record.Outcome, error) {
	return v.outcome(ctx, id, "move", reasoned(reason), string(to))
}

// Redo lets an earlier status begin again.
func (v *view) Redo(ctx context.Context, id string, to task.Status, reason string) (record.Outcome, error) {
	return v.outcome(ctx, id, "redo", reasoned(reason), string(to))
}

// RequestChanges sends a task back with a text.
func (v *view) RequestChanges(ctx context.Context, id, text string) (record.Outcome, error) {
	return v.outcome(ctx, id, "request-changes", nil, text)
}

// Merge merges a task's branch at its host.
func (v *view) Merge(ctx context.Context, id string, m task.Merge) (record.Outcome, string, error) {
	var flags []string
	for name, value := range map[string]string{"strategy": m.Strategy, "override": m.Override} {
		if value != "" {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	slices.Sort(flags)
	switch m.Push {
	case "always":
		flags = append(flags, "--push")
	case "never":
		flags = append(flags, "--no-push")
	}
	if m.Local {
		flags = append(flags, "--local")
	}
	if m.With > 0 {
		flags = append(flags, "--with="+strconv.Itoa(m.With))
	}
	out, err := v.outcome(ctx, id, "merge", flags)
	return out, "merged at its host", err
}

// MergeMany is of one host at a time, and needs its repository.
func (v *view) MergeMany(context.Context, record.MergeMany, func(record.MergedOne)) error {
	return task.Notef(ErrElsewhere, "cannot merge several tasks together from here: merge them one by one, or run "+
		"orange merge at their host")
}

// RequestPR has the host open a pull request.
func (v *view) RequestPR(ctx context.Context, id string) (record.Outcome, error) {
	return v.outcome(ctx, id, "create-pr", nil)
}

// Next makes the one move that the evidence supports.
func (v *view) Next(ctx context.Context, id string, to task.Status, override string) (record.Outcome, error) {
	var flags []string
	if override != "" {
		flags = append(flags, "--override="+override)
	}
	if to != "" && override != "" {
		flags = append(flags, "--to="+string(to))
	}
	return v.outcome(ctx, id, "next", flags)
}

// Retry tries again what failed.
func (v *view) Retry(ctx context.Context, id string) (record.Outcome, error) {
	return v.outcome(ctx, id, "retry", nil)
}

// Say says something to the agent of the present status.
func (v *view) Say(ctx context.Context, id, text string) (role string, err error) {
	reply, err := v.ask(ctx, id, "say", nil, text)
	var said struct {
		Role string `json:"role"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(reply.Stdout), &said)
	}
	return said.Role, err
}

// Delete deletes a task at its host.
func (v *view) Delete(ctx context.Context, id string) (gone record.DeletedTask, err error) {
	r, err := v.of(id)
	var reply remote.Reply
	if err == nil {
		reply, err = v.ask(ctx, id, "delete", []string{"--yes"})
	}
	if err != nil {
		return gone, err
	}
	var said struct {
		Stayed []string `json:"stayed_behind"`
	}
	if err := json.Unmarshal([]byte(reply.Stdout), &said); err != nil {
		return gone, fmt.Errorf("it was done; read what the host says: %w", err)
	}
	gone = record.DeletedTask{Folder: "deleted at its host", Stayed: said.Stayed}
	none := func([]diff.Comment) []diff.Comment { return nil }
	if _, err := comments(v.Home).ChangeComments(ctx, r.task.Project, id, none); err != nil {
		gone.Folder += "; the comments on it are kept here: " + err.Error()
	}
	return gone, nil
}

// Create has a task created where there is a place for it.
func (v *view) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	random := make([]byte, task.IDLength)
	if _, err := rand.Read(random); err != nil {
		return record.Outcome{}, err
	}
	id, err := task.NewID(random)
	if err != nil {
		return record.Outcome{}, err
	}
	b := remote.Placement{ID: id, Project: n.Project.Name, Branch: n.Branch, Summary: n.Summary,
		Call: remote.Call{V: remote.Version, Argv: []string{"task", "create", "--json"}, Files: map[string]string{}}}
	for _, flag := range [][2]string{{"workflow", n.Workflow}, {"harness", n.Harness},
		{"review-harness", n.ReviewHarness}, {"status", string(n.Status)}} {
		if flag[1] != "" {
			b.Call.Argv = append(b.Call.Argv, "--"+flag[0]+"="+flag[1])
		}
	}
	if !n.Spawn {
		b.Call.Argv = append(b.Call.Argv, "--no-spawn")
	}
	if n.Context != "" {
		const file = "context.md"
		b.Call.Argv, b.Call.Files[file] = append(b.Call.Argv, "--context="+file), n.Context
	}
	if n.Branch != "" || !n.NameBranch { // else the host names it
		b.Call.Argv = append(b.Call.Argv, "--branch="+n.Branch)
	}
	if n.Summary != "" {
		b.Call.Argv = append(b.Call.Argv, "--summary="+n.Summary)
	}
	if n.Harness != "" {
		b.Harness = []string{n.Harness}
	}
	placed, err := v.fleet.Create(ctx, b)
	switch {
	case err != nil:
		return record.Outcome{}, err
	case placed.Reply == nil:
		return record.Outcome{Task: task.Task{ID: id, Project: b.Project, Branch: b.Branch, Summary: b.Summary,
			Live: true}, Queued: true}, nil
	case placed.Reply.Exit != 0:
		return record.Outcome{}, refusal(*placed.Reply)
	}
	return outcomeOf(*placed.Reply)
}

// Choices are what hosts have that are there, and the workflows here.
func (v *view) Choices(ctx context.Context) (dashboard.Choices, error) {
	known, err := v.fleet.Known(ctx)
	if err != nil {
		return dashboard.Choices{}, err
	}
	var out dashboard.Choices
	var projects, harnesses []string
	for _, h := range known.Hosts {
		if h.Here {
			projects = append(projects, h.Projects...)
			harnesses = append(harnesses, h.Harness...)
		}
	}
	slices.Sort(projects)
	slices.Sort(harnesses)
	for _, name := range slices.Compact(harnesses) { // a host names those alone whose programs it has
		out.Harnesses = append(out.Harnesses, harness.Choice{Name: name, Program: name, Path: name})
	}
	for _, name := range slices.Compact(projects) {
		out.Projects = append(out.Projects, task.Project{Name: name})
	}
	all, err := v.ListWorkflows()
	if err != nil {
		return out, err
	}
	for _, l := range all {
		if def, err := v.Read(l); err == nil {
			out.Workflows = append(out.Workflows, dashboard.WorkflowChoice{Name: l.Name, Rules: def})
		}
	}
	return out, nil
}

// Attach gives the terminal to the window of a task's agent at its host.
func (v *view) Attach(ctx context.Context, id, role string) error {
	r, err := v.of(id)
	if err != nil {
		return err
	}
	if r.host.SSH == "" {
		return v.elsewhere("open the window", id, "orange task attach "+id)
	}
	_, err = v.fleet.Attach(ctx, r.host, id, role, true)
	return err
}

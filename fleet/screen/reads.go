package screen

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/diff"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard"
)

// about looks at one task, at its host.
func (v *view) about(ctx context.Context, id string, into any, command string, flags ...string) error {
	r, err := v.of(id)
	if err != nil {
		return err
	}
	return v.look(ctx, r.host, into, append(append([]string{command}, flags...), "--", id)...)
}

// History is a task's history from the event after the given number on.
func (v *view) History(ctx context.Context, id string, after int) ([]history.Event, error) {
	var said struct {
		Events []history.Event `json:"events"`
	}
	if err := v.about(ctx, id, &said, "history"); err != nil {
		return nil, err
	}
	var out []history.Event
	for _, e := range said.Events {
		if e.Seq > after {
			out = append(out, e)
		}
	}
	return out, nil
}

// Why is what the host says of why a task does not move.
func (v *view) Why(ctx context.Context, id string) (decide.Explanation, error) {
	var said struct {
		Task  listed             `json:"task"`
		About string             `json:"about"`
		Ways  []decide.Option    `json:"ways"`
		Waits []rejection.Detail `json:"waits"`
	}
	if err := v.about(ctx, id, &said, "why"); err != nil {
		return decide.Explanation{}, err
	}
	r, err := v.of(id)
	return decide.Explanation{Task: said.Task.row(r.host).task, About: said.About, Ways: said.Ways, Waits: said.Waits,
		Need: said.Task.Need}, err
}

// Document says where the document of a task is: no command of a fleet reads it.
func (v *view) Document(ctx context.Context, t task.Task) (string, error) {
	var said struct {
		Document string `json:"document"`
	}
	if err := v.about(ctx, t.ID, &said, "show"); err != nil {
		return "", err
	}
	r, err := v.of(t.ID)
	return fmt.Sprintf("TASK.md is at host %s: %s\n", r.host.Name, said.Document), err
}

// Diff is what the task's branch and its workspace changed.
func (v *view) Diff(ctx context.Context, t task.Task) (string, error) {
	var said struct {
		Diff string `json:"diff"`
	}
	err := v.about(ctx, t.ID, &said, "diff")
	return said.Diff, err
}

// told is what a host keeps of what was said of a task.
type told struct {
	Log     []json.RawMessage    `json:"log"`
	Screens []record.AgentScreen `json:"terminals"`
}

// Panes are the present screens of the agents' terminals.
func (v *view) Panes(ctx context.Context, t task.Task) ([]dashboard.Pane, error) {
	var said told
	if err := v.about(ctx, t.ID, &said, "logs"); err != nil {
		return nil, err
	}
	var out []dashboard.Pane
	for _, s := range said.Screens {
		out = append(out, dashboard.Pane{Role: s.Role, Title: s.Window, Dead: s.Ended,
			Lines: strings.Split(strings.TrimRight(s.Text, "\n"), "\n")})
	}
	return out, nil
}

// Log is what the log of the host has about the task.
func (v *view) Log(ctx context.Context, t task.Task) ([]string, error) {
	var said told
	if err := v.about(ctx, t.ID, &said, "logs"); err != nil {
		return nil, err
	}
	var out []string
	for _, line := range said.Log {
		out = append(out, string(line))
	}
	return out, nil
}

// Work is what a task's branch changed, as far as its diff says it.
func (v *view) Work(ctx context.Context, t task.Task) (dashboard.Work, error) {
	text, err := v.Diff(ctx, t)
	var w dashboard.Work
	for _, file := range diff.Parse(text).Files {
		for _, hunk := range file.Hunks {
			for _, line := range hunk.Lines {
				switch line.Kind {
				case diff.Added:
					w.Added++
				case diff.Removed:
					w.Removed++
				}
			}
		}
	}
	return w, err
}

// Patch is the work of a task as a person reviews it. The files stay at the host: no folder here has them.
func (v *view) Patch(ctx context.Context, t task.Task, since bool) (diff.Patch, error) {
	var said struct {
		Diff        string `json:"diff"`
		Base        string `json:"base"`
		From        string `json:"from"`
		To          string `json:"to"`
		Uncommitted bool   `json:"uncommitted"`
		Judged      string `json:"judged"`
		JudgedBy    string `json:"judged_by"`
		Review      string `json:"review"`
	}
	var flags []string
	if since {
		flags = []string{"--since-review"}
	}
	err := v.about(ctx, t.ID, &said, "diff", flags...)
	return diff.Patch{Text: said.Diff, Base: said.Base, From: said.From, To: said.To, Loose: said.Uncommitted,
		Last: said.Judged, Judged: said.JudgedBy, Review: said.Review}, err
}

// elsewhere says where something can be done.
func (v *view) elsewhere(what, id, command string) error {
	r, err := v.of(id)
	if err != nil {
		return err
	}
	return task.Notef(ErrElsewhere, "cannot %s of task %s from here: log in at host %s, and run %s there", what, id,
		r.host.Name, command)
}

// Timeouts are those of the hosts, which report what is overdue.
func (v *view) Timeouts(string) (task.Timeouts, error) { return task.Timeouts{}, nil }

// FirstSteps are what a person of a fleet without a task does next.
func (v *view) FirstSteps(context.Context, string) (steps []string, none string, err error) {
	return []string{"The fleet has no tasks.", "", "orange fleet create \"Fix the login\" --project web",
		"orange fleet hosts   which hosts there are, and what they have"}, "", nil
}

// Destination is not known here: the host merges, and opens pull requests.
func (v *view) Destination(context.Context, task.Task) (origin bool, forge string, project task.Project, err error) {
	return true, "", task.Project{}, ErrElsewhere
}

// Workspaces are those that tasks of the hosts hold, each behind the name of its host. "orange fleet hosts" counts the
// free ones.
func (v *view) Workspaces(_ context.Context, project string) ([]record.Holding, error) {
	v.lock.Lock()
	defer v.lock.Unlock()
	var out []record.Holding
	for id, r := range v.rows {
		if t := r.task; t.Workspace != "" && (project == "" || project == t.Project) {
			out = append(out, record.Holding{Project: t.Project, Workspace: r.host.Name + ":" + t.Workspace,
				Exists: true, Task: id, Branch: t.Branch, Status: t.Status})
		}
	}
	slices.SortFunc(out, func(a, b record.Holding) int { return strings.Compare(a.Workspace, b.Workspace) })
	return out, nil
}

// Asides are none: what a host set aside is with it, and "orange workspace list" there names it.
func (v *view) Asides(string) ([]record.Aside, error) { return nil, nil }

// SharedWords are none: a host's own screen and "orange project list" there have them.
func (v *view) SharedWords(context.Context, string) ([]string, error) { return nil, nil }

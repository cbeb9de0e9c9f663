// Package query answers questions about tasks from the record, their files and their rules. It changes nothing.
package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/diff"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/tmux"
)

// Record is what is read of it.
type Record interface {
	Load(ctx context.Context, id string) (record.Snapshot, error)
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
	Lines(ctx context.Context, id string) ([]string, error)
	IDs(ctx context.Context, project string) ([]string, error)
}

// Setup has the rules of tasks, and what their projects say about time.
type Setup interface {
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	Timeouts(project string) (task.Timeouts, error)
	// CheckWorkflow reads a file, or a workflow by name.
	CheckWorkflow(fileOrName string) (*workflow.Definition, error)
}

// Files has the folders of tasks.
type Files interface {
	Document(project, id string) string
	// Read is a document, or its header alone.
	Read(project, id string, whole bool) ([]byte, error)
	Kept(project, id, digest string) (text string, kept bool, err error)
	// Folders are the folders of tasks that there are, as project and id.
	Folders() ([][2]string, error)
	// ReadBefore is the history that an earlier Orange wrote of a task; empty where it wrote none.
	ReadBefore(project, id string) ([]byte, error)
	// IsOlder reports whether an earlier Orange left a folder, some time ago.
	IsOlder(project, id string, now time.Time) bool
}

// Work has the workspaces of tasks, and the work that was kept for them.
type Work interface {
	Dir(workspace string) string
	SetUpOutput(workspace string) string
	// Left tells what git ignores in a workspace, and which task left it.
	Left(workspace string) string
	// Asides are what was set aside of a task's workspaces.
	Asides(id string) ([]record.Aside, error)
	// Lost is what is gone since a task got its worktree: that and its branch, and branches and stashes of others.
	Lost(ctx context.Context, t task.Task) ([]string, error)
	// SharedWords are what all worktrees of a project share and neither Orange nor a person changed.
	SharedWords(ctx context.Context, project string) ([]string, error)
	Rescues(ctx context.Context, t task.Task) ([]task.Rescued, error)
	// Patch is the work of a task since a commit; all of it where none is named.
	Patch(ctx context.Context, t task.Task, from string) (diff.Patch, error)
}

// Agents reports how the agents of tasks are.
type Agents interface {
	// States has what is known also with an error.
	States(ctx context.Context, tasks []task.Task) (map[string]string, []tmux.Pane, error)
	// Needs are the states, and why people should look after tasks now, by the tasks' ids.
	Needs(ctx context.Context, tasks []task.Task) (map[string]string, map[string]record.Need, error)
}

// Service answers questions about tasks. Every field is required.
type Service struct {
	Record Record
	Setup  Setup
	Files  Files
	Work   Work
	Agents Agents
	// Refresh reads what a task's evidence is now.
	Refresh func(ctx context.Context, id string) (record.Snapshot, decide.Evidence, error)
	Compare func(ctx context.Context, def *workflow.Definition, t task.Task) string
	Now     func() time.Time
	// Variables are the names of those that are set for a task alone.
	Variables func(id string) ([]string, error)
}

// Tasks lists tasks from the record.
func (q *Service) Tasks(ctx context.Context, f record.Filter) ([]task.Task, error) {
	return q.Record.List(ctx, f)
}

// Sessions has how the agents of tasks' statuses are. With an error it has what is known.
func (q *Service) Sessions(ctx context.Context, tasks []task.Task) (map[string]string, error) {
	states, _, err := q.Agents.States(ctx, tasks)
	return states, err
}

// Needs has how the agents of tasks' statuses are, and why people should look after tasks now.
func (q *Service) Needs(ctx context.Context, tasks []task.Task) (map[string]string, map[string]record.Need, error) {
	return q.Agents.Needs(ctx, tasks)
}

// All are the ids of all tasks, or of a project's where one is named, also of those that cannot be read.
func (q *Service) All(ctx context.Context, project string) ([]string, error) {
	return q.Record.IDs(ctx, project)
}

// Unrecorded is how many tasks have a folder and are not on record, and how many of them an earlier Orange has left.
func (q *Service) Unrecorded(ctx context.Context) (all, older int, err error) {
	folders, err := q.Files.Folders()
	if err != nil {
		return 0, 0, err
	}
	ids, err := q.Record.IDs(ctx, "")
	if err != nil {
		return 0, 0, err
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	for _, folder := range folders {
		if known[folder[1]] {
			continue
		}
		all++
		if q.Files.IsOlder(folder[0], folder[1], q.Now()) {
			older++
		}
	}
	return all, older, nil
}

// Older are the events that an earlier Orange wrote of a task that was taken over from it, a line each. No one verifies
// them; where they cannot be read, the line says so.
func (q *Service) Older(ctx context.Context, id string, events []history.Event) []string {
	if len(events) == 0 || events[0].Data[history.DataAdopted] == "" {
		return nil
	}
	s, err := q.Record.Load(ctx, id)
	var text []byte
	if err == nil {
		text, err = q.Files.ReadBefore(s.Task.Project, id)
	}
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for line := range bytes.Lines(bytes.TrimSpace(text)) {
		var e struct{ Type, Timestamp, From, To, Reason string }
		if json.Unmarshal(line, &e) != nil {
			lines = append(lines, string(bytes.TrimSpace(line)))
			continue
		}
		what := e.Type
		if e.To != "" {
			what = e.From + " -> " + e.To
		}
		lines = append(lines, strings.TrimSpace(e.Timestamp+"  "+what+"  "+e.Reason))
	}
	const most = 1000
	return lines[max(0, len(lines)-most):]
}

// History is a task's events.
func (q *Service) History(ctx context.Context, id string) ([]history.Event, error) {
	if _, err := q.Record.Load(ctx, id); err != nil {
		return nil, err
	}
	return q.Record.Events(ctx, id, 0)
}

// Pinned is a task with the very workflow that it was created under.
func (q *Service) Pinned(ctx context.Context, id string) (task.Task, *workflow.Definition, error) {
	s, err := q.Record.Load(ctx, id)
	if err != nil {
		return s.Task, nil, err
	}
	def, err := q.Setup.Pinned(ctx, s.Task.Workflow)
	return s.Task, def, err
}

// Report gathers everything about one task. What cannot be looked at becomes a problem of the report, not its end.
func (q *Service) Report(ctx context.Context, id string, actor task.Actor) (record.Report, error) {
	s, err := q.Record.Load(ctx, id)
	if err != nil {
		return record.Report{}, err
	}
	r := record.Report{Task: s.Task, Path: q.Files.Document(s.Task.Project, id)}
	fresh, evidence, err := q.Refresh(ctx, id)
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	} else {
		s, r.Task = fresh, fresh.Task
	}
	if evidence.Trouble != "" {
		r.Problems = append(r.Problems, evidence.Trouble)
	}
	if evidence.Document != nil {
		for _, p := range evidence.Document.Problems {
			r.Problems = append(r.Problems, fmt.Sprintf("line %d: %s", p.Line, p.Text))
		}
	}
	r.Owed = s.Owed
	if r.Variables, err = q.Variables(r.Task.ID); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	if s.Task.Workspace != "" {
		r.Worktree, r.SetUp = q.Work.Dir(s.Task.Workspace), q.Work.SetUpOutput(s.Task.Workspace)
		r.Left = q.Work.Left(s.Task.Workspace)
	}
	events, err := q.Record.Events(ctx, id, 0)
	if err != nil {
		return r, err
	}
	r.LastWords, r.Reviewers = history.LastWords(events), reviewers(events)
	if s.Task.PRURL != "" {
		r.Checks = history.ChecksOf(events, s.Task.PRURL)
	}
	states, err := q.Sessions(ctx, []task.Task{s.Task})
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	r.Session = states[id]
	def, err := q.Setup.Pinned(ctx, s.Task.Workflow)
	if err != nil {
		return r, err
	}
	state, _ := def.State(s.Task.Status)
	r.About = state.About
	r.Work = q.Compare(ctx, def, s.Task)
	for _, to := range decide.MayAsk(def, s.Task, actor) {
		r.MayAsk = append(r.MayAsk, string(to))
	}
	if r.Rescued, err = q.Work.Rescues(ctx, s.Task); err != nil {
		r.Problems = append(r.Problems, "rescued work: "+err.Error())
	}
	if r.Asides, err = q.Work.Asides(s.Task.ID); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	if r.Lost, err = q.Work.Lost(ctx, s.Task); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	if r.Shared, err = q.Work.SharedWords(ctx, s.Task.Project); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	return r, nil
}

// Timings has how tasks are in time. Those that cannot be computed are missing, and the error says why.
func (q *Service) Timings(ctx context.Context, tasks []task.Task) (map[string]task.Timing, error) {
	out := make(map[string]task.Timing, len(tasks))
	timeouts := map[string]task.Timeouts{}
	unread := map[string]bool{} // projects and workflows that could not be read
	now := q.Now()
	var all error
	for i := range tasks {
		t := &tasks[i]
		if unread[t.Workflow.Digest] || unread["project "+t.Project] {
			continue
		}
		def, err := q.Setup.Pinned(ctx, t.Workflow)
		if err != nil {
			unread[t.Workflow.Digest] = true
			all = errors.Join(all, err)
			continue
		}
		own, asked := timeouts[t.Project]
		if !asked {
			if own, err = q.Setup.Timeouts(t.Project); err != nil {
				unread["project "+t.Project] = true
				all = errors.Join(all, err)
				continue
			}
			timeouts[t.Project] = own
		}
		out[t.ID] = decide.TimingOf(def, own, *t, now)
	}
	return out, all
}

// Stats has the numbers of tasks, each from its history; in a window only of those to which something happened then.
func (q *Service) Stats(ctx context.Context, tasks []task.Task, w stats.Window) ([]stats.Stats, error) {
	out := make([]stats.Stats, 0, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		def, err := q.Setup.Pinned(ctx, t.Workflow)
		if err != nil {
			return nil, err
		}
		events, err := q.Record.Events(ctx, t.ID, 0)
		if err != nil {
			return nil, err
		}
		if w == (stats.Window{}) {
			out = append(out, stats.Of(*t, events, marksOf(def), q.Now()))
		} else if one, happened := stats.Within(*t, events, marksOf(def), q.Now(), w); happened {
			out = append(out, one)
		}
	}
	return out, nil
}

// LogEntries has a task's history in the form that is handed to other programs.
func (q *Service) LogEntries(ctx context.Context, id string) ([]stats.LogEntry, error) {
	_, def, err := q.Pinned(ctx, id)
	if err != nil {
		return nil, err
	}
	events, err := q.Record.Events(ctx, id, 0)
	return stats.LogEntries(id, events, marksOf(def)), err
}

func marksOf(def *workflow.Definition) func(task.Status) stats.Marks {
	return func(status task.Status) stats.Marks { return decide.Marks(def, status) }
}

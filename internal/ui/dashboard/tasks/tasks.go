// Package tasks has what the dashboard knows of the tasks: the tasks themselves, their agents, workflows and branches.
// It also has which tasks the screen shows, in which order, and which of them is selected. The views draw it.
package tasks

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
)

// Agent is the state of the agent of a task.
type Agent struct {
	State  string      // one of package record's states of agents; empty until the first check
	Active time.Time   // when its terminal last changed; zero where that is unknown
	Limit  string      // what its terminal shows about a limit of its provider that stops it for now
	Need   record.Need // why a person should look after the task now; zero if none should
}

// Work is what a task's branch has that the default branch does not have.
type Work struct {
	Commits int
	Added   int // lines
	Removed int
	// how the branch compares with the commit that the status's evidence is about; empty where nothing needs that
	Judged string
}

// Origin is where the branches of a project go.
type Origin struct {
	There   bool   // the repository has a remote called origin
	Forge   string // where its pull requests are
	Project task.Project
}

// Origin is where the branches of a project go; known is false until that was looked up.
func (s *Set) Origin(project string) (o Origin, known bool) {
	one := s.origins[project]
	return one.Origin, one.known
}

// Name is what the screen calls a task.
func Name(t task.Task) string { return cmp.Or(t.Branch, t.ID) }

// Row is one task with its agent.
type Row struct {
	Task  *task.Task // shared with the store: never changed
	Agent Agent
	need  *record.Need // why the task needs a person, as far as that is known; nil if it needs none
}

// with is the row with a newer version of the task. The state of the agent stays, unless the task has another agent
// now.
func (r Row) with(t *task.Task) Row {
	switch {
	case t.Session == "":
		r.Agent = Agent{State: record.AgentNone}
	case r.Task == nil || t.Session != r.Task.Session:
		r.Agent = Agent{}
	case t.Version != r.Task.Version:
		r.Agent.Need = record.Need{} // it was that of another moment
	}
	r.Task = t
	return r
}

// limit is what the agent's terminal shows about a limit of its provider, or how long the task waits for one; empty
// where no limit stops it.
func (r *Row) limit() string {
	if until, waits := r.Task.LimitedUntil(); waits {
		if need, needs := r.Need(); needs && need.Kind == record.NeedsLimit && need.Reason != "" {
			return need.Reason
		}
		return "until " + until.Local().Format("01-02 15:04")
	}
	if r.Agent.State != record.AgentAlive {
		return ""
	}
	return r.Agent.Limit
}

// Active is when the task or its agent last did something.
func (r *Row) Active() time.Time {
	if r.Agent.Active.After(r.Task.UpdatedAt) {
		return r.Agent.Active
	}
	return r.Task.UpdatedAt
}

// Set is all known tasks, and which of them the screen shows. After a change of Project, Filter, Order, Text or Pinned
// call Choose or ChooseAgain.
type Set struct {
	Rows   []Row
	Shown  []int // indices of Rows, in the order of the screen
	Cursor int   // index of Shown
	Loaded bool  // the tasks were read, at least in part

	Project string // only its tasks are shown; empty for those of all projects
	Filter  Filter
	Order   Order
	Text    string // a name, summary or status must contain it
	Pinned  string // a task that is shown whatever the filters hide
	// GivenUp is a task that the person cancels or deletes in the list: the cursor does not follow it to the tasks
	// that are over.
	GivenUp string
	// Touched reports whether the person has pressed a key: before that the cursor stays at the top, where the tasks
	// that need a person come to be.
	Touched bool

	Live      int // how many tasks of the project are live
	All       int // how many tasks the project has
	Attention int // how many of them need a person
	// SeveralProjects reports whether tasks of several projects are shown.
	SeveralProjects bool

	Keys screen.KeyTable // those that the texts name

	Now     time.Time
	History func(id string) []history.Event // the history of a task as far as a view has read it; never nil

	picked []string // the ids of the tasks that the person marked, in that order

	marks  []Mark // all marks, made once
	groups []group
	turns  map[string]map[task.Status]bool // by the digest of a workflow: the statuses in which it is a person's turn
	facts
	loader
}

// facts is what was looked up about tasks. A nil value in a map means that a look-up runs or failed.
type facts struct {
	workflows  map[string]*workflow.Definition // by digest
	unreadable map[string]string               // by digest: why the workflow cannot be read
	timeouts   map[string]task.Timeouts        // by project
	origins    map[string]originAt             // by project
	works      map[string]measurement          // by task
	firstSteps []string                        // what a person without any task does next
	noTaskYet  string                          // why no task can be created, where there is none
}

// New makes an empty set that reads tasks from a store and looks up the rest with an inspector.
func New(ctx context.Context, store Store, inspector Inspector, project string, now time.Time) *Set {
	return &Set{
		Project: project, Now: now, marks: Marks(), turns: map[string]map[task.Status]bool{},
		History: func(string) []history.Event { return nil },
		facts: facts{workflows: map[string]*workflow.Definition{}, unreadable: map[string]string{},
			timeouts: map[string]task.Timeouts{}, works: map[string]measurement{}, origins: map[string]originAt{}},
		loader: loader{ctx: ctx, store: store, inspector: inspector, loading: true},
	}
}

// Selected is the task that keys are about; false where there is none.
func (s *Set) Selected() (task.Task, bool) {
	r, found := s.SelectedRow()
	if !found {
		return task.Task{}, false
	}
	return *r.Task, true
}

// SelectedRow is the row of the selected task; false where there is none.
func (s *Set) SelectedRow() (Row, bool) {
	if s.Cursor >= len(s.Shown) {
		return Row{}, false
	}
	return s.Rows[s.Shown[s.Cursor]], true
}

// At is the row at an index of Shown.
func (s *Set) At(shown int) *Row { return &s.Rows[s.Shown[shown]] }

// Select moves the cursor, at most to an end.
func (s *Set) Select(shown int) { s.Cursor = max(0, min(shown, len(s.Shown)-1)) }

// Find puts the cursor on a task, and reports whether the task is shown.
func (s *Set) Find(id string) bool {
	at := slices.IndexFunc(s.Shown, func(row int) bool { return s.Rows[row].Task.ID == id })
	if at >= 0 {
		s.Cursor = at
	}
	return at >= 0
}

// Has reports whether a task is known, shown or not.
func (s *Set) Has(id string) bool {
	return slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Task.ID == id })
}

// Workflow is the workflow of a task; nil while it is unknown.
func (s *Set) Workflow(t task.Task) *workflow.Definition { return s.workflows[t.Workflow.Digest] }

// Unreadable is why the workflow of a task cannot be read; empty where it can, or no one has tried.
func (s *Set) Unreadable(t task.Task) string { return s.unreadable[t.Workflow.Digest] }

// Timeout is how long a task should be in its status; 0 where there is no limit.
func (s *Set) Timeout(t task.Task) time.Duration {
	if def := s.Workflow(t); def != nil {
		return decide.Limit(def, s.timeouts[t.Project], t)
	}
	return 0
}

// Work is what the branch of a task has; false while that is unknown. asked reports whether a measurement was begun.
func (s *Set) Work(id string) (work Work, known, asked bool) {
	one, asked := s.works[id]
	return one.work, one.known, asked
}

// Replace takes all tasks. The cursor stays on its task; where that is gone, it stays at its place.
func (s *Set) Replace(tasks []task.Task) {
	known := make(map[string]Row, 64)
	for _, r := range s.Rows {
		if r.Agent.State != "" {
			known[r.Task.ID] = r
		}
	}
	rows := make([]Row, len(tasks))
	for i := range tasks {
		rows[i] = known[tasks[i].ID].with(&tasks[i])
	}
	s.setRows(rows)
}

// Change takes the tasks that changed or are new, and the ids of those that are gone.
func (s *Set) Change(changed []task.Task, gone []string) {
	news := make(map[string]*task.Task, len(changed))
	for i := range changed {
		news[changed[i].ID] = &changed[i]
	}
	rows := make([]Row, 0, len(s.Rows)+len(changed))
	sorted := true
	for _, r := range s.Rows {
		if slices.Contains(gone, r.Task.ID) {
			continue
		}
		if t, is := news[r.Task.ID]; is {
			delete(news, t.ID)
			sorted = sorted && newestFirst(t, r.Task) == 0
			r = r.with(t)
		}
		rows = append(rows, r)
	}
	for i := range changed {
		t := &changed[i]
		if _, is := news[t.ID]; is {
			rows, sorted = append(rows, Row{}.with(t)), false
		}
	}
	if !sorted {
		slices.SortStableFunc(rows, func(a, b Row) int { return newestFirst(a.Task, b.Task) })
	}
	s.setRows(rows)
}

func (s *Set) setRows(rows []Row) {
	before, had := s.Selected()
	s.Rows = rows
	s.groups = groupsOf(rows)
	s.findNeeds()
	s.Choose()
	if !had || !s.Touched {
		return
	}
	cursor := s.Cursor
	s.Find(before.ID)
	if now, _ := s.Selected(); before.ID == s.GivenUp && before.Live && !now.Live {
		s.Cursor, s.GivenUp = cursor, ""
	}
}

// SetAgents takes the states of agents, by the tasks' ids.
func (s *Set) SetAgents(agents map[string]Agent) {
	for i := range s.Rows {
		if a, known := agents[s.Rows[i].Task.ID]; known {
			s.Rows[i].Agent = a
		}
	}
	if s.findNeeds() || s.Order == ByActivity {
		s.ChooseAgain()
	}
}

// SetWorkflow takes the workflow with a digest; nil makes it unknown.
func (s *Set) SetWorkflow(digest string, def *workflow.Definition) {
	if s.workflows[digest] = def; def == nil {
		return
	}
	delete(s.unreadable, digest)
	turns := map[task.Status]bool{}
	for i := range def.States {
		turns[def.States[i].Name] = personsTurn(def, def.States[i].Name)
	}
	s.turns[digest] = turns
	s.findNeeds()
	s.ChooseAgain()
}

// group is a project with a workflow that tasks of it have.
type group struct {
	project  string
	workflow task.WorkflowRef
}

// groupsOf are the groups of all tasks: few, however many tasks there are.
func groupsOf(rows []Row) []group {
	var out []group
	var last group
	seen := map[group]bool{}
	for _, r := range rows {
		one := group{r.Task.Project, r.Task.Workflow}
		if one == last || seen[one] {
			continue
		}
		last, seen[one] = one, true
		out = append(out, one)
	}
	return out
}

// newestFirst is the order of the store: the live tasks first, the newest first.
func newestFirst(a, b *task.Task) int {
	return cmp.Or(TrueFirst(a.Live, b.Live), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
}

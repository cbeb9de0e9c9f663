package tasks

import (
	"context"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Store has all tasks.
type Store interface {
	// First are the newest live tasks of a project, or of all projects where the name is empty.
	First(ctx context.Context, project string, most int) ([]task.Task, error)
	// All are all tasks, the live ones first, the newest first, and a cursor for Since.
	All(ctx context.Context) (tasks []task.Task, cursor int64, err error)
	// Since are the tasks that changed after a cursor, as they are now, and the ids of those that are gone.
	Since(ctx context.Context, cursor int64) (changed []task.Task, gone []string, next int64, err error)
	// Watch calls changed after each change of a task until ctx ends. It costs nothing between changes.
	Watch(ctx context.Context, changed func()) error
}

// Inspector looks up what the store does not have.
type Inspector interface {
	// Agents are the states of the agents of tasks, by the tasks' ids. An agent that it cannot check is
	// record.AgentUnknown. With an error it returns the states that it knows.
	Agents(ctx context.Context, tasks []task.Task) (map[string]Agent, error)
	// Rules is the workflow that a task was created under.
	Rules(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	// Timeouts are how long statuses should take in a project that has its own limits.
	Timeouts(project string) (task.Timeouts, error)
	// FirstSteps are what a person without any task does next, and why no task can be created yet; none is empty where
	// one can. create is the key that creates one.
	FirstSteps(ctx context.Context, create string) (steps []string, none string, err error)
	// Destination is whether the repository of a task has a remote called origin, where its pull requests are, and the
	// project, which says how branches are merged.
	Destination(ctx context.Context, t task.Task) (origin bool, forge string, project task.Project, err error)
	// Work measures what a task's branch has that the default branch does not have.
	Work(ctx context.Context, t task.Task) (Work, error)
}

// Looked is a look-up that came to its end.
type Looked struct {
	What string // what was looked up; empty where its failure is shown elsewhere
	Err  error  // why it failed
}

// loader reads the tasks and looks up the rest. One read of the store runs at a time, and one check of the agents:
// an older answer would otherwise come after a newer one, and slow look-ups would pile up.
type loader struct {
	ctx       context.Context
	store     Store
	inspector Inspector

	loading     bool  // a read of the store runs
	loadAgain   bool  // another one follows it
	checking    bool  // a check of the agents runs
	checkAgain  bool  // another one follows it
	Failing     bool  // the last read failed
	cursor      int64 // how far the store was read; 0 until all of it was
	clockCycles int   // how often Tick was called
	stepsAsked  bool  // it was asked what a person without any task does first
}

// Messages of the loader.
type (
	// Read is the answer of the store.
	Read struct {
		Tasks  []task.Task
		Gone   []string // ids of tasks that are gone
		Cursor int64    // how far the store was read; 0 where only the first tasks were
		Part   bool     // Tasks are those that changed, or the first ones; otherwise they are all tasks
		Err    error
	}
	// AgentsChecked has the states of agents.
	AgentsChecked struct {
		Agents map[string]Agent
		Err    error
	}
	// WorkflowRead has a workflow.
	WorkflowRead struct {
		Digest   string
		Workflow *workflow.Definition
		Err      error
	}
	// Answer has something else that was looked up.
	Answer struct{ take func(*Set) Looked }
)

// firstTasks is more than a screen has lines.
const firstTasks = 200

// LoadFirst reads the tasks that the screen shows first: there may be very many.
func (s *Set) LoadFirst() tea.Cmd {
	ctx, store, project := s.ctx, s.store, s.Project
	return func() tea.Msg {
		tasks, err := store.First(ctx, project, firstTasks)
		return Read{Tasks: tasks, Part: true, Err: err}
	}
}

// load reads all tasks the first time, and after that those that changed.
func (s *Set) load() tea.Cmd {
	ctx, store, cursor := s.ctx, s.store, s.cursor
	return func() tea.Msg {
		if cursor == 0 {
			tasks, next, err := store.All(ctx)
			return Read{Tasks: tasks, Cursor: next, Err: err}
		}
		tasks, gone, next, err := store.Since(ctx, cursor)
		return Read{Tasks: tasks, Gone: gone, Cursor: next, Part: true, Err: err}
	}
}

// Reload reads the tasks again: at once, or after the read that runs.
func (s *Set) Reload() tea.Cmd {
	if s.loading {
		s.loadAgain = true
		return nil
	}
	s.loading = true
	return s.load()
}

// CheckAgents checks the tasks that have an agent, or that need a person: at once, or after the check that runs.
func (s *Set) CheckAgents() tea.Cmd {
	if s.checking {
		s.checkAgain = true
		return nil
	}
	ctx, inspector := s.ctx, s.inspector
	var asked []task.Task
	for i := range s.Rows {
		if t := s.Rows[i].Task; t.Session != "" || s.needsPerson(t) {
			asked = append(asked, *t)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	s.checking = true
	return func() tea.Msg {
		agents, err := inspector.Agents(ctx, asked)
		return AgentsChecked{agents, err}
	}
}

// Update takes an answer. The command follows from it.
func (s *Set) Update(msg tea.Msg) (tea.Cmd, Looked) {
	switch msg := msg.(type) {
	case Read:
		return s.read(msg)
	case AgentsChecked:
		again := s.checkAgain
		s.checking, s.checkAgain = false, false
		s.SetAgents(msg.Agents)
		var cmd tea.Cmd
		if again {
			cmd = s.CheckAgents()
		}
		return cmd, Looked{"look at the agents", msg.Err}
	case WorkflowRead:
		if msg.Err != nil {
			s.unreadable[msg.Digest], _, _ = strings.Cut(msg.Err.Error(), "\n")
			return nil, Looked{"read the workflow of a task", msg.Err}
		}
		s.SetWorkflow(msg.Digest, msg.Workflow)
	case Answer:
		return nil, msg.take(s)
	}
	return nil, Looked{}
}

func (s *Set) read(msg Read) (tea.Cmd, Looked) {
	look := Looked{"read the tasks", msg.Err}
	again := s.loadAgain || s.cursor == 0 && msg.Part && msg.Err == nil // the rest is still to be read
	s.loading, s.loadAgain = false, false
	s.Failing = msg.Err != nil
	if msg.Err != nil {
		return nil, look
	}
	s.Loaded = s.Loaded || !msg.Part || len(msg.Tasks) > 0
	switch {
	case !msg.Part:
		s.Replace(msg.Tasks)
	case len(msg.Tasks) > 0 || len(msg.Gone) > 0:
		s.Change(msg.Tasks, msg.Gone)
	}
	s.cursor = max(s.cursor, msg.Cursor)
	agents := s.CheckAgents()
	if again {
		return tea.Batch(agents, s.Reload()), look
	}
	return agents, look
}

// LookUp looks up what the screen needs and what is unknown: workflows, timeouts, and the work on the branches of the
// visible tasks.
func (s *Set) LookUp(visible []*task.Task) tea.Cmd {
	ctx, inspector := s.ctx, s.inspector
	cmds := s.readWorkflows()
	if s.Loaded && len(s.Rows) == 0 && !s.stepsAsked {
		s.stepsAsked = true
		create := s.Keys.Of("create")
		cmds = append(cmds, func() tea.Msg {
			lines, none, err := inspector.FirstSteps(ctx, create)
			return Answer{func(s *Set) Looked {
				s.firstSteps, s.noTaskYet = lines, none
				return Looked{"find out what to do first", err}
			}}
		})
	}
	for _, t := range visible {
		cmds = append(cmds, s.readOrigin(t))
		if t.Workspace == "" || !s.works[t.ID].stale(t, s.clockCycles) {
			continue
		}
		one := s.works[t.ID]
		one.version, one.cycle = t.Version, s.clockCycles
		s.works[t.ID] = one
		cmds = append(cmds, func() tea.Msg {
			work, err := inspector.Work(ctx, *t)
			return Answer{func(s *Set) Looked {
				one := s.works[t.ID]
				// a failure is not reported: the list shows the work as unknown, and the task's diff has the reason
				one.known, one.work = err == nil, work
				s.works[t.ID] = one
				return Looked{}
			}}
		})
	}
	return tea.Batch(cmds...)
}

// readWorkflows reads the workflows of all tasks: they are few, and the board has a column for each of their states.
func (s *Set) readWorkflows() []tea.Cmd {
	ctx, inspector := s.ctx, s.inspector
	var cmds []tea.Cmd
	for _, one := range s.groups {
		project, ref := one.project, one.workflow
		if _, known := s.timeouts[project]; !known {
			s.timeouts[project] = nil
			cmds = append(cmds, func() tea.Msg {
				timeouts, err := inspector.Timeouts(project)
				return Answer{func(s *Set) Looked {
					if err == nil {
						s.timeouts[project] = timeouts
					}
					return Looked{"read the timeouts of a project", err}
				}}
			})
		}
		if _, known := s.workflows[ref.Digest]; known {
			continue
		}
		s.workflows[ref.Digest] = nil
		cmds = append(cmds, func() tea.Msg {
			def, err := inspector.Rules(ctx, ref)
			return WorkflowRead{ref.Digest, def, err}
		})
	}
	return cmds
}

// readOrigin reads where the branches of a task's project go, and again after a while: a person may change that, or add
// a remote.
func (s *Set) readOrigin(t *task.Task) tea.Cmd {
	one, asked := s.origins[t.Project]
	if !t.Live || asked && s.clockCycles-one.cycle < workLasts {
		return nil
	}
	one.cycle = s.clockCycles
	s.origins[t.Project] = one
	ctx, inspector := s.ctx, s.inspector
	return func() tea.Msg {
		there, forge, project, err := inspector.Destination(ctx, *t)
		return Answer{func(s *Set) Looked {
			// a failure is not reported: who asks for a pull request then gets it as the answer
			to := Origin{there, forge, project}
			s.origins[t.Project] = originAt{Origin: to, known: err == nil, cycle: s.clockCycles}
			return Looked{}
		}}
	}
}

// originAt is where branches went when that was last looked up.
type originAt struct {
	Origin
	known bool
	cycle int
}

// Tick takes the time of the clock, and checks what changes without a change of the store: the agents.
func (s *Set) Tick(now time.Time) tea.Cmd {
	s.Now = now
	s.clockCycles++
	return s.CheckAgents()
}

// Forget makes the next LookUp look up everything again. The screen shows the old answers until then.
func (s *Set) Forget() {
	for id, one := range s.works {
		one.version = -1
		s.works[id] = one
	}
	s.stepsAsked = false
	for project, one := range s.origins {
		one.cycle = -workLasts
		s.origins[project] = one
	}
	maps.DeleteFunc(s.workflows, func(_ string, def *workflow.Definition) bool { return def == nil })
	maps.DeleteFunc(s.timeouts, func(_ string, timeouts task.Timeouts) bool { return timeouts == nil })
}

// measurement is the work of a task when it was last measured.
type measurement struct {
	work    Work
	known   bool
	version int64
	cycle   int
}

// workLasts is after how many cycles of the clock the work of a task is measured again: the agent's commits do not
// change the task.
const workLasts = 6

func (one measurement) stale(t *task.Task, cycle int) bool {
	return one.version != t.Version || t.Live && cycle-one.cycle >= workLasts
}

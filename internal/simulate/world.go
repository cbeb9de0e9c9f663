package simulate

import (
	"context"
	"log/slog"
	"time"

	"orange/internal/engine"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// World is the simulated world of one run, as an engine and a monitor see it.
type World struct{ r *run }

// Engine is an engine in this world that works on a record.
func (w *World) Engine(rec Record) *engine.Engine {
	folder, repository, hooks := files{w.r}, desk{w.r}, hands{w.r}
	return &engine.Engine{
		Store: rec, Index: rec, Seats: rec, Documents: folder, Mirror: folder, Projections: folder,
		Rules: w.Rules(), Desk: repository, Merger: repository, Forge: repository, Witness: repository,
		Facts: facts{w.r}, Performer: hooks, Runner: hooks, Environments: noEnvironments{},
		Now: w.Now, Random: w.r.random, Log: slog.New(slog.DiscardHandler),
		Patience: time.Nanosecond, // a runner has come back when the engine looks, or it is dead
	}
}

// noEnvironments keeps none: the programs of a simulated world run in none.
type noEnvironments struct{}

func (noEnvironments) Keep(context.Context, string) error { return nil }
func (noEnvironments) Drop(context.Context, string) error { return nil }

// Record is the record, with programs that may die before and after every question.
func (w *World) Record() Record { return recordPort{w.r} }

// Forge has the pull requests.
func (w *World) Forge() engine.PullRequests { return desk{w.r} }

// Terminal is what a monitor sees of agents.
func (w *World) Terminal() Terminal { return Terminal{w.r} }

// Now is the time in the world.
func (w *World) Now() time.Time { return w.r.clock }

// Tell notes a message to people.
func (w *World) Tell(_ context.Context, _ task.Task, text string) {
	w.r.tell("people are told: %s", text)
}

func project() task.Project {
	return task.Project{Name: "simulated", Path: "/simulated", DefaultBranch: "main", PoolSize: 1}
}

// Agent is one that was started.
type Agent struct {
	Task    string
	PID     int
	Role    string
	Hook    int64
	Window  bool // its window is there, be it dead or alive
	Alive   bool
	Ending  task.Ending
	Noted   bool // its launcher left a note of its end
	Touched time.Time
}

// Began is when its process began, in the world's own notation.
func (a Agent) Began() string { return "then" }

// Terminal is what a monitor sees of agents.
type Terminal struct{ r *run }

// Agents are all that were ever started, the oldest first.
func (w Terminal) Agents() ([]Agent, error) {
	return at(w.r, "it looks at the windows", func() ([]Agent, error) {
		if err := w.r.troubled("a look at the windows"); err != nil {
			return nil, err
		}
		var out []Agent
		for _, a := range w.r.agents {
			out = append(out, a.Agent)
		}
		return out, nil
	})
}

// Stamp changes with every header of TASK.md.
func (w Terminal) Stamp() string { return w.r.folder.header }

// SingleWorkflow is the workflow of all tasks. No project has timeouts of its own.
type SingleWorkflow struct{ Workflow *workflow.Definition }

// Rules finds the workflow of this world.
func (w *World) Rules() SingleWorkflow { return SingleWorkflow{w.r.def} }

// Named is the workflow, whatever the name.
func (s SingleWorkflow) Named(context.Context, string) (*workflow.Definition, error) { return s.Workflow, nil }

// Pinned is the workflow.
func (s SingleWorkflow) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return s.Workflow, nil
}

// Timeouts are none.
func (s SingleWorkflow) Timeouts(string) (task.Timeouts, error) { return nil, nil }

// desk is the workspaces and the repository.
type desk struct{ r *run }

func (d desk) Replaced(context.Context, task.Task) ([]byte, bool, error) { return nil, false, nil }
func (d desk) Relink(context.Context, task.Task) error                   { return nil }
func (d desk) CheckBranch(context.Context, string) error                 { return nil }
func (d desk) Project(string) (task.Project, error)                      { return project(), nil }

func (d desk) SetBranch(_ context.Context, _ task.Task, name string) (string, error) {
	return name, nil
}

func (d desk) Ahead(context.Context, task.Task, string) (bool, error) { return !d.r.merged, nil }

func (d desk) Tip(context.Context, task.Task) (string, error)          { return "c0ffee", nil }
func (d desk) Within(context.Context, task.Task, string) (bool, error) { return true, nil }

func (d desk) Find(context.Context, string, string) ([]record.PullRequest, error) {
	return d.Standing(context.Background(), "", nil)
}

func (d desk) Standing(context.Context, string, []string) ([]record.PullRequest, error) {
	return at(d.r, "it asks for pull requests", func() ([]record.PullRequest, error) {
		if d.r.pr.URL == "" {
			return nil, nil
		}
		return []record.PullRequest{d.r.pr}, nil
	})
}

// LastWords are those of a dead agent.
func (d desk) LastWords(context.Context, task.Death) (string, error) { return "", nil }

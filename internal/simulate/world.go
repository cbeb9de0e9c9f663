package simulate

import (
	"context"
	"io"
	"time"

	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// World is the pretended world of one run, as an engine and a monitor see it.
type World struct{ r *run }

// Record is the record, with programs that may die before and after every question.
func (w *World) Record() Book { return recordPort{w.r} }

// Files is the task's folder, for everything that the engine wants of one.
func (w *World) Files() Files { return files{w.r} }

// Desk is the workspaces and the repository.
func (w *World) Desk() Desk { return desk{w.r} }

// Facts is what gates ask for outside of TASK.md.
func (w *World) Facts() Looker { return facts{w.r} }

// Hands perform hooks, and start the runners that have them performed.
func (w *World) Hands() Hands { return hands{w.r} }

// Tower is what a monitor sees of agents.
func (w *World) Tower() Tower { return tower{w.r} }

// Now is the time in the world.
func (w *World) Now() time.Time { return w.r.clock }

// Random is where the engine gets its secrets from: the same ones in the same run.
func (w *World) Random() io.Reader { return w.r.random }

// Project is the only one there is. It has one workspace.
func (w *World) Project() task.Project { return project() }

// Tell notes what people are told.
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

// tower is what a monitor sees.
type tower struct{ r *run }

func (w tower) Agents() ([]Agent, error) {
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

func (w tower) Stamp() string { return w.r.folder.header }

// rules are the one workflow.
type rules struct{ def *workflow.Definition }

// Rules finds the one workflow there is.
func (w *World) Rules() Rules { return rules{w.r.def} }

func (b rules) Named(context.Context, string) (*workflow.Definition, error) { return b.def, nil }

func (b rules) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return b.def, nil
}

func (b rules) Timeouts(string) (task.Timeouts, error) { return nil, nil }

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

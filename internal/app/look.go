package app

import (
	"context"
	"fmt"
	"path/filepath"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/worktree"
)

// Report gathers everything about one task. What cannot be looked at becomes a problem of the report, not its end.
func (h *house) Report(ctx context.Context, id string, actor task.Actor) (record.Report, error) {
	s, err := h.store.Load(ctx, id)
	if err != nil {
		return record.Report{}, err
	}
	r := record.Report{Task: s.Task, Path: h.files.Document(s.Task.Project, id)}
	fresh, evidence, err := h.engine.Refresh(ctx, id)
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
	if s.Task.Workspace != "" {
		r.Worktree = h.pool.Dir(s.Task.Workspace)
	}
	events, err := h.store.Events(ctx, id, 0)
	if err != nil {
		return r, err
	}
	r.LastWords = lastWordsOf(events)
	if s.Task.PRURL != "" {
		r.Checks = history.ChecksOf(events, s.Task.PRURL)
	}
	states, err := h.Sessions(ctx, []task.Task{s.Task})
	if err != nil {
		return r, err
	}
	r.Session = states[id]
	def, err := h.home.Pinned(ctx, s.Task.Workflow)
	if err != nil {
		return r, err
	}
	state, _ := def.State(s.Task.Status)
	r.About = state.About
	r.Work = h.looker(0).Compare(ctx, def, s.Task)
	for _, to := range decide.Open(def, s.Task, actor) {
		r.Open = append(r.Open, string(to))
	}
	if r.Rescued, err = h.pool.Rescues(ctx, s.Task); err != nil {
		r.Problems = append(r.Problems, "rescued work: "+err.Error())
	}
	return r, nil
}

// lastWordsOf are those of the agent that died last, while no other has been started in its place.
func lastWordsOf(events []history.Event) (words string) {
	for _, e := range events {
		switch e.Type {
		case history.AgentSpawned, history.ReviewStarted, history.AgentRespawned:
			words = ""
		case history.AgentCrashed, history.AgentStopped:
			words = e.Data["last_words"]
		}
	}
	return words
}

// Projects lists the registered repositories.
func (h *house) Projects() ([]task.Project, error) { return h.home.Projects() }

// Project finds one.
func (h *house) Project(name string) (task.Project, error) { return h.home.Project(name) }

// AddProject registers the repository at a path.
func (h *house) AddProject(ctx context.Context, path string, wanted task.Project) (task.Project, error) {
	repo, err := worktree.Inspect(ctx, path)
	if err != nil {
		return task.Project{}, err
	}
	p := task.Project{Name: wanted.Name, Path: repo.Path, DefaultBranch: repo.DefaultBranch,
		PoolSize: wanted.PoolSize, Workflow: wanted.Workflow}
	if p.Name == "" {
		p.Name = filepath.Base(repo.Path)
	}
	if p.PoolSize == 0 {
		p.PoolSize = task.DefaultPoolSize
	}
	return p, h.home.AddProject(ctx, p)
}

// UpdateProject changes a registered project.
func (h *house) UpdateProject(ctx context.Context, p task.Project) error {
	return h.home.UpdateProject(ctx, p)
}

// RemoveProject forgets a project.
func (h *house) RemoveProject(ctx context.Context, name string) error {
	return h.home.RemoveProject(ctx, name)
}

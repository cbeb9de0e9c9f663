package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/task"
	"orange/internal/workflow"
)

// simBranch is a task's branch, with what nobody but the world knows of it: which of its commits may be merged.
type simBranch struct {
	tip      int
	dirty    bool
	about    []string        // the commits that a verdict written now can be about: of the last entry into the review, and of the reviewer's last start
	passed   map[string]bool // a passing verdict was about it
	answered map[string]bool // a person put it up
}

// mergeAllTheSame is the kind of question with which a person merges what nobody reviewed.
const mergeAllTheSame = "merge in spite of the conditions"

func (s *sim) branch(id string) *simBranch {
	if s.branches[id] == nil {
		s.branches[id] = &simBranch{passed: map[string]bool{}, answered: map[string]bool{}}
	}
	return s.branches[id]
}

func (b *simBranch) commit() string { return fmt.Sprintf("commit %d", b.tip) }

// Subject is the tip of the task's branch.
func (d desktop) Subject(_ context.Context, t task.Task, tree bool) task.Subject {
	out, _ := at(d.p, "read the tip of "+d.p.sim.short(t.ID), func() (task.Subject, error) {
		s := task.Subject{Commit: d.p.sim.branch(t.ID).commit()}
		if tree {
			s.Tree, s.Tracked = "whole "+s.Commit, "tracked "+s.Commit
		}
		return s, nil
	})
	return out
}

// sights is what gates ask for outside of the document.
type sights struct{ p *process }

func (w sights) Look(_ context.Context, t task.Task, _ *workflow.Definition, parts []workflow.Part) (map[string]decide.Fact, error) {
	s := w.p.sim
	return at(w.p, "look at git for "+s.short(t.ID), func() (map[string]decide.Fact, error) {
		if err := w.p.troubled("look at git"); err != nil {
			return nil, err
		}
		out := map[string]decide.Fact{}
		b := s.branch(t.ID)
		for _, p := range parts {
			moved := t.Subject.Commit != "" && t.Subject.Commit != b.commit()
			f := decide.Fact{Source: "git " + p.Git, Where: "the workspace", Found: "at " + b.commit(), Want: "see to it"}
			switch p.Git {
			case workflow.GitCommitted:
				f.Holds = !b.dirty
			case workflow.GitUnmoved:
				f.Holds, f.Moved = t.Subject.Commit != "" && !moved && !b.dirty, moved && !b.dirty
			case workflow.GitMoved:
				f.Holds = moved
			}
			f.Holds = f.Holds && t.Workspace != ""
			f.Text = document.Normalise(fmt.Sprintf("%s of %s, dirty %v\n", p.Git, b.commit(), b.dirty))
			f.Digest = document.Digest(f.Text)
			out[p.Key()] = f
		}
		return out, nil
	})
}

// changes has an agent change a file of its task, and commit it or not: at any time, whosever turn it is.
func (s *sim) changes(p *process, a *agent) {
	b := s.branch(a.task)
	_ = act(p, "changes the work of "+s.short(a.task), func() error {
		if b.dirty = s.dice.IntN(4) == 0; !b.dirty {
			b.tip++
		}
		return nil
	})
}

// wrote notes what a text that somebody wrote is about, if it is a passing verdict.
func (s *sim) verdict(id, text string) {
	if b := s.branch(id); strings.Contains(text, "Verdict: PASS") {
		for _, commit := range b.about {
			b.passed[commit] = true
		}
	}
}

// entered notes which commits a review is about from now on, and for which one a person stands.
func (s *sim) entered(t task.Task, e task.Event) {
	b := s.branch(t.ID)
	switch {
	case e.IsMove() && e.To == "agent-review" || e.Type == task.Created && t.Status == "agent-review":
		b.about = []string{e.Subject.Commit}
	case e.IsMove() && e.To == "reviewing" && e.Actor == task.RoleHuman:
		b.answered[e.Subject.Commit] = true
	case e.Type == task.WorkspaceReady:
		b.about = append(b.about, e.Subject.Commit)
		if t.Status == "reviewing" {
			b.answered[e.Subject.Commit] = true
		}
	}
}

// starts notes the commit that a reviewer is started on.
func (s *sim) starts(a *agent) {
	b := s.branch(a.task)
	if a.role == task.RoleReviewer && !slices.Contains(b.about, b.commit()) {
		b.about = append(b.about[:min(len(b.about), 1)], b.commit())
	}
}

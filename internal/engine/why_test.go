package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// glances are looks that start nothing.
type glances struct{ asked int }

func (g *glances) Peek(_ context.Context, _ task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	g.asked++
	out := map[string]decide.Fact{}
	for _, p := range parts {
		out[p.Key()] = decide.Fact{Source: "git " + p.Git, Holds: p.Git == workflow.GitCommitted,
			Found: "no commit of its own", Want: "commit"}
	}
	return out, nil
}

func TestWhy_namesTheTextsThatItRestsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	texts := func() string {
		e, _ := w.why(id, lives)
		var out []string
		for _, one := range e.Seen {
			out = append(out, one.Source+" "+one.Digest)
		}
		return strings.Join(out, "\n")
	}
	before := texts()
	if !strings.HasPrefix(before, "the document ") || strings.Contains(before, "git ") {
		t.Errorf("it rests on\n%s", before) // what git says of uncommitted work changes all the time
	}
	w.edit(id, "status: working", "status: done     ")
	if texts() != before {
		t.Error("the header counts as a text")
	}
	w.write(id, handoff)
	if texts() == before {
		t.Error("a new section is no new text")
	}
}

func lives(task.Task, string) (bool, error) { return true, nil }

func (w *world) why(id string, alive func(task.Task, string) (bool, error)) (decide.Explanation, string) {
	w.t.Helper()
	e, err := w.Why(w.t.Context(), id, alive)
	must(w.t, err)
	var waits []string
	for _, d := range e.Waits {
		waits = append(waits, d.Condition+": "+d.Found)
	}
	return e, strings.Join(waits, "\n")
}

func TestWhy_changesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.edit(id, "status: working", "status: done     ") // Why does not correct an edit
	w.write(id, handoff)
	before := w.everything()
	e, waits := w.why(id, lives)
	if w.everything() != before {
		t.Error("a look has changed the record or a file")
	}
	wantText(t, "waits", waits, "the worker: it is at work")
	for _, way := range e.Ways {
		if way.To == "agent-review" && !way.Open {
			t.Errorf("the handoff is there: %+v", way)
		}
	}
	w.edit(id, "status: done     ", "status: working")
}

func TestWhy_peeksAtEvidenceOutsideOfTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.rewire(func(p *engine.Ports) { p.Rules = gated{p.Rules} })
	g := &glances{}
	w.rewire(func(p *engine.Ports) { p.Peek = g.Peek })
	e, err := w.Why(t.Context(), id, lives)
	must(t, err)
	if g.asked != 1 || len(e.Ways) == 0 {
		t.Fatalf("asked %d times: %+v", g.asked, e)
	}
	for _, way := range e.Ways {
		if way.To == "done" && (way.Open || len(way.Details) != 1 || way.Details[0].Found != "no commit of its own") {
			t.Errorf("%+v", way)
		}
	}
}

func TestWhy_tellsOfADeadAgentAndOfWhoHasTheWorkspaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	_, waits := w.why(id, func(task.Task, string) (bool, error) { return false, nil })
	wantText(t, "waits", waits, "the worker: it is dead")
	_, waits = w.why(id, func(task.Task, string) (bool, error) { return false, errors.New("blind") })
	wantText(t, "waits", waits, "the worker: whether it lives is unknown")
	if _, err := w.Why(t.Context(), "nobody", lives); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the error is %v", err)
	}
	w.create("two", true)
	third := w.create("three", true).Task.ID
	if _, waits := w.why(third, lives); !strings.Contains(waits, "a free workspace") ||
		!strings.Contains(waits, "the workspace garden--1: task "+id+" has it") {
		t.Errorf("it waits for %q", waits)
	}
	w.performer.fails[action.SpawnReviewer] = errPerformer
	w.write(id, handoff)
	_, err := w.ask(id, "agent-review", worker)
	must(t, err)
	w.clock.pass(time.Second)
	if _, waits := w.why(id, lives); !strings.Contains(waits, "the hook spawn_reviewer: it failed: ") ||
		!strings.Contains(waits, "a person's attention: hook spawn_reviewer") {
		t.Errorf("it waits for %q", waits)
	}
}

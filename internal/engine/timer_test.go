package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// limited are rules whose statuses should take a hundred seconds, and lead somewhere when they take too long.
type limited struct {
	engine.Rules
	then task.Status
	gate []workflow.Part // of every edge that leads there, instead of its own
}

func (l limited) Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	def, err := l.Rules.Pinned(ctx, ref)
	if err != nil {
		return nil, err
	}
	own := *def
	own.States = slices.Clone(def.States)
	for i := range own.States {
		own.States[i].Timeout = workflow.Timeout{After: 100, Then: l.then}
	}
	own.Transitions = slices.Clone(def.Transitions)
	for i := range own.Transitions {
		if edge := &own.Transitions[i]; l.gate != nil && edge.To == l.then {
			edge.Gate = l.gate
		}
	}
	return &own, nil
}

// limit gives every status of the world a timeout.
func (w *world) limit(then task.Status) {
	w.rewire(func(p *engine.Ports) { p.Rules = limited{Rules: p.Rules, then: then} })
}

func (w *world) late(id string) (time.Time, string) {
	w.t.Helper()
	next, message, err := w.Timeouts(w.t.Context(), id)
	must(w.t, err)
	return next, message
}

// types are the types of a task's events about its time, and its moves.
func (w *world) types(id string) string {
	w.t.Helper()
	var out []string
	for _, e := range w.events(id, "") {
		if strings.HasPrefix(e.Type, "timeout.") || e.IsMove() {
			out = append(out, e.Type)
		}
	}
	return strings.Join(out, " ")
}

func TestTimeouts_areReportedOnceEachAsTimePasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("")
	id := w.create("one", false).Task.ID
	entered := w.task(id).EnteredAt
	for _, step := range []struct {
		pass time.Duration
		says string
		all  string
		next time.Duration
	}{
		{0, "", "", 80 * time.Second},
		{81 * time.Second, "should be no longer than 1m40s", "timeout.warning", 100 * time.Second},
		{time.Second, "", "timeout.warning", 100 * time.Second},
		{20 * time.Second, "its time is over", "timeout.warning timeout.alert", 150 * time.Second},
		{-time.Minute, "", "timeout.warning timeout.alert", 150 * time.Second}, // the clock is set back
		{2 * time.Minute, "long over", "timeout.warning timeout.alert timeout.escalated", 0},
		{time.Hour, "", "timeout.warning timeout.alert timeout.escalated", 0},
	} {
		w.clock.pass(step.pass)
		next, message := w.late(id)
		if (message == "") != (step.says == "") || !strings.Contains(message, step.says) || w.types(id) != step.all {
			t.Errorf("after %s it told %q, and the history has %s", step.pass, message, w.types(id))
		}
		if want := entered.Add(step.next); step.next == 0 && !next.IsZero() || step.next > 0 && !next.Equal(want) {
			t.Errorf("the next look is at %s, want %s", next, want)
		}
	}
	if differs, err := w.files.Differs(w.task(id), w.lines(id)); err != nil || len(differs) > 0 {
		t.Errorf("its mirrors differ: %v, %v", differs, err)
	}
	if _, message := w.late("nobody"); message != "" {
		t.Errorf("of nobody it is told %q", message)
	}
}

func TestTimeouts_beginAgainWithEachStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("")
	id := w.reach("planning")
	w.clock.pass(81 * time.Second)
	w.late(id)
	w.write(id, plan)
	w.move(id, "working", worker)
	if w.task(id).Overdue != 0 {
		t.Error("the new status begins late")
	}
	if _, message := w.late(id); message != "" {
		t.Errorf("it told %q", message)
	}
	w.clock.pass(81 * time.Second)
	if _, message := w.late(id); !strings.Contains(message, `"working"`) {
		t.Errorf("it told %q", message)
	}
}

func TestTimeouts_followTheProjectsWordOverTheWorkflows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("")
	id := w.create("one", false).Task.ID
	w.repository.project.Timeouts = map[string]string{"pending": "none"}
	w.clock.pass(time.Hour)
	if next, message := w.late(id); message != "" || !next.IsZero() {
		t.Errorf("it told %q, next %s", message, next)
	}
	w.repository.project.Timeouts["pending"] = "2h"
	if next, message := w.late(id); message != "" || !next.Equal(w.task(id).EnteredAt.Add(96*time.Minute)) {
		t.Errorf("it told %q, next %s", message, next)
	}
	w.repository.project.Timeouts["pending"] = "soon"
	if _, _, err := w.Timeouts(t.Context(), id); !errors.Is(err, task.ErrUsage) {
		t.Errorf("the error is %v", err)
	}
}

func TestTimeouts_moveTheTaskWhereTheWorkflowWantsThat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("cancelled")
	id := w.reach("planning")
	w.clock.pass(150 * time.Second)
	next, message := w.late(id)
	one := w.task(id)
	if one.Status != "cancelled" || one.Overdue != 0 || !next.IsZero() ||
		!strings.HasSuffix(message, `it was moved to "cancelled"`) {
		t.Errorf("it is %+v; told %q, next %s", one, message, next)
	}
	wantText(t, "history", w.types(id), "status.changed timeout.warning timeout.alert timeout.escalated auto.advanced")
	if !strings.HasPrefix(w.performer.done(), "kill_session release_workspace") {
		t.Errorf("the hooks were %s", w.performer.done())
	}
}

func TestTimeouts_noteAMoveThatIsRefused(t *testing.T) {
	t.Parallel()
	for to, why := range map[task.Status]string{"working": "## Plan", "reviewing": "no such transition"} {
		w := newWorld(t)
		w.limit(to)
		id := w.reach("planning")
		w.clock.pass(150 * time.Second)
		_, message := w.late(id)
		last := w.events(id, history.TimeoutEscalated)
		if one := w.task(id); one.Status != "planning" || one.Overdue != 150 || len(last) != 1 ||
			!strings.Contains(last[0].Data["refused"], why) || !strings.Contains(message, "could not be moved") {
			t.Errorf("to %s: it is %+v; told %q, %+v", to, one, message, last)
		}
		w.write(id, plan)
		w.clock.pass(time.Hour)
		if _, message := w.late(id); message != "" || w.task(id).Status != "planning" {
			t.Errorf("to %s: asked a second time, it told %q", to, message)
		}
	}
}

func TestTimeouts_noteAMoveThatHasNoWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("planning")
	w.repository.project.PoolSize = 1
	w.reach("planning")
	id := w.create("two", false).Task.ID
	w.clock.pass(150 * time.Second)
	if _, message := w.late(id); !strings.Contains(message, "no workspace is free") || w.task(id).Status != "pending" {
		t.Errorf("it told %q, and is %s", message, w.task(id).Status)
	}
	if _, message := w.late(id); message != "" {
		t.Errorf("asked a second time, it told %q", message)
	}
}

func TestTimeouts_ofATaskThatWaitsForAWorkspaceCountToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("")
	w.repository.project.PoolSize = 1
	w.reach("planning")
	id := w.create("two", true).Task.ID
	before := w.task(id)
	w.clock.pass(100 * time.Second)
	_, message := w.late(id)
	if after := w.task(id); !after.Queued() || message == "" || after.Overdue != 100 ||
		!after.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("it told %q of %+v", message, after)
	}
}

func TestTimeouts_areReportedByOneOfManyMonitors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("cancelled")
	id := w.reach("planning")
	for _, pass := range []time.Duration{81 * time.Second, 20 * time.Second, 50 * time.Second} {
		w.clock.pass(pass)
		var mu sync.Mutex
		var heard []string
		w.many(4, func(program *world) error {
			program.limit("cancelled")
			_, message, err := program.Timeouts(t.Context(), id)
			mu.Lock()
			defer mu.Unlock()
			if message != "" {
				heard = append(heard, message)
			}
			return err
		})
		if len(heard) != 1 || heard[0] == "" {
			t.Errorf("after %s it was told %q", pass, heard)
		}
	}
	wantText(t, "history", w.types(id), "status.changed timeout.warning timeout.alert timeout.escalated auto.advanced")
}

func TestTimeouts_countAgainAfterAClockWasFarAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("")
	id := w.create("one", false).Task.ID
	w.clock.pass(-1000 * time.Hour)
	next, message := w.late(id)
	if at := w.task(id).EnteredAt; message != "" || !next.Equal(at.Add(80*time.Second)) ||
		next.After(w.clock.Now().Add(81*time.Second)) {
		t.Errorf("it told %q, next %s, entered %s", message, next, at)
	}
	w.clock.pass(81 * time.Second)
	if _, message := w.late(id); message == "" {
		t.Error("it was lost")
	}
}

// slowFacts has its answer only after a while.
type slowFacts struct{ pending int }

func (s *slowFacts) Look(_ context.Context, _ task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	s.pending--
	return map[string]decide.Fact{
		parts[0].Key(): {Holds: s.pending < 0, Pending: s.pending >= 0, Source: "check tests"}}, nil
}

func TestTimeouts_waitForEvidenceThatIsBeingFoundOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rewire(func(p *engine.Ports) { p.Facts = (&slowFacts{pending: 2}).Look })
	w.rewire(func(p *engine.Ports) {
		p.Rules = limited{p.Rules, "cancelled", []workflow.Part{{Check: "tests", Result: workflow.CheckPassed}}}
	})
	id := w.reach("planning")
	w.clock.pass(150 * time.Second)
	for range 2 {
		next, message := w.late(id)
		if wait := next.Sub(w.clock.Now()); message != "" || w.task(id).Status != "planning" || wait <= 0 ||
			wait > time.Second {
			t.Errorf("it told %q, and asks again after %s", message, wait)
		}
	}
	if _, message := w.late(id); w.task(id).Status != "cancelled" || message == "" {
		t.Errorf("it told %q, and is %q", message, w.task(id).Status)
	}
	wantText(t, "history", w.types(id), "status.changed timeout.warning timeout.alert timeout.escalated auto.advanced")
}

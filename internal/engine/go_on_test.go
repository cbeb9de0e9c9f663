package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// agentsAtLimit are agents that are at their limit until a time.
type agentsAtLimit struct {
	fakeAgents
	until time.Time
}

func (w *agentsAtLimit) Limit(_ task.Task, death task.Death, _ []history.Event, _ time.Time) (task.Limit, error) {
	return task.Limit{Line: death.LastWords, Provider: "acme", Until: w.until}, nil
}

func TestGoOn_isTypedWhenTheLimitIsOverAndCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	since := w.clock.Now()
	until := since.Add(time.Hour).Truncate(time.Millisecond)
	rest := record.Rest{Role: "worker", Harness: "own", Provider: "acme", Line: "limit reached", Since: since,
		Until: until}
	v := &voice{unsafe: []error{&tmux.NotSafe{Reason: tmux.DialogOpen}}}
	w.rewire(func(p *engine.Ports) { p.Agents = v })
	goOn := func() time.Time {
		again, err := w.GoOn(t.Context(), id, rest)
		must(t, err)
		return again
	}
	if again := goOn(); !again.Equal(until) || len(v.typed) != 0 {
		t.Fatalf("before the limit is over: again at %v, typed %q", again, v.typed)
	}
	w.clock.pass(2 * time.Hour)
	if again := goOn(); !again.After(until) || len(v.typed) != 0 || len(w.events(id, history.AgentNotified)) != 0 {
		t.Fatalf("at a dialog: again at %v, typed %q", again, v.typed)
	}
	for n := 1; n <= record.MostLimits+1; n++ {
		if again := goOn(); !again.IsZero() {
			t.Errorf("time %d: again at %v", n, again)
		}
	}
	told := w.events(id, history.AgentNotified)
	if len(v.typed) != record.MostLimits || len(told) != record.MostLimits ||
		!strings.HasPrefix(v.typed[0], "worker own The limit of your provider") {
		t.Errorf("it was typed %d times: %q; on record are %d", len(v.typed), v.typed, len(told))
	}
	if got := w.task(id); got.Status != "working" || got.Counters.Get(record.LimitCount) != record.MostLimits {
		t.Errorf("the task is %+v", got)
	}
	w.edit(id, "## Plan", "## Plan\n\nA new text.\n")
	if goOn(); len(v.typed) != record.MostLimits+1 {
		t.Error("after a new text the agent is not told to go on")
	}
	if _, err := w.GoOn(t.Context(), "none", rest); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("a task that is not there: %v", err)
	}
	lost := &voice{unsafe: []error{task.ErrNotFound}}
	w.edit(id, "A new text", "Another new text")
	w.rewire(func(p *engine.Ports) { p.Agents = lost })
	if _, err := w.GoOn(t.Context(), id, rest); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("an agent that is not there: %v", err)
	}
}

func TestDied_atALimitIsNoCrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	until := w.clock.Now().Add(3 * time.Hour).Truncate(time.Millisecond)
	w.rewire(func(p *engine.Ports) { p.Agents = &agentsAtLimit{until: until} })
	seats, err := w.store.OpenSeats(t.Context(), id)
	must(t, err)
	out, err := w.Died(t.Context(), task.Death{Task: id, Role: "worker", Hook: seats[0].Hook,
		Ending: task.Ending{Known: true, Status: 1}})
	must(t, err)
	if end := w.events(id, history.AgentLimited); len(end) != 1 || !strings.HasPrefix(out.Asks, "limit until ") {
		t.Fatalf("the events are %v, people hear %q", end, out.Asks)
	}
	if again, err := w.RespawnDead(t.Context(), id); err != nil || !again.Equal(until) {
		t.Errorf("it starts again at %v: %v", again, err)
	}
	w.clock.pass(4 * time.Hour)
	if again, err := w.RespawnDead(t.Context(), id); err != nil || !again.IsZero() ||
		len(w.events(id, history.AgentRespawned)) != 1 || w.task(id).Attention != "" {
		t.Errorf("after the limit: %v, %v, the task is %+v", again, err, w.task(id))
	}
}

package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Defect: a worker that repeated its Handoff was refused 1,056 times in 19 minutes, and its task looked healthy.
func TestAnOftenRefusedAgent_needsAPersonAndGetsSlowAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var held []time.Duration
	w.rewire(func(p *engine.Ports) {
		p.HoldBack = func(_ context.Context, wait time.Duration) { held = append(held, wait) }
	})
	id := w.reach("working")
	refuse := func(actor task.Actor) string {
		t.Helper()
		_, err := w.Request(t.Context(), task.Request{Task: id, To: "agent-review", Actor: actor})
		no, is := errors.AsType[*rejection.Rejection](err)
		if !is {
			t.Fatalf("it is answered with %v", err)
		}
		return no.Error()
	}
	for range 6 { // a person's and a rule's do not count
		_ = refuse(human)
	}
	for n := 1; n <= 10; n++ {
		no := refuse(worker)
		if told := strings.Contains(no, "a person has been asked to look: this was refused "); told != (n >= 5) {
			t.Errorf("refusal %d: %s", n, no)
		}
		mark := w.task(id).Attention
		want := map[bool]string{false: "", true: "refused 5 times: agent-review: Handoff"}[n >= 5]
		if n == 10 {
			want = "refused 10 times: agent-review: Handoff"
		}
		if !strings.HasPrefix(mark, want) || (mark == "") != (want == "") {
			t.Errorf("after %d the mark is %q", n, mark)
		}
	}
	if len(held) != 1 || held[0] <= 0 || held[0] > time.Minute {
		t.Errorf("answers were held back for %v", held)
	}
	told := len(w.events(id, history.AgentRefused))
	if told != 2 {
		t.Errorf("the history has %d events of 10 refusals, want 2", told)
	}
}

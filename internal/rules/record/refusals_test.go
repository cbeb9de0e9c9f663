package record_test

import (
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Defect: an agent that a gate refused forever looked healthy, and nothing counted how often.
func TestRefusals_areThoseOfAStay(t *testing.T) {
	t.Parallel()
	then := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	at := task.Task{ID: "T", Status: "working", EnteredAt: then, Live: true}
	var r record.Refusals
	refuse := func(in task.Task, reason string, now time.Time) { r = r.Again(in, reason, now) }
	refuse(at, "no section", then)
	if r.Count != 1 || r.Same != 1 || r.Reason != "no section" {
		t.Errorf("after one: %+v", r)
	}
	if refuse(at, "no section", then); r.Count != 2 || r.Same != 2 {
		t.Errorf("after an equal one: %+v", r)
	}
	if refuse(at, "as before", then); r.Count != 3 || r.Same != 1 {
		t.Errorf("after one for another reason: %+v", r)
	}
	again := at
	again.EnteredAt = then.Add(time.Second)
	if refuse(again, "as before", then); r.Count != 1 || r.Same != 1 {
		t.Errorf("in the next stay: %+v", r)
	}
	other := again
	other.Status = "planning"
	if refuse(other, "as before", then); r.Count != 1 || r.Status != "planning" {
		t.Errorf("in another status: %+v", r)
	}
	r.Told = 1
	if refuse(other, "as before", then); r.Count != 2 || r.Told != 1 {
		t.Errorf("while a person is asked to look: %+v", r)
	}
}

func TestRefusals_delayAnswersToAnAgentThatAsksInALoop(t *testing.T) {
	t.Parallel()
	then := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	at := task.Task{ID: "T", Status: "working", EnteredAt: then, Live: true}
	var r record.Refusals
	for n := range 12 {
		now := then.Add(time.Duration(n) * time.Second)
		r = r.Again(at, "none", now)
		want := time.Duration(0)
		if n >= 9 {
			want = then.Add(time.Minute).Sub(now)
		}
		if got := r.Wait(now); got != want {
			t.Errorf("refusal %d waits %s, want %s", n+1, got, want)
		}
	}
	later := then.Add(time.Minute)
	if r = r.Again(at, "none", later); r.Wait(later) != 0 || r.Same != 13 {
		t.Errorf("a minute later: %+v", r)
	}
	for range 9 {
		r = r.Again(at, "none", later)
	}
	if got := r.Wait(later); got != time.Minute {
		t.Errorf("the tenth of the next minute waits %s", got)
	}
	r.Within = 10
	before := then.Add(-time.Hour) // the clock was set back
	if got := r.Wait(before); got != time.Minute {
		t.Errorf("under a clock that was set back it waits %s", got)
	}
	if r = r.Again(at, "none", before); r.Wait(before) != 0 {
		t.Errorf("the next one under a clock that was set back: %+v", r)
	}
	r.Within = 10
	if r = r.Again(at, "others", before); r.Wait(before) != 0 {
		t.Errorf("for another reason: %+v", r)
	}
}

package idempotency_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

var asker = task.Actor{Role: task.RoleHuman, Person: "Ada", Key: "k", Asked: idempotency.Digest("next")}

// told is a history of events that were asked for by these actors, one each.
func told(t *testing.T, events ...history.Event) []history.Event {
	t.Helper()
	prev := ""
	for i := range events {
		sealed, err := history.Seal(events[i], i+1, prev)
		if err != nil {
			t.Fatal(err)
		}
		events[i], prev = sealed, sealed.Hash
	}
	return events
}

func born() history.Event {
	return history.Event{Type: history.Created, Data: map[string]string{"status": "planning", "summary": "one"}}
}

func move(from, to task.Status) history.Event {
	return history.Event{Type: history.StatusChanged, From: from, To: to}
}

func TestCheck_takesWhatScriptsAndMachinesMake(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"k", "A.b_c-9", strings.Repeat("x", idempotency.MostOfKey)} {
		if err := idempotency.Check(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", "a b", "a/b", "ä", "a\n", strings.Repeat("x", idempotency.MostOfKey+1), "a\x00b"} {
		if err := idempotency.Check(key); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q is taken: %v", key, err)
		}
	}
}

func TestCheckID_takesWhatNewIDMakes(t *testing.T) {
	t.Parallel()
	id, err := idempotency.ID("k")
	if err != nil || idempotency.CheckID(id) != nil {
		t.Errorf("%q: %v, %v", id, err, idempotency.CheckID(id))
	}
	if other, _ := idempotency.ID("k2"); other == id {
		t.Error("two keys lead to one task")
	}
	for _, wrong := range []string{"", "short", strings.Repeat("a", task.IDLength-1) + "-", "../" + id[3:]} {
		if err := idempotency.CheckID(wrong); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q is taken: %v", wrong, err)
		}
	}
}

func TestDigest_tellsRequestsApart(t *testing.T) {
	t.Parallel()
	one := idempotency.Digest("a")
	if idempotency.Digest("a b") == idempotency.Digest("a", "b") || idempotency.Digest("a", "") == one {
		t.Error("two requests have one digest, or one has two")
	}
}

func TestFind_tellsWhatTheKeyCameTo(t *testing.T) {
	t.Parallel()
	other := asker
	other.Key = "another"
	events := told(t, born(), history.Sign(other, move("planning", "working")),
		history.Sign(asker, history.Event{Type: history.MergeBegun}),
		history.Sign(asker, history.Event{Type: history.Merged, Reason: "squashed"}))
	a, err := idempotency.Find(events, asker, nil)
	if err != nil || a.Found || a.How() != "squashed" {
		t.Errorf("a merge that was cut short is %+v, %v", a, err)
	}
	events = told(t, append(events, history.Sign(asker, move("working", "done")))...)
	a, err = idempotency.Find(events, asker, nil)
	if err != nil || !a.Found || a.Event.Seq != 5 || a.How() != "squashed" {
		t.Errorf("the merge is %+v, %v", a, err)
	}
	if a, err := idempotency.Find(events, task.Actor{}, nil); err != nil || a.Found || len(a.Steps) > 0 {
		t.Errorf("without a key there is %+v, %v", a, err)
	}
	reused := asker
	reused.Asked = idempotency.Digest("redo")
	if _, err := idempotency.Find(events, reused, nil); !errors.Is(err, idempotency.ErrReused) ||
		!strings.Contains(err.Error(), "event 3") {
		t.Errorf("another request under the key: %v", err)
	}
}

func TestFind_tellsWhatACallCameTo(t *testing.T) {
	t.Parallel()
	events := told(t, born(), move("planning", "working"), history.Event{Type: history.MergeBegun},
		history.Event{Type: history.Merged, Reason: "squashed"}, move("working", "done"))
	if a, err := idempotency.Find(events, task.Actor{}, []int{3, 4}); err != nil || a.Found || a.How() != "squashed" {
		t.Errorf("a merge that broke off is %+v, %v", a, err)
	}
	a, err := idempotency.Find(events, task.Actor{}, []int{3, 4, 5})
	if err != nil || !a.Found || a.Event.Seq != 5 {
		t.Errorf("the merge is %+v, %v", a, err)
	}
	if a, err := idempotency.Find(events, asker, []int{2}); err != nil || a.Found {
		t.Errorf("with a key the number of the call counts: %+v, %v", a, err)
	}
}

func TestNothing_keepsTheKeyAndChangesNothingElse(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	s := record.Snapshot{Task: task.Task{Status: "working", Version: 7, Counters: task.Counters{}.With("questions", 2)}}
	c := idempotency.Nothing(s, asker, "", now)
	key, asked := c.Events[0].Asked()
	if c.Expect != 7 || c.Task.Counters.Get("questions") != 2 || c.Task.Status != "working" || key != "k" ||
		!c.Task.UpdatedAt.Equal(now) ||
		asked != asker.Asked || c.Events[0].Person != "Ada" || len(c.Events[0].Counters) > 0 {
		t.Errorf("the change is %+v", c)
	}
	if err := (idempotency.Earlier{Found: true, Event: c.Events[0]}).Failed(); err != nil {
		t.Errorf("it failed with %v", err)
	}
	c = idempotency.Nothing(s, asker, "not heard", now)
	a := idempotency.Earlier{Found: true, Event: c.Events[0]}
	if err := a.Failed(); err == nil || err.Error() != "not heard" {
		t.Errorf("it failed with %v", err)
	}
}

func TestTask_isAsTheAnswerHadIt(t *testing.T) {
	t.Parallel()
	renamed := history.Event{Type: history.Updated, Data: map[string]string{"summary": "two"}}
	events := told(t, born(), history.Sign(asker, move("planning", "working")), renamed, move("working", "done"),
		history.Event{Type: history.Updated, Data: map[string]string{"summary": "three"}})
	a, err := idempotency.Find(events, asker, nil)
	if err != nil {
		t.Fatal(err)
	}
	live := func(s task.Status) bool { return s != "done" }
	now := task.Task{ID: "id", Status: "done", Summary: "three", Attention: "look"}
	then, err := a.Task(events, now, live)
	if err != nil || then.Status != "working" || then.Summary != "two" || !then.Live || then.Previous != "planning" ||
		then.ID != "id" || then.Attention != "" {
		t.Errorf("then it was %+v, %v", then, err)
	}
	if same, err := a.Task(events[:3], now, live); err != nil || same.Attention != "look" {
		t.Errorf("it has not moved on: %+v, %v", same, err)
	}
	if _, err := a.Task(append([]history.Event{renamed}, events[1:]...), now, live); err == nil {
		t.Error("a history without its begin tells what the task was")
	}
}

func TestLock_isOneOfAFew(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for i := range 200 {
		names[idempotency.Lock("id", strings.Repeat("k", i+1))] = true
	}
	if len(names) != 16 {
		t.Errorf("there are %d locks", len(names))
	}
}

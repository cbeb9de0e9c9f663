package fencing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/task"
)

// lived is a history of three events, the second one asked for under the key k1.
func lived(t *testing.T) []history.Event {
	t.Helper()
	events := []history.Event{{Type: history.Created, Workflow: "w1"},
		history.Sign(task.Actor{Role: task.RoleHuman, Key: "k1", Asked: idempotency.Digest("next")},
			history.Event{Type: history.StatusChanged, From: "a", To: "b"}),
		{Type: history.Updated}}
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

func TestNext_isALaterEpochThanThatOfTheSnapshot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ order, snapshot, want int }{{0, 1, 2}, {2, 1, 2}, {7, 1, 7}, {1, 1, 0}, {2, 3, 0}} {
		got, err := fencing.RestoreOrder{Epoch: c.order}.Next("T1", c.snapshot)
		if got != c.want || (err != nil) != (c.want == 0) || err != nil && !errors.Is(err, fencing.ErrUnexpected) {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
}

func TestFits_takesOnlyTheHistoryThatTheFleetKnows(t *testing.T) {
	t.Parallel()
	events := lived(t)
	migrated := append(lived(t), history.Event{Type: history.WorkflowMigrated})
	for name, c := range map[string]struct {
		order  fencing.RestoreOrder
		signed string
		events []history.Event
		says   string // why it is refused
		notes  string
	}{
		"nothing is known": {events: events},
		"the very history": {fencing.RestoreOrder{Event: 3, Hash: events[2].Hash}, "", events, "", ""},
		"a longer one":     {fencing.RestoreOrder{Event: 2, Hash: events[1].Hash}, "", events, "", ""},
		"an older one": {fencing.RestoreOrder{Event: 5, Hash: "x", Host: "h1"}, "", events, "",
			"ends with event 3, and the fleet has heard of event 5: what came between is lost with h1"},
		"another one": {fencing.RestoreOrder{Event: 2, Hash: events[2].Hash}, "", events,
			"event 2 in its snapshot is not the one", ""},
		"another last one": {fencing.RestoreOrder{Event: 3, Hash: events[1].Hash}, "", events,
			"event 3 in its snapshot is not the one", ""},
		"none":         {fencing.RestoreOrder{}, "", nil, "has no history", ""},
		"its workflow": {fencing.RestoreOrder{Workflow: "w1"}, "", events, "", ""},
		"another workflow": {fencing.RestoreOrder{Workflow: "w2"}, "", events,
			"created under the workflow w1, and not under w2", ""},
		"a migrated one": {fencing.RestoreOrder{Workflow: "w1"}, "", migrated, "", "it was migrated"},
		"of its host":    {fencing.RestoreOrder{Host: "h1"}, "h1", events, "", ""},
		"of another host": {fencing.RestoreOrder{Host: "h1"}, "h2", events,
			`signed by "h2", and "h1" had the task`, ""},
		"where no one signs":   {fencing.RestoreOrder{Host: "h1"}, "", events, "", ""},
		"by whom is no matter": {fencing.RestoreOrder{}, "h2", events, "", ""},
	} {
		notes, err := c.order.Fits("T1", c.signed, c.events)
		if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, fencing.ErrUnexpected) ||
			!strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(notes, "; "); (got == "") != (c.notes == "") || !strings.Contains(got, c.notes) {
			t.Errorf("%s: the notes are %q", name, got)
		}
	}
}

// Defect: where a home brought a task back and its answer did not arrive, its snapshot was refused: it is not signed by
// the host that had the task, and what the fleet had heard of was lost with that one.
func TestFitsBehind_acceptsHistoryOfAHomeThatRestoredTheTask(t *testing.T) {
	t.Parallel()
	events := lived(t)
	had := events[:2]
	for name, c := range map[string]struct {
		order fencing.RestoreOrder
		had   []history.Event
		says  string
		notes string
	}{
		"nothing is known":              {had: had},
		"the last of the host":          {order: fencing.RestoreOrder{Event: 2, Hash: events[1].Hash}, had: had},
		"an event that is lost with it": {fencing.RestoreOrder{Event: 3, Hash: "x"}, had, "", "with h1"},
		"another event": {fencing.RestoreOrder{Event: 1, Hash: "x"}, had, "event 1 in its snapshot is not the one",
			""},
		"another history": {had: []history.Event{{Hash: "x"}}, says: `does not go on from the last one of "h1"`},
		"no more":         {had: events},
		"a longer one":    {had: append(lived(t), history.Event{}), says: "does not go on"},
		"none":            {says: "does not go on"},
	} {
		c.order.Host = "h1"
		notes, err := c.order.FitsBehind("T1", c.had, events)
		if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, fencing.ErrUnexpected) ||
			!strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(notes, "; "); (got == "") != (c.notes == "") || !strings.Contains(got, c.notes) {
			t.Errorf("%s: the notes are %q", name, got)
		}
	}
	o := fencing.RestoreOrder{Host: "h1", Since: []string{"h1", "h2", ""}}
	for host, passed := range map[string]bool{"": false, "h1": false, "h2": true, "h3": false} {
		if o.Passed(host) != passed {
			t.Errorf("%q: %t", host, !passed)
		}
	}
	if (fencing.RestoreOrder{Since: []string{"h2"}}).Passed("h2") {
		t.Error("it is behind that of a host which is not known")
	}
}

func TestBrought_saysHowATaskCameAndWhoWantedIt(t *testing.T) {
	t.Parallel()
	lost := history.Event{Type: history.Rebuilt, Actor: task.ActorEngine, Reason: "the record was lost"}
	e := fencing.RestoreOrder{Person: "Ada"}.Brought(lost, 3)
	if e.Person != "" || strings.Contains(e.Reason, "lost") || !strings.Contains(e.Reason, "in epoch 3") {
		t.Errorf("without a reason: %+v", e)
	}
	e = fencing.RestoreOrder{Person: "Ada", Reason: "it burnt down"}.Brought(lost, 3)
	if e.Person != "Ada" || e.Actor != task.ActorEngine ||
		!strings.HasPrefix(e.Reason, "it burnt down; it came to this home") {
		t.Errorf("with a reason: %+v", e)
	}
	other := history.Event{Type: history.Updated, Reason: "x"}
	e = fencing.RestoreOrder{Person: "Ada", Signed: "text", Signature: "s"}.Brought(lost, 3)
	if text, signature := e.Proof(); e.Person != "Ada" || e.Actor != lost.Actor || text != "text" || signature != "s" {
		t.Errorf("what a person has signed: %+v", e)
	}
	if e := (fencing.RestoreOrder{Reason: "why"}).Brought(other, 3); e.Reason != "x" {
		t.Errorf("another event: %+v", e)
	}
}

func TestCheck_refusesWhatIsNoOrder(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]fencing.RestoreOrder{"an epoch": {Epoch: -1}, "an event": {Event: -1},
		"a hash of no event": {Hash: "x"}, "a key": {Keys: []string{"a b"}}} {
		if err := o.Check(); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, good := range []fencing.RestoreOrder{{}, {Epoch: 2, Event: 1, Hash: "x", Keys: []string{"k"}}} {
		if err := good.Check(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}

func TestLost_namesWhatWasAcknowledgedAndIsNotThere(t *testing.T) {
	t.Parallel()
	events, now := lived(t), time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	o := fencing.RestoreOrder{Host: "h1", Keys: []string{"k1", "k2", "k3", "k2"}}
	lost := o.Lost(events, now)
	if len(lost) != 2 || lost[0].Type != fencing.AskLost || !lost[0].Time.Equal(now) ||
		lost[0].Reason != `the request "k2" was acknowledged, and no snapshot has it: it is lost with h1` {
		t.Fatalf("lost are %+v", lost)
	}
	o.By = map[string]string{"k3": "h0"}
	if by := o.Lost(events, now); len(by) != 2 || by[0].Data["host"] != "h1" || by[1].Data["host"] != "h0" ||
		!strings.HasSuffix(by[1].Reason, "lost with h0") {
		t.Errorf("what an earlier host had acknowledged is lost as %+v", by)
	}
	if key, _ := lost[0].Asked(); key != "" {
		t.Errorf("the event answers the request %q", key)
	}
	events = append(events, lost...)
	if again := o.Lost(events, now); len(again) > 0 {
		t.Errorf("they are named twice: %+v", again)
	}
	if keys := o.LostKeys(events); strings.Join(keys, " ") != "k2 k3" {
		t.Errorf("lost are %q", keys)
	}
	still := fencing.StillLost(events)
	if len(still) != 2 || still[0] != (fencing.LostKey{Key: "k2", Host: "h1"}) {
		t.Errorf("still lost are %+v", still)
	}
	events = append(events, history.Sign(task.Actor{Role: task.RoleHuman, Key: "k2", Asked: "x"},
		history.Event{Type: history.Updated}))
	if still := fencing.StillLost(events); len(still) != 1 || still[0].Key != "k3" {
		t.Errorf("after k2 was made again, still lost are %+v", still)
	}
	if keys := o.LostKeys(events); strings.Join(keys, " ") != "k3" {
		t.Errorf("after k2 was made again, lost are %q", keys)
	}
}

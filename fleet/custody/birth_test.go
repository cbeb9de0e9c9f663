package custody_test

import (
	"errors"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

// birthReply is a host's answer to a birth.
func birthReply(t *testing.T, s custody.State, host string, exit int) *wire.Reply {
	t.Helper()
	r := s.Birth.Ask.Request
	reply, err := sign.Reply(testkit.Key(t, host), wire.Reply{Fleet: testkit.Fleet, Host: host, Epoch: s.Epoch,
		Task: r.Task, Key: r.Key, Digest: sign.Digest(r), Done: exit == 0, Exit: exit, Output: "said"})
	testkit.Must(t, err)
	return &reply
}

func placeAt(t *testing.T, on string) custody.State {
	t.Helper()
	s, err := custody.New(testkit.Fleet, id, testkit.Birth(t, "ada", id, on, now), testkit.Trust(t), now)
	testkit.Must(t, err)
	return s.Accepted(wire.OfferAnswer{Host: "h1"}, now)
}

func TestTheAnswerToABirthIsKeptUnderItsKey(t *testing.T) {
	t.Parallel()
	s := placeAt(t, "any")
	answer := takeAnswer(t, "h1", 1, 5)
	answer.Reply = birthReply(t, s, "h1", 0)
	next, err := s.Taken(1, answer, now)
	if err != nil || next.Phase != custody.PhaseHeld || len(next.Keys) != 1 || next.Keys[0].Key != "create" {
		t.Fatalf("%s, %v, keys %+v", next.Phase, err, next.Keys)
	}
	if c := next.Summary(); c.Birth == nil || c.Birth.Output != "said" || c.Told != now.Unix() {
		t.Errorf("the summary: %+v", c)
	}
	if next.Listed().Birth != nil {
		t.Error("the list has the answer to the birth")
	}
	if keys := next.Take().Keys; len(keys) != 0 {
		t.Errorf("a new host would miss the key of the birth: %+v", keys)
	}
	forged := answer
	forged.Reply = birthReply(t, s, "h2", 0)
	forged.Reply.Host = "h1"
	var refusal *wire.Refusal
	if _, err := s.Taken(1, forged, now); !errors.As(err, &refusal) {
		t.Errorf("an answer that another host signed: %v", err)
	}
}

func TestABirthThatNoHostCanBeginIsOver(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, on string
		exit     int
		phase    custody.Phase
	}{
		{"a wrong call is wrong at every host", "any", 2, custody.PhaseEnded},
		{"another host may have the project", "any", 4, custody.PhaseWaiting},
		{"the host that was named has no project", "host:h1", 4, custody.PhaseEnded},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			s := placeAt(t, one.on)
			answer := takeAnswer(t, "h1", 1, 0)
			answer.Refused, answer.Reply = "no project", birthReply(t, s, "h1", one.exit)
			s, err := s.Taken(1, answer, now)
			if err != nil || s.Phase != one.phase {
				t.Fatalf("%s, want %s, %v", s.Phase, one.phase, err)
			}
			c := s.Summary()
			if (c.Birth != nil) != (one.phase == custody.PhaseEnded) || len(c.Because) != 1 || c.Because[0] != "no "+
				"project" {
				t.Errorf("the summary: %+v", c)
			}
			if c.Row.Project != "web" || c.Row.Summary != "one" {
				t.Errorf("the row of what no host has reported: %+v", c.Row)
			}
		})
	}
}

// After a rescue the task exists: a host that cannot take it is no end.
func TestARescuedTaskWaitsForAnotherHostWhereOneRefusesIt(t *testing.T) {
	t.Parallel()
	s := rescue(t, heldBy(t, newCustody(t), "h1"), "h2").Accepted(wire.OfferAnswer{Host: "h2"}, now)
	answer := takeAnswer(t, "h2", 2, 0)
	answer.Refused, answer.Reply = "no snapshot", birthReply(t, s, "h2", 2)
	if s, err := s.Taken(2, answer, now); err != nil || s.Phase != custody.PhaseWaiting {
		t.Errorf("%s, %v", s.Phase, err)
	}
}

// A host that has deleted a task can report it no more.
func TestTheCustodyOfATaskThatWasDeletedIsOver(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	r := request(s, "k1")
	r.Method = wire.MethodDelete
	next, err := s.Answered(r, testkit.Reply(t, "h1", r, 7), now)
	if err != nil || next.Phase != custody.PhaseEnded {
		t.Errorf("%s, %v", next.Phase, err)
	}
	refusal := testkit.Reply(t, "h1", r, 7)
	refusal.Done = false
	if refusal, err = sign.Reply(testkit.Key(t, "h1"), refusal); err != nil {
		t.Fatal(err)
	}
	if next, err = s.Answered(r, refusal, now); err != nil || next.Phase != custody.PhaseHeld {
		t.Errorf("where the host refuses: %s, %v", next.Phase, err)
	}
}

func TestATaskThatNoHostHasHadCanBeCancelled(t *testing.T) {
	t.Parallel()
	cancel := func(s custody.State, person, method string) wire.Ask {
		return testkit.Ask(t, wire.Request{Fleet: testkit.Fleet, Task: id, Epoch: s.Epoch, Method: method,
			Person: person, Key: "k1", Expires: now.Add(time.Minute).Unix()})
	}
	waits := newCustody(t)
	next, err := waits.Cancelled(cancel(waits, "ada", "cancel"), now)
	if err != nil || next.Phase != custody.PhaseEnded || !next.Summary().Row.Over {
		t.Errorf("%s, %v", next.Phase, err)
	}
	if _, err := next.Cancelled(cancel(next, "ada", "cancel"), now); !errors.Is(err, wire.CodeOver) {
		t.Errorf("twice: %v", err)
	}
	if next, err := waits.Cancelled(cancel(waits, "h1", "cancel"), now); err == nil ||
		next.Phase != custody.PhaseWaiting {
		t.Errorf("by a host: %s, %v", next.Phase, err)
	}
	if next, err := waits.Cancelled(cancel(waits, "ada", "next"), now); err == nil ||
		next.Phase != custody.PhaseWaiting {
		t.Errorf("by another request: %s, %v", next.Phase, err)
	}
	taking := waits.Accepted(wire.OfferAnswer{Host: "h1"}, now)
	rescued := rescue(t, heldBy(t, waits, "h1"), "")
	for name, s := range map[string]custody.State{"taking": taking, "held": heldBy(t, waits, "h1"),
		"rescued": rescued} {
		if next, err := s.Cancelled(cancel(s, "ada", "cancel"), now); !errors.Is(err, wire.CodeNotHeld) ||
			next.Phase != s.Phase {
			t.Errorf("%s: %s, %v", name, next.Phase, err)
		}
	}
}

func TestARescuedTaskOfANamedHostGoesToAnyOther(t *testing.T) {
	t.Parallel()
	for on, want := range map[string]string{"host:h1": "any", "any": "any", "gpu": "gpu"} {
		s := rescue(t, heldBy(t, placeAt(t, on).NeverReached(1), "h1"), "")
		if s.Label() != want || s.Summary().On != want {
			t.Errorf("born on %q it goes to %q, the list says %q, want %q", on, s.Label(), s.Summary().On, want)
		}
	}
}

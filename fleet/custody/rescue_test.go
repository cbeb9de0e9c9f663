package custody_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

func TestSummary_isWhatTheHostHasToldOnceItHas(t *testing.T) {
	t.Parallel()
	s := newCustody(t)
	if c := s.Summary(); c.Told != 0 || c.Row.Project != "web" {
		t.Errorf("before a host has it: %+v", c)
	}
	s = heldBy(t, s, "h1")
	told := testkit.Report(t, "h1", id, 1, 2, 5, "working") // of the event that the host took it at
	told.Row.Project, told.Row.Summary = "web", "another"
	told, err := sign.Report(testkit.Key(t, "h1"), told)
	wants(t, "signing", err, nil)
	later := now.Add(time.Minute)
	s, err = s.Reported(told, later)
	wants(t, "a report of the same event", err, nil)
	if c := s.Summary(); c.Told != later.Unix() || c.Row.Summary != "another" {
		t.Errorf("after a report: %+v", c)
	}
}

func TestARescueOffersTheTaskToHostsThatRefusedItBefore(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t).Accepted(wire.OfferAnswer{Host: "h2", Unfit: "no claude"}, now), "h1")
	if c := s.Summary(); len(c.Not) > 0 || len(c.Because) > 0 {
		t.Errorf("while a host has it: %+v", c)
	}
	if s = rescue(t, s, ""); strings.Join(s.Not, " ") != "h1" {
		t.Errorf("after the rescue it goes not to %q", s.Not)
	}
	s = newCustody(t).Accepted(wire.OfferAnswer{Host: "h2", Unfit: "full"},
		now).Accepted(wire.OfferAnswer{Host: "h1"}, now)
	if s = rescue(t, s, "h2"); len(s.Not) > 0 {
		t.Errorf("from a host that does not answer to one that was full it goes not to %q", s.Not)
	}
}

func TestRescued_refusesWhatIsNotDue(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	_, err := s.Rescued(testkit.Rescue(t, "ada", id, s.Epoch+1, "", "", now))
	wants(t, "of another epoch", err, wire.CodeStaleEpoch)
}

func TestLeft_keepsTheLastRefs(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	for n := range 10 {
		s = s.Left("h2", 1, fmt.Sprintf("refs/orange/fleet/%s/lost/%d", id, n))
	}
	if all := s.Summary().Apart; len(all) != 8 || !strings.HasSuffix(all[7].Ref, "/9") {
		t.Errorf("it keeps %+v", all)
	}
}

func TestAnswered_countsWhatACommandSaidOfErrors(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	const many = wire.MostOfKept/wire.MostOfReply + 2
	for i := range many {
		r := request(s, fmt.Sprintf("k%d", i))
		reply, err := sign.Reply(testkit.Key(t, "h1"), wire.Reply{Fleet: r.Fleet, Host: r.Host, Epoch: r.Epoch,
			Task: r.Task, Key: r.Key, Digest: sign.Digest(r), Done: true, Errors: strings.Repeat("x", wire.MostOfReply),
			Head: wire.Head{Event: i + 6, Hash: "h"}})
		wants(t, "signing", err, nil)
		s, err = s.Answered(r, reply, now)
		wants(t, "keeping", err, nil)
	}
	if !s.Keys[0].Elsewhere || s.Keys[many-1].Elsewhere {
		t.Errorf("of %d answers the first is elsewhere: %t, the last: %t", many, s.Keys[0].Elsewhere,
			s.Keys[many-1].Elsewhere)
	}
}

func TestTaken_keepsTheAnswerToABirthOnce(t *testing.T) {
	t.Parallel()
	s := placeAt(t, "any")
	answer := takeAnswer(t, "h1", 1, 5)
	answer.Reply = birthReply(t, s, "h1", 0)
	s, err := s.Taken(1, answer, now)
	wants(t, "taken", err, nil)
	s = rescue(t, s, "h2").Accepted(wire.OfferAnswer{Host: "h2"}, now)
	again := takeAnswer(t, "h2", s.Epoch, 6)
	again.Reply = birthReply(t, s, "h2", 0)
	if s, err = s.Taken(s.Epoch, again, now); err != nil || len(s.Keys) != 1 {
		t.Errorf("it keeps %d answers, %v", len(s.Keys), err)
	}
}

// What no one of the fleet can have signed counts nowhere, whatever else is right.
func TestListsThatWereChangedCountNowhere(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	report := testkit.Report(t, "h1", id, 1, 2, 6, "reviewing")
	bad := s
	bad.Trust.Hosts.Text += "h9 " + testkit.Public(t, "eve") + "\n"
	if _, err := bad.Reported(report, now); err == nil {
		t.Error("a report counts by a list that was changed")
	}
	if _, err := bad.Trust.Lists(testkit.Fleet); err == nil {
		t.Error("a list of hosts that was changed is opened")
	}
	if _, err := bad.Trust.Newer(testkit.Trust(t), testkit.Fleet); err == nil {
		t.Error("a list that was changed is compared with a newer one")
	}
	nameless := s.Trust
	nameless.Authority = "none"
	if _, err := nameless.Lists(testkit.Fleet); err == nil {
		t.Error("lists are opened without the key of an authority")
	}
	people := s.Trust
	people.People = testkit.List(t, signed.OfHosts, 2, "ada")
	if _, err := people.Lists(testkit.Fleet); err == nil {
		t.Error("a list of hosts is one of people")
	}
}

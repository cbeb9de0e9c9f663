package custody_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

const id = "abc"

var now = time.Unix(1_700_000_000, 0).UTC()

func newCustody(t *testing.T) custody.State {
	t.Helper()
	s, err := custody.New(testkit.Fleet, id, testkit.Birth(t, "ada", id, "any", now), testkit.Trust(t), now)
	testkit.Must(t, err)
	return s
}

func takeAnswer(t *testing.T, host string, epoch, event int) wire.TakeAnswer {
	t.Helper()
	return wire.TakeAnswer{Report: testkit.Report(t, host, id, epoch, 1, event, "working")}
}

// heldBy is a custody that a host has under the next epoch.
func heldBy(t *testing.T, s custody.State, host string) custody.State {
	t.Helper()
	s = s.Accepted(wire.OfferAnswer{Host: host}, now)
	s, err := s.Taken(s.Epoch, takeAnswer(t, host, s.Epoch, 5), now)
	if err != nil || s.Phase != custody.PhaseHeld {
		t.Fatalf("%s: %v", s.Phase, err)
	}
	return s
}

func rescue(t *testing.T, s custody.State, to string) custody.State {
	t.Helper()
	r := testkit.Rescue(t, "ada", id, s.Epoch, to, "", now)
	due, err := s.Rescuable(r, now)
	if err != nil || !due {
		t.Fatalf("due %t, %v", due, err)
	}
	s, err = s.Rescued(r)
	testkit.Must(t, err)
	return s
}

func request(s custody.State, key string) wire.Request {
	return testkit.Request("ada", id, s.Host, s.Epoch, key, now)
}

// withAnswer is a custody after a request was done at an event.
func withAnswer(t *testing.T, s custody.State, key string, event int) custody.State {
	t.Helper()
	r := request(s, key)
	s, err := s.Answered(r, testkit.Reply(t, s.Host, r, event), now)
	testkit.Must(t, err)
	return s
}

func wants(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestNew_needsWhatAPersonSigned(t *testing.T) {
	t.Parallel()
	b := testkit.Birth(t, "ada", id, "host:h2", now)
	s, err := custody.New(testkit.Fleet, id, b, testkit.Trust(t), now)
	if err != nil || s.To != "h2" || s.Phase != custody.PhaseWaiting || s.Epoch != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if newCustody(t).To != "" {
		t.Error("a label is a host")
	}
	if _, err := custody.New(testkit.Fleet, "abd", b, testkit.Trust(t), now); err == nil {
		t.Error("another task is created")
	}
	if _, err := custody.New(testkit.Fleet, id, b, testkit.Trust(t), now.Add(time.Hour)); err == nil {
		t.Error("it is created an hour later")
	}
	b.Summary = "another"
	if _, err := custody.New(testkit.Fleet, id, b, testkit.Trust(t), now); err == nil {
		t.Error("what no one signed is created")
	}
}

func TestAccepted_givesTheTaskToOneHostUnderANewEpoch(t *testing.T) {
	t.Parallel()
	s := newCustody(t)
	unfit := s.Accepted(wire.OfferAnswer{Host: "h1", Unfit: "no claude"}, now)
	if unfit = unfit.Accepted(wire.OfferAnswer{Host: "h1", Unfit: "no claude"},
		now); unfit.Phase != custody.PhaseWaiting ||
		strings.Join(unfit.Offer().Not, " ") != "h1" || unfit.Epoch != 0 {
		t.Errorf("unfit: %+v", unfit)
	}
	if not := unfit.Again().Offer().Not; len(not) > 0 {
		t.Errorf("again: %v", not)
	}
	s = s.Accepted(wire.OfferAnswer{Host: "h1"}, now)
	if s.Phase != custody.PhaseTaking || s.Host != "h1" || s.Epoch != 1 || s.Take().Epoch != 1 {
		t.Errorf("accepted: %+v", s)
	}
	if again := s.Accepted(wire.OfferAnswer{Host: "h2"}, now); again.Host != "h1" || again.Epoch != 1 {
		t.Errorf("a second host: %+v", again)
	}
	if next := rescue(t, heldBy(t, newCustody(t), "h1"), "").Accepted(wire.OfferAnswer{Host: "h2"},
		now); next.Version != 0 {
		t.Errorf("the reports of the next host begin after %d", next.Version)
	}
	if o := newCustody(t).Offer(); o.Epoch != 1 || o.Project != "web" {
		t.Errorf("offer: %+v", o)
	}
}

// A host that was removed goes on to ask for tasks until its daemon is stopped. What it says of a take would not count.
func TestAccepted_givesNothingToAHostThatIsNotInTheList(t *testing.T) {
	t.Parallel()
	s := newCustody(t).Accepted(wire.OfferAnswer{Host: "h3"}, now)
	if s.Phase != custody.PhaseWaiting || s.Epoch != 0 || strings.Join(s.Not, " ") != "h3" ||
		!strings.Contains(strings.Join(s.Because, " "), "not in the list of hosts") {
		t.Errorf("a host that was removed: %+v", s)
	}
	retired := newCustody(t)
	ended := signed.Person{Name: "h1", Key: sign.KeyOf(testkit.Key(t, "h1").PublicKey()), Create: true, Until: now}
	list, err := sign.List(testkit.Key(t, testkit.Authority), signed.TitleOf(testkit.Fleet, signed.OfHosts, 2)+"\n"+
		ended.Line()+"\n")
	testkit.Must(t, err)
	retired.Trust.Hosts = list
	if s := retired.Accepted(wire.OfferAnswer{Host: "h1"}, now); s.Phase != custody.PhaseWaiting {
		t.Errorf("a host whose key has ended: %+v", s)
	}
	if s := retired.Accepted(wire.OfferAnswer{Host: "h1"}, now.Add(-time.Second)); s.Phase != custody.PhaseTaking {
		t.Errorf("before that: %+v", s)
	}
}

func TestNeverReached_waitsAgainUnlessATryMayHaveBeenThere(t *testing.T) {
	t.Parallel()
	s := newCustody(t).Accepted(wire.OfferAnswer{Host: "h1"}, now)
	again := s.NeverReached(1)
	if again.Phase != custody.PhaseWaiting || again.Host != "" {
		t.Errorf("never reached: %+v", again)
	}
	if next := again.Accepted(wire.OfferAnswer{Host: "h2"}, now); next.Epoch != 2 {
		t.Errorf("an epoch is used twice: %+v", next)
	}
	if other := s.NeverReached(0); other.Phase != custody.PhaseTaking {
		t.Error("an earlier take counts")
	}
	if doubt := s.Doubted(1).NeverReached(1); doubt.Phase != custody.PhaseTaking || doubt.Host != "h1" {
		t.Errorf("in doubt it is placed again: %+v", doubt)
	}
	if s.Doubted(0).Doubt || again.Doubted(1).Doubt || heldBy(t, newCustody(t), "h1").Doubted(1).Doubt {
		t.Error("an earlier take makes doubt")
	}
	if again.Accepted(wire.OfferAnswer{Host: "h2"}, now).Doubt || rescue(t, s.Doubted(1), "h2").Accepted(
		wire.OfferAnswer{Host: "h2"}, now).Doubt {
		t.Error("another host's take is in doubt")
	}
	if h := heldBy(t, newCustody(t), "h1"); h.NeverReached(1).Phase != custody.PhaseHeld {
		t.Error("a late timeout takes a task away")
	}
}

func TestTaken_countsOnlyFromTheHostUnderItsEpoch(t *testing.T) {
	t.Parallel()
	s := newCustody(t).Accepted(wire.OfferAnswer{Host: "h1"}, now)
	for what, one := range map[string]wire.TakeAnswer{
		"another host": takeAnswer(t, "h2", 1, 5), "another epoch": takeAnswer(t, "h1", 2, 5),
		"another task": {Report: testkit.Report(t, "h1", "abd", 1, 1, 5, "working")},
	} {
		if next, err := s.Taken(1, one, now); !errors.Is(err, custody.ErrDropped) || next.Phase != custody.PhaseTaking {
			t.Errorf("%s: %s, %v", what, next.Phase, err)
		}
	}
	_, err := s.Taken(2, takeAnswer(t, "h1", 1, 5), now)
	wants(t, "the answer to another take", err, custody.ErrDropped)
	forged := takeAnswer(t, "h1", 1, 5)
	forged.Report.Row.Status = "done"
	if next, err := s.Taken(1, forged, now); err == nil || next.Phase != custody.PhaseTaking {
		t.Errorf("forged: %v", err)
	}
	h, err := s.Taken(1, takeAnswer(t, "h1", 1, 5), now)
	if err != nil || h.Phase != custody.PhaseHeld || h.Row.Status != "working" || h.Version != 1 || h.Known.Event != 5 {
		t.Errorf("taken: %+v, %v", h, err)
	}
	_, err = h.Taken(1, takeAnswer(t, "h1", 1, 5), now)
	wants(t, "a second answer", err, custody.ErrDropped)
	no := takeAnswer(t, "h1", 1, 0)
	no.Refused = "no such project"
	if h, err = s.Taken(1, no, now); err != nil || h.Phase != custody.PhaseWaiting || h.Host != "" ||
		strings.Join(h.Not, "") != "h1" {
		t.Errorf("refused: %+v, %v", h, err)
	}
	over := wire.TakeAnswer{Report: testkit.Report(t, "h1", id, 1, 1, 5, "over")}
	if h, err = s.Taken(1, over, now); err != nil || h.Phase != custody.PhaseEnded {
		t.Errorf("over: %s, %v", h.Phase, err)
	}
}

// Attackers cannot (docs/proof.md): report for another host, or under a stale epoch.
func TestReported_neverGoesBack(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	report := func(host string, epoch, version, event int, status string) error {
		t.Helper()
		next, err := s.Reported(testkit.Report(t, host, id, epoch, version, event, status), now)
		if err == nil {
			s = next
		}
		return err
	}
	wants(t, "newer", report("h1", 1, 2, 6, "reviewing"), nil)
	wants(t, "the same", report("h1", 1, 2, 7, "x"), custody.ErrDropped)
	wants(t, "older", report("h1", 1, 1, 7, "x"), custody.ErrDropped)
	wants(t, "an event back", report("h1", 1, 3, 5, "x"), custody.ErrDropped)
	wants(t, "another host", report("h2", 1, 3, 7, "x"), custody.ErrDropped)
	wants(t, "a later epoch", report("h1", 2, 3, 7, "x"), custody.ErrDropped)
	forged := testkit.Report(t, "h1", id, 1, 3, 7, "done")
	forged.Row.Status = "over"
	if _, err := s.Reported(forged, now); err == nil {
		t.Error("a forged report counts")
	}
	if s.Row.Status != "reviewing" || s.Version != 2 || s.Known.Event != 6 {
		t.Errorf("the row is %+v", s.Row)
	}
	s = withAnswer(t, s, "k", 9)
	wants(t, "an event before the last answer", report("h1", 1, 3, 8, "testing"), nil)
	if s.Known.Event != 9 {
		t.Errorf("what custody knows goes back to %+v", s.Known)
	}
	s = heldBy(t, rescue(t, s, "h2"), "h2")
	wants(t, "the dead host's late report", report("h1", 1, 9, 99, "over"), custody.ErrDropped)
	wants(t, "the end", report("h2", 2, 2, 99, "over"), nil)
	if s.Phase != custody.PhaseEnded {
		t.Errorf("at the end it is %s", s.Phase)
	}
	wants(t, "after the end", report("h2", 2, 3, 100, "working"), custody.ErrDropped)
}

func TestAsked_answersARepeatAndJudgesTheRest(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	r := request(s, "k")
	if _, done, err := s.Asked(testkit.Ask(t, r), now); done || err != nil {
		t.Errorf("new: %t, %v", done, err)
	}
	s = withAnswer(t, s, "k", 6)
	reply, done, err := s.Asked(testkit.Ask(t, r), now.Add(time.Hour))
	if !done || err != nil || reply.Head.Event != 6 {
		t.Errorf("repeated: %+v, %t, %v", reply, done, err)
	}
	ask := func(change func(*wire.Request), in custody.State, at time.Time) error {
		r := request(s, "k2")
		change(&r)
		_, _, err := in.Asked(testkit.Ask(t, r), at)
		return err
	}
	none := func(*wire.Request) {}
	wants(t, "reused", ask(func(r *wire.Request) { r.Key = "k" }, s, now), wire.CodeKeyReused)
	wants(t, "another host", ask(func(r *wire.Request) { r.Host = "h2" }, s, now), wire.CodeStaleEpoch)
	wants(t, "another epoch", ask(func(r *wire.Request) { r.Epoch = 2 }, s, now), wire.CodeStaleEpoch)
	wants(t, "another task", ask(func(r *wire.Request) { r.Task = "abd" }, s, now), wire.CodeStaleEpoch)
	wants(t, "expired", ask(none, s, now.Add(5*time.Minute)), wire.CodeStaleEpoch)
	wants(t, "waiting", ask(none, newCustody(t), now), wire.CodeNotHeld)
	wants(t, "taking", ask(none, newCustody(t).Accepted(wire.OfferAnswer{Host: "h1"}, now), now), wire.CodeNotHeld)
	over, err := s.Reported(testkit.Report(t, "h1", id, 1, 9, 9, "over"), now)
	wants(t, "ending", err, nil)
	wants(t, "over", ask(none, over, now), wire.CodeOver)
	if _, done, err := over.Asked(wire.Ask{Request: r}, now); !done || err != nil {
		t.Errorf("repeated after the end: %t, %v", done, err)
	}
}

// The host checks the signature too; custody has the newest list, and knows at once who is not in it any more.
func TestAsked_refusesWhatNoPersonOfTheListHasSigned(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	r := request(s, "k")
	refused := func(what string, a wire.Ask, in custody.State, at time.Time, code wire.Code) {
		t.Helper()
		var refusal *wire.Refusal
		if _, _, err := in.Asked(a, at); !errors.As(err, &refusal) || refusal.Code != code {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("unsigned", wire.Ask{Request: r}, s, now, wire.CodeUnsigned)
	other := testkit.Ask(t, r)
	other.Request.Args = []string{"other"}
	refused("changed", other, s, now, wire.CodeUnsigned)
	stranger := r
	stranger.Person = "eve"
	refused("a stranger", testkit.Ask(t, stranger), s, now, wire.CodeStranger)
	long := r
	long.Expires = now.Add(time.Hour).Unix()
	refused("for too long", testkit.Ask(t, long), s, now, wire.CodeExpired)
	elsewhere := r
	elsewhere.Fleet = "other"
	refused("another fleet", testkit.Ask(t, elsewhere), s, now, wire.CodeElsewhere)
	without := s.Trust
	without.People = testkit.List(t, signed.OfPeople, 9, "bob")
	after, err := s.Trusted(without)
	wants(t, "newer lists", err, nil)
	refused("taken off the list", testkit.Ask(t, r), after, now, wire.CodeStranger)
}

// Long answers are whole, and the last ones are kept. A repeat of an earlier one goes to the host, which answers it
// from its history: its key stands for the same request all the while.
func TestAnswered_keepsAsManyAnswersAsThereIsRoomFor(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	const many = 6
	for i := range many {
		r := request(s, fmt.Sprintf("k%d", i))
		reply := wire.Reply{Fleet: r.Fleet, Host: r.Host, Epoch: r.Epoch, Task: r.Task, Key: r.Key,
			Digest: sign.Digest(r), Done: true, Output: strings.Repeat("x", wire.MostOfReply),
			Head: wire.Head{Event: i + 2, Hash: "h"}}
		reply, err := sign.Reply(testkit.Key(t, "h1"), reply)
		wants(t, "signing", err, nil)
		s, err = s.Answered(r, reply, now)
		wants(t, "keeping", err, nil)
	}
	size, answers := 0, 0
	for _, k := range s.Keys {
		size += len(k.Reply.Output)
		if k.Reply.Key != "" {
			answers++
		}
	}
	if len(s.Keys) != many || size > wire.MostOfKept || answers != wire.MostOfKept/wire.MostOfReply {
		t.Errorf("%d keys, %d answers of %d bytes", len(s.Keys), answers, size)
	}
	for i, kept := range []bool{false, false, true, true, true, true} {
		r := request(s, fmt.Sprintf("k%d", i))
		if reply, done, err := s.Asked(testkit.Ask(t, r), now); err != nil || done != kept ||
			done && reply.Key != r.Key {
			t.Errorf("%s: %t, %v", r.Key, done, err)
		}
		r.Args = []string{"another"}
		_, _, err := s.Asked(testkit.Ask(t, r), now)
		wants(t, "reused", err, wire.CodeKeyReused)
	}
	r := request(s, "k0")
	after, err := s.Answered(r, testkit.Reply(t, "h1", r, 2), now)
	if wants(t, "answered again", err, nil); len(after.Keys) != many {
		t.Errorf("it is kept twice: %d", len(after.Keys))
	}
}

// A snapshot is no event of the task: after a rescue it would be named as lost.
func TestAnswered_doesNotKeepASnapshot(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	asked := testkit.Request("ada", id, s.Host, s.Epoch, "snap", now)
	asked.Method = wire.MethodSnapshot
	next, err := s.Answered(asked, testkit.Reply(t, s.Host, asked, 7), now)
	if err != nil || len(next.Keys) != len(s.Keys) || next.Known.Event != 7 {
		t.Errorf("it keeps %+v and knows %+v, %v", next.Keys, next.Known, err)
	}
}

// A host says with its answer how the task is then, as it would report it a moment later.
func TestAnswered_takesOverTheReportThatGoesWithIt(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	r := request(s, "k")
	with := func(report wire.Report) custody.State {
		reply := testkit.Reply(t, "h1", r, 7)
		reply.Report = &report
		next, err := s.Answered(r, reply, now)
		if err != nil || len(next.Keys) != 1 || next.Keys[0].Reply.Report != nil {
			t.Errorf("%+v, %v", next.Keys, err)
		}
		return next
	}
	good := testkit.Report(t, "h1", id, 1, s.Version+1, 7, "reviewing")
	if next := with(good); next.Row.Status != "reviewing" || next.Version != good.Version {
		t.Errorf("it shows %+v", next.Row)
	}
	if next := with(testkit.Report(t, "h1", id, 1, s.Version+1, 7, "over")); next.Phase != custody.PhaseEnded {
		t.Errorf("the task is over, and its custody %q", next.Phase)
	}
	forged, other := good, testkit.Report(t, "h2", id, 1, s.Version+1, 7, "reviewing")
	forged.Row.Status = "done"
	for what, bad := range map[string]wire.Report{"forged": forged, "of another host": other,
		"older": testkit.Report(t, "h1", id, 1, s.Version, 7, "reviewing")} {
		if next := with(bad); next.Row.Status != "working" || next.Version != s.Version {
			t.Errorf("%s: it shows %+v", what, next.Row)
		}
	}
}

// Attackers cannot (docs/proof.md): answer in the place of another host.
func TestAnswered_keepsWhatWasDone(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	r := request(s, "k")
	good := testkit.Reply(t, "h1", r, 7)
	refusal := good
	refusal.Done = false
	refusal, err := sign.Reply(testkit.Key(t, "h1"), refusal)
	wants(t, "signing", err, nil)
	if next, err := s.Answered(r, refusal, now); err != nil || len(next.Keys) != 0 {
		t.Errorf("a refusal: %+v, %v", next.Keys, err)
	}
	forged := good
	forged.Exit = 3
	_, err = s.Answered(r, forged, now)
	wants(t, "forged", err, wire.CodeNotKnown)
	_, err = s.Answered(r, testkit.Reply(t, "h2", r, 7), now)
	wants(t, "another host's", err, wire.CodeNotKnown)
	next := withAnswer(t, s, "k", 7)
	if k := next.Keys[0]; k.Key != "k" || k.Digest != sign.Digest(r) || k.Host != "h1" || k.Epoch != 1 ||
		k.Event != 7 || next.Known.Event != 7 {
		t.Errorf("kept: %+v", k)
	}
	if twice, err := next.Answered(r, good, now); err != nil || len(twice.Keys) != 1 {
		t.Errorf("twice: %+v, %v", twice.Keys, err)
	}
	for _, away := range []custody.State{rescue(t, s, "h2"), heldBy(t, rescue(t, s, "h2"), "h2")} {
		_, err = away.Answered(r, good, now)
		wants(t, "after a rescue", err, wire.CodeNotKnown)
	}
	over, err := s.Reported(testkit.Report(t, "h1", id, 1, 9, 9, "over"), now)
	wants(t, "ending", err, nil)
	if over, err = over.Answered(r, good, now); err != nil || len(over.Keys) != 1 {
		t.Errorf("the request that ended the task is not kept: %v", err)
	}
}

func TestCustodyKeepsTheLastKeys(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	for i := range wire.KeptKeys + 1 {
		s = withAnswer(t, s, fmt.Sprintf("k%d", i), i)
	}
	if len(s.Keys) != wire.KeptKeys || s.Keys[0].Key != "k1" || s.Keys[len(s.Keys)-1].Key != "k200" {
		t.Errorf("kept are %d keys, from %s", len(s.Keys), s.Keys[0].Key)
	}
}

func TestTheNextHostGetsTheRescueAsAPersonSignedIt(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	r := testkit.Rescue(t, "ada", id, s.Epoch, "h2", "it was lost", now)
	s, err := s.Rescued(r)
	wants(t, "a rescue", err, nil)
	s = s.Accepted(wire.OfferAnswer{Host: "h2"}, now)
	if take := s.Take(); !reflect.DeepEqual(take.Rescue, &r) {
		t.Errorf("the take has the rescue %+v, want %+v", take.Rescue, r)
	}
	s, err = s.Taken(s.Epoch, takeAnswer(t, "h2", s.Epoch, 5), now)
	wants(t, "a take", err, nil)
	if s.Rescue != nil {
		t.Errorf("a task that has a host again still has the rescue %+v", *s.Rescue)
	}
}

func TestARescueTakesTheTaskAwayOnce(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	try := func(s custody.State, from int, to string) (bool, error) {
		t.Helper()
		return s.Rescuable(testkit.Rescue(t, "ada", id, from, to, "", now), now)
	}
	_, err := try(s, 2, "")
	wants(t, "a later epoch", err, wire.CodeStaleEpoch)
	_, err = try(s, 0, "")
	wants(t, "no epoch", err, wire.CodeStaleEpoch)
	_, err = try(s, 1, "h1")
	wants(t, "to where it is", err, wire.CodeStaleEpoch)
	_, err = try(newCustody(t).Accepted(wire.OfferAnswer{Host: "h1"}, now).NeverReached(1), 1, "")
	wants(t, "waiting", err, wire.CodeNotHeld)
	over, err := s.Reported(testkit.Report(t, "h1", id, 1, 9, 9, "over"), now)
	wants(t, "ending", err, nil)
	_, err = try(over, 1, "")
	wants(t, "over", err, wire.CodeOver)
	unsigned := testkit.Rescue(t, "ada", id, 1, "h2", "", now)
	unsigned.To = ""
	if _, err := s.Rescuable(unsigned, now); err == nil {
		t.Error("an unsigned rescue is due")
	}
	s = withAnswer(t, s, "k", 8)
	next := rescue(t, s, "")
	if next.Phase != custody.PhaseWaiting || next.Host != "" || next.Old[0] != (custody.EarlierHost{Host: "h1",
		Epoch: 1}) ||
		next.From != "h1" || strings.Join(next.Not, "") != "h1" {
		t.Errorf("rescued: %+v", next)
	}
	if due, err := try(next, 1, ""); due || err != nil {
		t.Errorf("a second one: %t, %v", due, err)
	}
	next = heldBy(t, next, "h2")
	if take := next.Take(); next.Epoch != 2 || take.From != "h1" || take.Known.Event != 5 || len(take.Keys) != 1 {
		t.Errorf("the take: %+v", take)
	}
	if due, err := try(next, 1, ""); due || err != nil {
		t.Errorf("a late one: %t, %v", due, err)
	}
	if same, err := next.Rescued(testkit.Rescue(t, "ada", id, 1, "", "", now)); err != nil || same.Host != "h2" {
		t.Errorf("a late one takes the task from %q, %v", same.Host, err)
	}
	named := rescue(t, s, "h2")
	if named.To != "h2" || len(named.Not) > 0 {
		t.Errorf("to a named host: %+v", named)
	}
	doubtful := rescue(t, rescue(t, s, "h2").Accepted(wire.OfferAnswer{Host: "h2"}, now).Doubted(2), "")
	if doubtful.From != "h1" || len(doubtful.Old) != 2 {
		t.Errorf("a take with an unknown end: %+v", doubtful)
	}
}

// Defect: a host brought a task back, and its answer did not arrive. The next host refused the snapshot, which was not
// signed by the host that had had the task.
func TestTake_namesTheHostsThatMayHaveTakenTheTaskSince(t *testing.T) {
	t.Parallel()
	asks := func(s custody.State, host string) custody.State {
		return s.Accepted(wire.OfferAnswer{Host: host}, now)
	}
	refuses := func(s custody.State) custody.State {
		t.Helper()
		no := takeAnswer(t, s.Host, s.Epoch, 5)
		no.Refused = "no place"
		s, err := s.Taken(s.Epoch, no, now)
		wants(t, "the refusal", err, nil)
		return s
	}
	is := func(what string, s custody.State, from, since string) {
		t.Helper()
		if take := s.Take(); take.From != from || strings.Join(take.Since, " ") != since {
			t.Errorf("%s: from %q, since %q, want %q and %q", what, take.From, take.Since, from, since)
		}
	}
	first := asks(newCustody(t), "h1")
	is("no host has had it", asks(rescue(t, refuses(asks(refuses(first), "h2")).Again().
		Accepted(wire.OfferAnswer{Host: "h1"}, now), ""), "h2"), "", "")
	s := rescue(t, heldBy(t, newCustody(t), "h1"), "")
	is("the first one is asked", asks(s, "h2"), "h1", "")
	s = asks(rescue(t, asks(s, "h2"), ""), "h1")
	is("one did not answer", s, "h1", "h2")
	s = asks(refuses(s).Again(), "h2")
	is("another one has refused", s, "h1", "h2 h1")
	s = asks(rescue(t, s, ""), "h1")
	is("they are asked again", s, "h1", "h2 h1")
	s, err := s.Taken(s.Epoch, takeAnswer(t, "h1", s.Epoch, 9), now)
	wants(t, "the take", err, nil)
	is("it was taken", asks(rescue(t, s, ""), "h2"), "h1", "")
}

func TestLeft_endsWhatIsOld(t *testing.T) {
	t.Parallel()
	s := rescue(t, heldBy(t, rescue(t, heldBy(t, newCustody(t), "h1"), "h2"), "h2"), "")
	if len(s.Old) != 2 {
		t.Fatalf("old: %+v", s.Old)
	}
	for _, one := range []struct {
		host  string
		epoch int
		left  int
		not   string
	}{{"h1", 0, 2, "h2"}, {"h1", 1, 1, "h2"}, {"h2", 1, 2, ""}, {"h2", 2, 1, ""}, {"h2", 3, 1, ""}} {
		lost := "refs/orange/fleet/" + id + "/lost/1"
		next := s.Left(one.host, one.epoch, lost).Left(one.host, one.epoch, "refs/heads/main")
		if next = next.Left(one.host, one.epoch, lost); len(next.Summary().Apart) != 1 ||
			next.Summary().Apart[0] != (wire.ApartWork{Host: one.host, Epoch: one.epoch, Ref: lost}) {
			t.Errorf("%s left %d: %+v", one.host, one.epoch, next.Apart)
		}
		if len(next.Old) != one.left || strings.Join(next.Not, "") != one.not {
			t.Errorf("%s left %d: %+v, not %v", one.host, one.epoch, next.Old, next.Not)
		}
	}
}

func TestWhatANewHostDoesNotFindIsNamedAsLost(t *testing.T) {
	t.Parallel()
	s := withAnswer(t, withAnswer(t, heldBy(t, newCustody(t), "h1"), "k1", 6), "k2", 7)
	s = rescue(t, s, "h2").Accepted(wire.OfferAnswer{Host: "h2"}, now)
	if len(s.Take().Keys) != 2 || s.Take().Known.Event != 7 {
		t.Errorf("the take: %+v", s.Take())
	}
	lost := takeAnswer(t, "h2", 2, 6)
	lost.Lost = []string{"k2"}
	s, err := s.Taken(2, lost, now)
	wants(t, "taking", err, nil)
	askedLost := wire.Ask{Request: testkit.Request("ada", id, "h1", 1, "k2", now)}
	if _, _, err := s.Asked(askedLost, now); !errors.Is(err, wire.CodeLost) ||
		!strings.Contains(err.Error(), "lost with h1") {
		t.Errorf("the lost request: %v", err)
	}
	askedKnown := wire.Ask{Request: testkit.Request("ada", id, "h1", 1, "k1", now)}
	if _, done, err := s.Asked(askedKnown, now); !done || err != nil {
		t.Errorf("the other one: %t, %v", done, err)
	}
	if c := s.Summary(); strings.Join(c.Lost, "") != "k2" || c.Host != "h2" || c.Epoch != 2 || c.Phase != "held" {
		t.Errorf("the summary: %+v", c)
	}
	if keys := s.Take().Keys; len(keys) != 2 || keys[1].Key != "k2" || keys[1].Host != "h1" {
		t.Errorf("what is lost is not handed on, and the history that names it may be lost too: %+v", keys)
	}
}

// Attackers cannot (docs/proof.md): add a signer, at the registry, a custody or a host.
func TestTrusted_takesNewerListsOfTheSameAuthority(t *testing.T) {
	t.Parallel()
	s := newCustody(t)
	two := testkit.Trust(t)
	two.People = testkit.List(t, signed.OfPeople, 2, "ada", "bob")
	next, err := s.Trusted(two)
	wants(t, "newer", err, nil)
	if _, err := next.Trusted(testkit.Trust(t)); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("back: %v", err)
	}
	same := two
	same.People = testkit.List(t, signed.OfPeople, 2, "ada", "bob", "eve")
	if _, err := next.Trusted(same); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("another list of the same version: %v", err)
	}
	older := two
	older.Hosts = testkit.List(t, signed.OfHosts, 2, "h1")
	if next, err = next.Trusted(older); err != nil {
		t.Error(err)
	}
	if _, err := next.Trusted(two); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("the hosts back: %v", err)
	}
	edited := two
	edited.People.Text += "eve " + testkit.Public(t, "eve") + "\n"
	if _, err := s.Trusted(edited); !errors.Is(err, sign.ErrNotTheList) {
		t.Errorf("edited: %v", err)
	}
	if next.Trust.Authority != s.Trust.Authority {
		t.Error("the authority changed")
	}
	own := two
	own.Authority = testkit.Public(t, "eve")
	if next, err := s.Trusted(own); err != nil || next.Trust.Authority != s.Trust.Authority {
		t.Errorf("another authority: %v", err)
	}
}

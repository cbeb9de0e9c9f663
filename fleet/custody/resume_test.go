package custody_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

// resume is the custody of a task that a host told an empty server of, long after the task was created.
func resume(t *testing.T, host string, epoch int) custody.State {
	t.Helper()
	s, err := custody.Resume(testkit.Fleet, testkit.Birth(t, "ada", id, "any", now), testkit.Trust(t),
		testkit.Report(t, host, id, epoch, 7, 20, "working"), now.Add(24*time.Hour))
	testkit.Must(t, err)
	return s
}

func TestResumed_isHeldByTheHostThatSaysSo(t *testing.T) {
	t.Parallel()
	s := resume(t, "h1", 3)
	if s.Phase != custody.PhaseHeld || s.Host != "h1" || s.Epoch != 3 || s.Known.Event != 20 ||
		s.Row.Status != "working" {
		t.Errorf("%+v", s)
	}
	old := testkit.Report(t, "h1", id, 3, 7, 21, "working")
	if _, err := s.Reported(old, now); !errors.Is(err, custody.ErrDropped) {
		t.Errorf("a report that was sent before: %v", err)
	}
	s = rescue(t, s, "h2")
	if take := s.Accepted(wire.OfferAnswer{Host: "h2"}, now).Take(); take.Epoch != 4 || take.From != "h1" ||
		take.Known.Event != 20 {
		t.Errorf("%+v", take)
	}
}

func TestResumed_needsTheSignaturesOfThePersonAndOfTheHost(t *testing.T) {
	t.Parallel()
	birth, said := testkit.Birth(t, "ada", id, "any", now), testkit.Report(t, "h1", id, 3, 7, 20, "working")
	try := func(b wire.Birth, r wire.Report) error {
		_, err := custody.Resume(testkit.Fleet, b, testkit.Trust(t), r, now)
		return err
	}
	forged := birth
	forged.Rules += "more"
	stolen := said
	stolen.Host = "h2"
	for what, err := range map[string]error{"a forged birth": try(forged, said), "another host": try(birth, stolen),
		"another task": try(birth, testkit.Report(t, "h1", "xyz", 3, 7, 20, "working")),
		"a stranger":   try(testkit.Birth(t, "eve", id, "any", now), said)} {
		var no *wire.Refusal
		if !errors.As(err, &no) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestClaimed_theGreatestEpochCountsInACustodyThatBeganAgain(t *testing.T) {
	t.Parallel()
	later := testkit.Report(t, "h2", id, 4, 2, 30, "reviewing")
	s, err := resume(t, "h1", 3).Claimed(later, now)
	if err != nil || s.Host != "h2" || s.Epoch != 4 || s.Version != 2 || s.Row.Status != "reviewing" ||
		s.Known.Event != 30 || !slices.Equal(s.Old, []custody.EarlierHost{{Host: "h1", Epoch: 3}}) {
		t.Errorf("%+v, %v", s, err)
	}
	earlier := testkit.Report(t, "h1", id, 3, 9, 40, "working")
	for range 2 { // a repeat changes nothing
		if s, err = s.Claimed(earlier, now); err != nil || s.Host != "h2" || s.Epoch != 4 || len(s.Old) != 1 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if s, err = s.Claimed(later, now); err != nil || s.Host != "h2" || s.Version != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestClaimed_theHostThatHasTheTaskIsHeardInEveryCustody(t *testing.T) {
	t.Parallel()
	for _, s := range []custody.State{heldBy(t, newCustody(t), "h1"), resume(t, "h1", 3)} {
		before := s.Version
		newer := testkit.Report(t, "h1", id, s.Epoch, before+3, 40, "reviewing")
		s, err := s.Claimed(newer, now.Add(time.Hour))
		if err != nil || s.Row.Status != "reviewing" || s.Known.Event != 40 || s.Told != now.Add(time.Hour).Unix() {
			t.Errorf("%+v, %v", s, err)
		}
		older := testkit.Report(t, "h1", id, s.Epoch, before+2, 39, "working")
		if s, err = s.Claimed(older, now); err != nil || s.Row.Status != "reviewing" {
			t.Errorf("%+v, %v", s, err)
		}
	}
}

func TestClaimed_noOtherHostGetsTheTaskWhereTheServerKnows(t *testing.T) {
	t.Parallel()
	s := heldBy(t, newCustody(t), "h1")
	if _, err := s.Claimed(testkit.Report(t, "h2", id, 4, 2, 30, "working"), now); !errors.Is(err,
		wire.CodeStaleEpoch) {
		t.Errorf("a later epoch: %v", err)
	}
	same := resume(t, "h1", 3)
	double := testkit.Report(t, "h2", id, 3, 2, 30, "working")
	if _, err := same.Claimed(double, now); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("the same epoch at another host: %v", err)
	}
	other := testkit.Report(t, "h2", "xyz", 4, 2, 30, "working")
	if _, err := same.Claimed(other, now); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("another task: %v", err)
	}
	forged := testkit.Report(t, "h2", id, 4, 2, 30, "working")
	forged.Epoch = 5
	var no *wire.Refusal
	if _, err := same.Claimed(forged, now); !errors.As(err, &no) {
		t.Errorf("a report that no host signed: %v", err)
	}
	moving := rescue(t, same, "h2")
	late := testkit.Report(t, "h2", id, 9, 2, 30, "working")
	if _, err := moving.Claimed(late, now); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("after a rescue: %v", err)
	}
}

package fencing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/fencing"
	"orange/internal/rules/task"
)

func TestReaches_areTheRemoteActionsOfTheTable(t *testing.T) {
	t.Parallel()
	for _, name := range action.Names() {
		row, _ := action.Of(name)
		if got := fencing.Reaches(task.Hook{Action: name}); got != (row.Scope == action.Remote) {
			t.Errorf("%s: %t", name, got)
		}
	}
	for via, want := range map[string]bool{action.ViaDesktop: false, action.ViaWebhook: true, action.ViaCommand: true} {
		if got := fencing.Reaches(task.Hook{Action: action.Notify, Via: via}); got != want {
			t.Errorf("notify via %s: %t", via, got)
		}
	}
	if fencing.Reaches(task.Hook{Action: "make_coffee"}) {
		t.Error("an unknown action reaches others: it is not performed at all")
	}
}

func TestMine_goesByTheLatestEpoch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		places []fencing.SnapshotPlace
		says   string
	}{
		"no snapshot":            {nil, ""},
		"its own":                {[]fencing.SnapshotPlace{{Repository: "vault", Epoch: 2}}, ""},
		"an earlier one":         {[]fencing.SnapshotPlace{{Repository: "vault", Epoch: 1}}, ""},
		"a later one":            {[]fencing.SnapshotPlace{{Repository: "vault", Epoch: 3}}, "since epoch 3"},
		"one that is not there":  {[]fencing.SnapshotPlace{{Trouble: "no network"}}, "no network"},
		"two, the second later":  {[]fencing.SnapshotPlace{{Epoch: 2}, {Repository: "b", Epoch: 3}}, `at "b" says so`},
		"a later one says more":  {[]fencing.SnapshotPlace{{Trouble: "no network"}, {Epoch: 3}}, "since epoch 3"},
		"two, the second is off": {[]fencing.SnapshotPlace{{Epoch: 2}, {Trouble: "no such place"}}, "no such place"},
	} {
		err := fencing.Mine("T1", 2, c.places)
		if (err == nil) != (c.says == "") || err != nil &&
			(!errors.Is(err, fencing.ErrHeldBack) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLease_holdsOnTheClockOfOneStartOfTheMachine(t *testing.T) {
	t.Parallel()
	lease := fencing.HomeLease{Boot: "b1", Until: time.Minute}
	for name, c := range map[string]struct {
		lease fencing.HomeLease
		now   fencing.Clock
		want  time.Duration
	}{
		"before its end":      {lease, fencing.Clock{Boot: "b1", Up: 59 * time.Second}, time.Second},
		"at its end":          {lease, fencing.Clock{Boot: "b1", Up: time.Minute}, 0},
		"after its end":       {lease, fencing.Clock{Boot: "b1", Up: time.Hour}, 0},
		"after another start": {lease, fencing.Clock{Boot: "b2", Up: time.Second}, 0},
		"of no start":         {fencing.HomeLease{Until: time.Minute}, fencing.Clock{}, 0},
		"the wall clock is no matter": {lease, fencing.Clock{Boot: "b1", Up: 0,
			Wall: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)}, time.Minute},
	} {
		if got := c.lease.Left(c.now); got != c.want {
			t.Errorf("%s: %s is left, want %s", name, got, c.want)
		}
	}
}

func TestOver_saysSinceWhen(t *testing.T) {
	t.Parallel()
	noon := time.Date(2024, 5, 6, 12, 3, 9, 0, time.UTC)
	for name, c := range map[string]struct {
		answered time.Time
		want     string
	}{
		"today": {noon, "the fleet has not answered since 12:03"},
		"long ago": {noon.Add(-24 * time.Hour), "the fleet has not answered since 2024-05-05 " +
			"12:03"},
		"not known": {time.Time{}, "the fleet has not answered in time"},
	} {
		err := fencing.HomeLease{Answered: c.answered}.Over(fencing.Clock{Wall: noon})
		if !errors.Is(err, fencing.ErrHeldBack) || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package custody_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

func TestAHostKeepsItsTasksWhileItLives(t *testing.T) {
	t.Parallel()
	var h custody.HostState
	h, lease := h.Came(wire.Here{Host: "h1", Free: 2, Left: []wire.Gone{{Task: "x", Epoch: 1}}}, now)
	if !h.Here || h.Host != "h1" || lease.Number != 1 || h.Said.Free != 2 || h.Since != now.Unix() ||
		len(h.Said.Left) > 0 {
		t.Errorf("here: %+v, %+v", h, lease)
	}
	kept, answer := h.Released(wire.Release{Host: "h1", Task: id, Epoch: 1})
	if answer.Kept == "" || len(kept.Gone) > 0 {
		t.Errorf("released while it lives: %+v", kept)
	}
	if forced, answer := h.Released(wire.Release{Host: "h1", Task: id, Epoch: 1, Now: true}); answer.Kept != "" ||
		len(forced.Gone) != 1 {
		t.Errorf("with a reason: %+v, %+v", forced, answer)
	}
	if !h.Silent(0, now).Here {
		t.Error("an earlier lease ends the present one")
	}
	later := now.Add(time.Hour)
	lost := h.Silent(1, later)
	if lost.Here || lost.Since != later.Unix() || lost.Silent(1, now).Since != later.Unix() {
		t.Errorf("silent: %+v", lost)
	}
	gone, answer := lost.Released(wire.Release{Host: "h1", Task: id, Epoch: 1})
	if answer.Kept != "" || len(gone.Gone) != 1 {
		t.Errorf("released: %+v, %+v", gone, answer)
	}
	gone, _ = gone.Released(wire.Release{Host: "h1", Task: id, Epoch: 3})
	gone, _ = gone.Released(wire.Release{Host: "h1", Task: id, Epoch: 2})
	gone, _ = gone.Released(wire.Release{Host: "h1", Task: "y", Epoch: 2})
	if len(gone.Gone) != 2 || gone.Gone[0] != (wire.Gone{Task: id, Epoch: 3}) {
		t.Errorf("released again: %+v", gone.Gone)
	}
	back, lease := gone.Came(wire.Here{Host: "h1", Left: []wire.Gone{{Task: id, Epoch: 2}}}, now)
	if lease.Number != 2 || len(lease.Gone) != 2 || !back.Here {
		t.Errorf("back: %+v", lease)
	}
	left := wire.Here{Host: "h1", Left: []wire.Gone{{Task: id, Epoch: 3}}}
	if _, lease = back.Came(left, now); len(lease.Gone) != 1 ||
		lease.Gone[0].Task != "y" {
		t.Errorf("after it has left: %+v", lease)
	}
}

// A host that is there keeps what it has lost for as long as its lease, where no call to leave reaches it.
func TestAHostIsRevokedSoThatItLearnsWhatIsGone(t *testing.T) {
	t.Parallel()
	h, lease := custody.HostState{}.Came(wire.Here{Host: "h1"}, now)
	host := custody.Holder{}.Leased(lease)
	h, _ = h.Released(wire.Release{Host: "h1", Task: id, Epoch: 1, Now: true})
	h = h.Revoked()
	if !h.Here || h.Number == host.Number || len(h.Gone) != 1 {
		t.Errorf("revoked: %+v, and the host has the lease %d", h, host.Number)
	}
	if !h.Silent(host.Number, now).Here {
		t.Error("the end of the lease before makes the host a lost one")
	}
	if h, lease = h.Came(wire.Here{Host: "h1"}, now); lease.Number != 3 || len(lease.Gone) != 1 {
		t.Errorf("the next lease: %+v", lease)
	}
	if lost := h.Silent(h.Number, now); lost.Revoked().Number != lost.Number {
		t.Error("a lost host has no lease that could be revoked")
	}
}

// newHolder is a host with a lease and a task.
func newHolder(t *testing.T) custody.Holder {
	t.Helper()
	h, err := custody.Holder{}.Leased(wire.Lease{Number: 1}).Beat(1, time.Hour).Took(id, 1)
	testkit.Must(t, err)
	return h
}

func TestAHostActsByALeaseAlone(t *testing.T) {
	t.Parallel()
	h := newHolder(t)
	if h.Until != time.Hour+custody.LeaseFor {
		t.Errorf("it may act until %s", h.Until)
	}
	if later := h.Beat(1, time.Hour-1); later.Until != h.Until {
		t.Error("a late acknowledgement makes the lease shorter")
	}
	next := h.Leased(wire.Lease{Number: 2})
	if next.Number != 2 || next.Until != h.Until || next.Beat(1, 2*time.Hour).Until != h.Until {
		t.Errorf("a new lease: %+v", next)
	}
	if again := next.Leased(wire.Lease{Number: 1}); again.Number != 1 || again.Beat(2, 2*time.Hour).Until != h.Until {
		t.Errorf("a lease of a server that has lost what it knew: %+v", again)
	}
	if next.Beat(2, 2*time.Hour).Until != 2*time.Hour+custody.LeaseFor {
		t.Error("a beat of the new lease does not count")
	}
	if custody.LeaseFor+custody.BeatEvery > custody.LostAfter {
		t.Error("a host counts as lost before its lease is over")
	}
}

func TestAHostLetsGoOfWhatIsGone(t *testing.T) {
	t.Parallel()
	h := newHolder(t)
	gone := h.Leased(wire.Lease{Number: 2, Gone: []wire.Gone{{Task: id, Epoch: 1}}})
	if h.Of(id).Has != true || gone.Of(id).Has || h.Lost(id, 0).Of(id).Has != true {
		t.Errorf("has %+v, %+v", h.Of(id), gone.Of(id))
	}
	for epoch, want := range map[int]error{1: wire.CodeStaleEpoch, 0: wire.CodeStaleEpoch, 2: nil} {
		_, err := gone.Took(id, epoch)
		wants(t, "a late take", err, want)
	}
	if never := (custody.Holder{}).Lost(id, 4); never.Of(id).Epoch != 4 {
		t.Error("a task that was never here comes under an epoch that is over")
	} else if _, err := never.Took(id, 4); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("it comes: %v", err)
	}
	if same, err := h.Took(id, 1); err != nil || !same.Of(id).Has {
		t.Errorf("a repeat of the take: %+v, %v", same.Of(id), err)
	}
	if _, err := h.Took(id, 0); !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("an earlier epoch: %v", err)
	}
}

func TestAHostSaysWhatItHasLetGo(t *testing.T) {
	t.Parallel()
	h := newHolder(t)
	if len(h.Gone(false))+len(h.Gone(true)) > 0 || h.LetGo(id, 1, "").Of(id).Left {
		t.Errorf("it has let go of its own task: %+v", h)
	}
	h = h.Lost(id, 2)
	if gone := h.Gone(false); len(gone) != 1 || gone[0] != (wire.Gone{Task: id, Epoch: 2}) || len(h.Gone(true)) > 0 {
		t.Errorf("taken away: %+v", gone)
	}
	if h.LetGo(id, 1, "").Of(id).Left {
		t.Error("it has let go of what it had under an earlier epoch")
	}
	h = h.LetGo(id, 2, "")
	if len(h.Gone(false)) > 0 || len(h.Gone(true)) != 1 || !h.Lost(id, 2).Of(id).Left || !h.Lost(id, 1).Of(id).Left {
		t.Errorf("let go: %+v", h)
	}
	if h.Lost(id, 3).Of(id).Left {
		t.Error("it has let go of what it had under a later epoch")
	}
	if h, err := h.Took(id, 3); err != nil || h.Of(id).Left {
		t.Errorf("taken again: %+v, %v", h, err)
	}
	if other := h.Said([]wire.Gone{{Task: id, Epoch: 1}}); len(other.Gone(true)) != 1 {
		t.Errorf("what it said of an earlier epoch: %+v", other)
	}
	said := h.Said(h.Gone(true))
	if len(said.Gone(true))+len(said.Gone(false)) > 0 || said.Lost(id, 3).Of(id).Said || !said.Lost(id, 2).Of(id).Said {
		t.Errorf("said: %+v", said)
	}
	if asked := said.Leased(wire.Lease{Number: 3, Gone: h.Gone(true)}); len(asked.Gone(true)) != 1 || asked.Of(id).Has {
		t.Errorf("the fleet does not know it: %+v", asked)
	}
	for i := range 600 { // more than a message may have
		h = h.Lost(fmt.Sprint("t", i), 1).LetGo(fmt.Sprint("t", i), 1, "")
	}
	first := h.Gone(true)
	if rest := h.Said(first).Gone(true); len(first) != 500 || len(rest) != 101 {
		t.Errorf("it says %d, and then %d", len(first), len(rest))
	}
}

func TestAHostSaysAgainWhatItHasAndKeepsItsLease(t *testing.T) {
	t.Parallel()
	h, _ := custody.HostState{}.Came(wire.Here{Host: "h1", Free: 2}, now)
	h, _ = h.Released(wire.Release{Host: "h1", Task: id, Epoch: 1, Now: true})
	told := h.Told(wire.Here{Host: "h1", Free: 1, Draining: true, Left: []wire.Gone{{Task: id, Epoch: 1}}})
	if told.Number != 1 || !told.Here || told.Said.Free != 1 || !told.Said.Draining || len(told.Gone) > 0 ||
		len(told.Said.Left) > 0 {
		t.Errorf("told: %+v", told)
	}
	if other := told.Told(wire.Here{Host: "h2", Free: 9}); other.Said.Free != 1 {
		t.Errorf("told by another host: %+v", other)
	}
	if lost := told.Silent(1, now).Told(wire.Here{Host: "h1", Free: 9}); lost.Here || lost.Said.Free != 1 {
		t.Errorf("told without a lease: %+v", lost)
	}
}

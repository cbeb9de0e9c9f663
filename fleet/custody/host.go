package custody

import (
	"fmt"
	"slices"
	"time"

	"orange/fleet/wire"
)

// How long a host may be silent. A lease ends well before its host counts as lost, so that the clocks of two machines
// may run at slightly different rates; what they show is never compared.
const (
	BeatEvery = 10 * time.Second // how often a host says that it lives
	LeaseFor  = 60 * time.Second // how long it may act outwardly after it sent a beat that was acknowledged
	LostAfter = 90 * time.Second // after how long without a beat the server counts it as lost
)

// HostState is what the fleet knows of one host: whether it lives, and which tasks are not its own any more.
type HostState struct {
	Host   string      `json:"host"`
	Here   bool        `json:"here"`
	Number int         `json:"number"`          // of its last lease
	Since  int64       `json:"since,omitempty"` // when it came, or was lost, by the server's clock
	Said   wire.Here   `json:"said"`
	Gone   []wire.Gone `json:"gone,omitempty"` // taken away from it, until it says that it has left
}

// Kind is the name and the version of the state, which goes from one run of its workflow to the next.
func (HostState) Kind() (string, int) { return "host-state", 1 }

// Check accepts every state: the messages that it was made from were checked.
func (HostState) Check() error { return nil }

// Came gives a lease to a host that says it is there. The lease before is over: its beats do not count any more. The
// host learns what it has lost before it can act by the new one.
func (h HostState) Came(said wire.Here, now time.Time) (HostState, wire.Lease) {
	h.Host, h.Here, h.Since = said.Host, true, now.Unix()
	h.Number++
	h = h.said(said)
	return h, wire.Lease{Number: h.Number, Gone: h.Gone}
}

// Told is what a host says of itself while it has a lease, which stays as it is.
func (h HostState) Told(said wire.Here) HostState {
	if !h.Here || said.Host != h.Host {
		return h
	}
	return h.said(said)
}

func (h HostState) said(said wire.Here) HostState {
	h.Gone = slices.DeleteFunc(slices.Clone(h.Gone), func(g wire.Gone) bool {
		return slices.ContainsFunc(said.Left, func(l wire.Gone) bool { return l.Task == g.Task && l.Epoch >= g.Epoch })
	})
	h.Said = said
	h.Said.Left = nil
	return h
}

// Silent says that no beat of a lease came for LostAfter.
func (h HostState) Silent(number int, now time.Time) HostState {
	if h.Here && h.Number == number {
		h.Here, h.Since = false, now.Unix()
	}
	return h
}

// Released takes a task away from the host, if the host is lost, or the person said why it is not waited for.
func (h HostState) Released(r wire.Release) (HostState, wire.ReleaseAnswer) {
	if h.Here && !r.Now {
		return h, wire.ReleaseAnswer{Kept: fmt.Sprintf("cannot take the task away from the host %q, which is there: "+
			"stop it, or say why it is not waited for (--now REASON)", h.Host)}
	}
	h.Gone = slices.DeleteFunc(slices.Clone(h.Gone), func(g wire.Gone) bool {
		return g.Task == r.Task && g.Epoch <= r.Epoch
	})
	if !slices.ContainsFunc(h.Gone, func(g wire.Gone) bool { return g.Task == r.Task }) {
		h.Gone = append(h.Gone, wire.Gone{Task: r.Task, Epoch: r.Epoch})
	}
	return h, wire.ReleaseAnswer{}
}

// Revoked ends the lease of a host that is there, after a task was taken away from it. The host asks for another one,
// and learns with it what is gone. By a lease that goes on it would not, where the call that asks it to leave is lost,
// or ended with the custody.
func (h HostState) Revoked() HostState {
	if h.Here {
		h.Number++
	}
	return h
}

package custody

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/fleet/sign"
	"orange/fleet/wire"
)

// Rescuable judges a rescue before the host is asked to release the task. Due is false where the epoch is over
// already: a second rescue of one epoch does nothing.
func (s State) Rescuable(r wire.Rescue, now time.Time) (due bool, err error) {
	people, err := s.Trust.people(s.Fleet)
	if err == nil {
		err = sign.CheckRescue(people, r, sign.Here{Fleet: s.Fleet, Task: s.Task, Epoch: r.From, Now: now})
	}
	if err != nil {
		return false, err
	}
	return s.rescuable(r)
}

func (s State) rescuable(r wire.Rescue) (due bool, err error) {
	switch {
	case r.From > s.Epoch || r.From < 1:
		return false, fmt.Errorf("%w: cannot rescue the task from the epoch %d: it has the epoch %d",
			wire.CodeStaleEpoch, r.From,
			s.Epoch)
	case r.From < s.Epoch || slices.ContainsFunc(s.Old, func(o EarlierHost) bool { return o.Epoch == r.From }):
		return false, nil
	case s.Phase == PhaseEnded:
		return false, fmt.Errorf("%w: cannot rescue the task: it is %q, at the host %q", wire.CodeOver,
			s.Row.Status, s.Host)
	case s.Phase == PhaseWaiting:
		return false, fmt.Errorf("%w: cannot rescue the task: it waits for a place", wire.CodeNotHeld)
	case r.To == s.Host:
		return false, fmt.Errorf("%w: cannot rescue the task to %q: it is there", wire.CodeStaleEpoch, r.To)
	}
	return true, nil
}

// Rescued takes the task away from its host, which has released it.
func (s State) Rescued(r wire.Rescue) (State, error) {
	due, err := s.rescuable(r)
	if err != nil || !due {
		return s, err
	}
	s.Old = append(slices.Clone(s.Old), EarlierHost{s.Host, s.Epoch})
	if s.Phase == PhaseHeld {
		s.From = s.Host
	} else {
		s = s.mayHaveTaken()
	}
	s.Phase, s.Host, s.To, s.Rescue = PhaseWaiting, "", r.To, &r
	s = s.Again()
	if r.To == "" {
		s = s.without(s.Old[len(s.Old)-1].Host, "the task was taken away from it")
	}
	return s, nil
}

// mostApart is how many of the refs of hosts that came back are kept: the last ones.
const mostApart = 8

// Left says that a host has let go of the task, whatever it had of it until an epoch, and to which ref it has pushed
// that; none where there was nothing. A ref that is not of such work is not shown to anyone.
func (s State) Left(host string, epoch int, ref string) State {
	one := wire.ApartWork{Host: host, Epoch: epoch, Ref: ref}
	if strings.HasPrefix(ref, "refs/orange/fleet/"+s.Task+"/lost/") && !slices.Contains(s.Apart, one) {
		s.Apart = append(slices.Clone(s.Apart), one)
		s.Apart = s.Apart[max(0, len(s.Apart)-mostApart):]
	}
	s.Old = slices.DeleteFunc(slices.Clone(s.Old), func(o EarlierHost) bool {
		return o.Host == host &&
			o.Epoch <= epoch
	})
	if i := slices.Index(s.Not, host); i >= 0 {
		s.Not, s.Because = slices.Delete(slices.Clone(s.Not), i, i+1), slices.Delete(slices.Clone(s.Because), i, i+1)
	}
	return s
}

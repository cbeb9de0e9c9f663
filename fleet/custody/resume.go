package custody

import (
	"fmt"
	"slices"
	"time"

	"orange/fleet/sign"
	"orange/fleet/wire"
)

// Resume is the custody of a task that a host has, at a server that has lost all custodies: from what a person signed
// when the task was created, and what the host signs of it now. The requests that were answered before are not known
// any more; the host still is, and answers a repeat from the history.
func Resume(fleet string, birth wire.Birth, trust Trust, r wire.Report, now time.Time) (State, error) {
	lists, err := trust.Lists(fleet)
	if err == nil {
		err = sign.CheckBirth(lists.People, birth, sign.Here{Fleet: fleet, Task: r.Task, Now: now, Waited: true})
	}
	if err == nil {
		err = sign.CheckReport(lists.Hosts, r, now)
	}
	if err != nil {
		return State{}, err
	}
	s := State{Fleet: fleet, Task: r.Task, Birth: birth, Trust: trust, Phase: PhaseHeld, Resumed: true, Epoch: r.Epoch,
		Host: r.Host, Version: r.Version, Row: r.Row, Known: r.Row.Head, Told: now.Unix()}
	return s.end(), nil
}

// Claimed judges that a host says it has the task. In a custody that was resumed the greatest epoch counts, as a host
// with a smaller one may have told the server first; the other host leaves the task. In every other custody the host
// stays: the server knows who has the task, and learns how it is there.
func (s State) Claimed(r wire.Report, now time.Time) (State, error) {
	if err := s.Trust.checkReport(s.Fleet, r, now); err != nil {
		return s, err
	}
	switch {
	case r.Task != s.Task:
		return s, fmt.Errorf("%w: the report is of the task %q, and this is %q", wire.CodeStaleEpoch, r.Task, s.Task)
	case s.by(r.Host, r.Epoch, r.Task):
		if next, err := s.reported(r); err == nil { // a database that came back from a backup has an earlier one
			s, s.Told = next, now.Unix()
		}
		return s, nil
	case !s.Resumed || s.Phase != PhaseHeld || r.Epoch == s.Epoch:
		return s, fmt.Errorf("%w: the host %q says that it has the task under the epoch %d, and %q has it under %d",
			wire.CodeStaleEpoch,
			r.Host, r.Epoch, s.Host, s.Epoch)
	case r.Epoch < s.Epoch:
		return s.leaves(EarlierHost{r.Host, r.Epoch}), nil
	}
	s = s.leaves(EarlierHost{s.Host, s.Epoch})
	s.Epoch, s.Host, s.Version, s.Row, s.Known, s.Told = r.Epoch, r.Host, r.Version, r.Row, r.Row.Head, now.Unix()
	return s.end(), nil
}

func (s State) leaves(o EarlierHost) State {
	if !slices.Contains(s.Old, o) {
		s.Old = append(slices.Clone(s.Old), o)
	}
	return s
}

package custody

import (
	"fmt"
	"slices"
	"time"

	"orange/fleet/wire"
)

// Holder is what a host knows of its own rights: its lease, and the tasks that it has. Times are those of the host's
// clock since its boot, which goes on while it sleeps.
type Holder struct {
	Number int           `json:"number"` // of the lease; 0 for none yet
	Until  time.Duration `json:"until"`  // when the lease ends
	Tasks  []Tenure      `json:"tasks,omitempty"`
}

// Tenure is what a host knows of a task that it has, or had.
type Tenure struct {
	Task  string `json:"task"`
	Epoch int    `json:"epoch"`
	Has   bool   `json:"has"`            // false where it was taken away; the epoch then is one that never comes back
	Left  bool   `json:"left,omitempty"` // the host has let go of what was taken away
	Ref   string `json:"ref,omitempty"`  // and pushed what it had of it there
	Said  bool   `json:"said,omitempty"` // and the fleet knows that it has
}

func (h Holder) find(id string) int {
	return slices.IndexFunc(h.Tasks, func(t Tenure) bool { return t.Task == id })
}

func (h Holder) with(t Tenure) Holder {
	h.Tasks = slices.Clone(h.Tasks)
	if i := h.find(t.Task); i >= 0 {
		h.Tasks[i] = t
		return h
	}
	h.Tasks = append(h.Tasks, t)
	return h
}

// Of is what the host knows of a task.
func (h Holder) Of(id string) Tenure {
	if i := h.find(id); i >= 0 {
		return h.Tasks[i]
	}
	return Tenure{Task: id}
}

// Leased is the host with the lease that it asked for. It lets go of what is gone before the lease counts, and says
// again that it has. The lease before stays as long as it was: only a beat makes it longer. A server that has lost what
// it knew begins with the first number again.
func (h Holder) Leased(l wire.Lease) Holder {
	for _, gone := range l.Gone {
		h = h.Lost(gone.Task, gone.Epoch)
		if t := h.Of(gone.Task); t.Said {
			t.Said = false
			h = h.with(t)
		}
	}
	h.Number = l.Number
	return h
}

// Lost says that the task is not the host's any more, whatever it had of it until an epoch.
func (h Holder) Lost(id string, epoch int) Holder {
	t := h.Of(id)
	if t.Epoch > epoch || t.Epoch == epoch && !t.Has && t.Epoch > 0 {
		return h
	}
	t.Epoch, t.Has, t.Left, t.Said, t.Ref = epoch, false, false, false, ""
	return h.with(t)
}

// LetGo says that the host has let go of a task that was taken away, and to which ref it has pushed what it had of it:
// none where there was nothing. Only then does the fleet forget that it was taken away.
func (h Holder) LetGo(id string, epoch int, ref string) Holder {
	t := h.Of(id)
	if t.Has || t.Epoch != epoch {
		return h
	}
	t.Left, t.Ref = true, ref
	return h.with(t)
}

// mostSaid is how many tasks that it has let go of a host names at once: the others come with the next message.
const mostSaid = 500

// Gone are the tasks that were taken away: those that the host has let go of and has not said so yet, or those that it
// still has to let go of.
func (h Holder) Gone(left bool) []wire.Gone {
	var out []wire.Gone
	for _, t := range h.Tasks {
		if !t.Has && t.Left == left && !t.Said && (!left || len(out) < mostSaid) {
			out = append(out, wire.Gone{Task: t.Task, Epoch: t.Epoch})
		}
	}
	return out
}

// Said is the host after the fleet has learned which tasks it has let go of.
func (h Holder) Said(left []wire.Gone) Holder {
	for _, gone := range left {
		if t := h.Of(gone.Task); t.Left && t.Epoch == gone.Epoch {
			t.Said = true
			h = h.with(t)
		}
	}
	return h
}

// Took is the host with a task under an epoch. It takes none under an epoch that is over: a late message may say so.
func (h Holder) Took(id string, epoch int) (Holder, error) {
	t := h.Of(id)
	switch {
	case t.Has && t.Epoch == epoch:
		return h, nil // a repeat
	case epoch <= t.Epoch:
		return h, fmt.Errorf("%w: cannot take the task under the epoch %d: this host knows the epoch %d",
			wire.CodeStaleEpoch,
			epoch, t.Epoch)
	}
	return h.with(Tenure{Task: id, Epoch: epoch, Has: true}), nil
}

// Beat is the host after a beat of a lease was acknowledged that it had sent at a time.
func (h Holder) Beat(number int, sent time.Duration) Holder {
	if until := sent + LeaseFor; number == h.Number && until > h.Until {
		h.Until = until
	}
	return h
}

package fencing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/task"
)

// ErrUnexpected says that a snapshot is not what the fleet knows of the task.
var ErrUnexpected = errors.New("the snapshot is not what was expected")

// AskLost is the type of an event that names a request which another home has acknowledged, and which is in no
// snapshot of it.
const AskLost = "ask.lost"

// Keys in the data of such an event. The key of the request is under a name of its own: the event is no answer to it.
const (
	dataLost = "lost"
	dataHost = "host"
)

// RestoreOrder is what a fleet knows of a task that a home is to bring back. What is empty is not compared.
type RestoreOrder struct {
	Epoch    int      `json:"epoch,omitempty"`    // that the task gets here; 0 is the one behind that of its snapshot
	Event    int      `json:"event,omitempty"`    // the last one that the fleet has heard of
	Hash     string   `json:"hash,omitempty"`     // of that event
	Workflow string   `json:"workflow,omitempty"` // the digest of the one that the task was created under
	Host     string   `json:"host,omitempty"`     // that had the task
	Since    []string `json:"since,omitempty"`    // hosts that may have brought it back since
	Keys     []string `json:"keys,omitempty"`     // of requests that the host has acknowledged which had the task
	// By are the hosts that have acknowledged keys in its place, before it had the task.
	By map[string]string `json:"by,omitempty"`
	// Person brings the task back, for the Reason. Signed is what they have signed of that, with its Signature.
	Person    string `json:"person,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Signed    string `json:"signed,omitempty"`
	Signature string `json:"signature,omitempty"`
}

// Brought is the event of a task that came back, with how it did: the record was not lost, it was never here. The
// person is in it with their reason. It stays the engine's: it is no act that rules count.
func (o RestoreOrder) Brought(e history.Event, epoch int) history.Event {
	if e.Type != history.Rebuilt {
		return e
	}
	e.Reason = fmt.Sprintf("it came to this home by its snapshot, in epoch %d, and the hooks that still had to run "+
		"count as performed", epoch)
	if o.Reason != "" {
		e.Reason = o.Reason + "; " + e.Reason
	}
	if o.Reason == "" && o.Signature == "" {
		return e
	}
	by := history.Sign(task.Actor{Person: o.Person, Signed: o.Signed, Signature: o.Signature}, e)
	by.Actor, by.ActingAs = e.Actor, e.ActingAs
	return by
}

// Check refuses an order that cannot be read.
func (o RestoreOrder) Check() error {
	if o.Epoch < 0 || o.Event < 0 || o.Event == 0 && o.Hash != "" {
		return task.Notef(task.ErrUsage, "cannot restore by this order: its epoch and its event are numbers from 1, "+
			"and a hash is of an event")
	}
	for _, key := range o.Keys {
		if err := idempotency.Check(key); err != nil {
			return err
		}
	}
	return nil
}

// Next is the epoch that a task gets whose snapshot has this one.
func (o RestoreOrder) Next(id string, snapshot int) (int, error) {
	switch {
	case o.Epoch == 0:
		return snapshot + 1, nil
	case o.Epoch <= snapshot:
		return 0, task.Notef(ErrUnexpected, "cannot restore task %s in epoch %d: its snapshot has the epoch %d "+
			"already, so that another home has it since", id, o.Epoch, snapshot)
	}
	return o.Epoch, nil
}

// Fits refuses a history that is not the one that the fleet knows, by the host that has signed it; the host is empty
// where no one signs. The notes name an older one.
func (o RestoreOrder) Fits(id, signed string, events []history.Event) (notes []string, err error) {
	refuse := func(format string, args ...any) ([]string, error) {
		return nil, task.Notef(ErrUnexpected, "cannot restore task %s: "+format, append([]any{id}, args...)...)
	}
	switch {
	case len(events) == 0:
		return refuse("its snapshot has no history")
	case o.Host != "" && signed != "" && o.Host != signed:
		return refuse("its snapshot is signed by %q, and %q had the task", signed, o.Host)
	case o.Workflow != "" && events[0].Workflow != o.Workflow:
		return refuse("it was created under the workflow %.12s, and not under %.12s", events[0].Workflow, o.Workflow)
	case o.Event > 0 && o.Event <= len(events) && events[o.Event-1].Hash != o.Hash:
		return refuse("event %d in its snapshot is not the one that the fleet has heard of", o.Event)
	}
	if len(events) < o.Event {
		notes = append(notes, fmt.Sprintf("its snapshot ends with event %d, and the fleet has heard of event %d: what "+
			"came between is lost%s", len(events), o.Event, withHost(o.Host)))
	}
	if slices.ContainsFunc(events, func(e history.Event) bool { return e.Type == history.WorkflowMigrated }) {
		notes = append(notes, "its workflow is not the one that it was created under: it was migrated")
	}
	return notes, nil
}

// Passed reports whether a snapshot that a host has signed is of one that was asked to bring the task back before this
// home: then it is one behind the last of the host that had the task.
func (o RestoreOrder) Passed(signed string) bool {
	return o.Host != "" && signed != "" && signed != o.Host && slices.Contains(o.Since, signed)
}

// FitsBehind is Fits for a history that a host has brought back whose answer did not arrive. It goes on from the one
// that the host had before; what the fleet has heard of is compared with that one.
func (o RestoreOrder) FitsBehind(id string, had, events []history.Event) (notes []string, err error) {
	last := len(had)
	if last == 0 || last > len(events) || had[last-1].Hash != events[last-1].Hash {
		return nil, task.Notef(ErrUnexpected, "cannot restore task %s: its snapshot does not go on from the last one "+
			"of %q, which had the task", id, o.Host)
	}
	return o.Fits(id, o.Host, events[:last])
}

func withHost(host string) string {
	if host == "" {
		return ""
	}
	return " with " + host
}

// Lost are the events that name requests of the order which a history does not have.
func (o RestoreOrder) Lost(events []history.Event, now time.Time) []history.Event {
	var out []history.Event
	for _, key := range o.Keys {
		has := func(e history.Event) bool {
			asked, _ := e.Asked()
			return asked == key || e.Type == AskLost && e.Data[dataLost] == key
		}
		if slices.ContainsFunc(events, has) || slices.ContainsFunc(out, has) {
			continue
		}
		host := cmp.Or(o.By[key], o.Host)
		out = append(out, history.Event{Time: now, Type: AskLost, Actor: task.ActorEngine,
			Reason: fmt.Sprintf("the request %q was acknowledged, and no snapshot has it: it is lost%s", key,
				withHost(host)),
			Data: map[string]string{dataLost: key, dataHost: host}})
	}
	return out
}

// LostKeys are the keys of the order that a history names as lost.
func (o RestoreOrder) LostKeys(events []history.Event) []string {
	var out []string
	for _, lost := range StillLost(events) {
		if slices.Contains(o.Keys, lost.Key) {
			out = append(out, lost.Key)
		}
	}
	return out
}

// LostKey is a request that was acknowledged and is lost.
type LostKey struct {
	Key  string
	Host string // that has acknowledged it; empty where that is not known
}

// StillLost are the lost requests of a history that were not made again under their keys.
func StillLost(events []history.Event) []LostKey {
	var out []LostKey
	for i, e := range events {
		if e.Type != AskLost {
			continue
		}
		again := slices.ContainsFunc(events[i+1:], func(later history.Event) bool {
			asked, _ := later.Asked()
			return asked == e.Data[dataLost]
		})
		if !again {
			out = append(out, LostKey{Key: e.Data[dataLost], Host: e.Data[dataHost]})
		}
	}
	return out
}

// Package custody has the rules of who has a task of a fleet, and for how long.
//
// It owns the epochs of a task, what a rescue takes and leaves, which requests are kept with their answers, when a
// host counts as lost, and what a host may do by the lease that it holds. All of it are values and functions: package
// flow has the server of the fleet keep the values, and package host acts on them.
package custody

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/fleet/sign"
	"orange/fleet/wire"
)

// Phase is how far the custody of a task is.
type Phase string

// The phases of a custody.
const (
	PhaseWaiting Phase = "waiting" // no host has the task: one with a place is looked for
	PhaseTaking  Phase = "taking"  // a host was asked to take it, and may have done so
	PhaseHeld    Phase = "held"    // a host has it
	PhaseEnded   Phase = "ended"   // it is at an end of its workflow
)

// EarlierHost is a host that may still have a task under an epoch that is over.
type EarlierHost struct {
	Host  string `json:"host"`
	Epoch int    `json:"epoch"`
}

// State is the custody of one task. Only the functions of this package make another one of it.
type State struct {
	Fleet   string             `json:"fleet"`
	Task    string             `json:"task"`
	Birth   wire.Birth         `json:"birth"`
	Trust   Trust              `json:"trust"`
	Phase   Phase              `json:"phase"`
	Epoch   int                `json:"epoch"`             // of the last host that was asked to take it; only grows
	Host    string             `json:"host,omitempty"`    // which that is; empty while waiting
	Doubt   bool               `json:"doubt,omitempty"`   // an earlier try of the take may have been at the host
	To      string             `json:"to,omitempty"`      // the host that a person named; empty for any
	Not     []string           `json:"not,omitempty"`     // hosts that cannot take the task
	Because []string           `json:"because,omitempty"` // why, for each of them
	From    string             `json:"from,omitempty"`    // the host that had the task before
	Since   []string           `json:"since,omitempty"`   // hosts that may have taken it since, and do not have it
	Rescue  *wire.Rescue       `json:"rescue,omitempty"`  // by which a person took it away; nil while a host has it
	Known   wire.Head          `json:"known"`             // the last of the history that a host has signed
	Version int                `json:"version,omitempty"` // of the last report under the epoch
	Row     wire.Row           `json:"row"`
	Told    int64              `json:"told,omitempty"`    // when that was reported, by the server's clock
	Refusal *wire.Reply        `json:"refusal,omitempty"` // why no host creates the task
	Keys    []wire.DoneRequest `json:"keys,omitempty"`    // the last requests that were done
	Old     []EarlierHost      `json:"old,omitempty"`
	Apart   []wire.ApartWork   `json:"apart,omitempty"`   // what hosts pushed that came back after a rescue
	Resumed bool               `json:"resumed,omitempty"` // began again from what a host said
}

// ErrDropped says that a message comes too late, or not from the custodian.
var ErrDropped = errors.New("the message does not count")

// wrongCall is how orange ends where what it was asked is wrong, at whichever host.
const wrongCall = 2

// New is the custody of a task that a person created.
func New(fleet, id string, birth wire.Birth, trust Trust, now time.Time) (State, error) {
	people, err := trust.people(fleet)
	if err == nil {
		err = sign.CheckBirth(people, birth, sign.Here{Fleet: fleet, Task: id, Now: now})
	}
	if err != nil {
		return State{}, err
	}
	s := State{Fleet: fleet, Task: id, Birth: birth, Trust: trust, Phase: PhaseWaiting}
	s.To, _ = placeOf(birth.On)
	return s, nil
}

// placeOf is the host that a place is, or the label.
func placeOf(place string) (host, label string) {
	if host, is := strings.CutPrefix(place, wire.HostPlace); is {
		return host, ""
	}
	return "", place
}

// Label is that of the hosts that may take the task. Where a person named one host that is waited for no more, any may.
func (s State) Label() string {
	if _, label := placeOf(s.Birth.On); label != "" {
		return label
	}
	return wire.AnyLabel
}

// Accepted gives the task to a host that has a place for it, under a new epoch; the host has not been asked to take it
// yet. A host that cannot take it is left out from then on, and so is one that is no host of the fleet any more: what
// it says of the take would not count.
func (s State) Accepted(a wire.OfferAnswer, now time.Time) State {
	if a.Unfit == "" && !s.Trust.hasHost(s.Fleet, a.Host, now) {
		a.Unfit = "it is not in the list of hosts"
	}
	return s.accepted(a)
}

// accepted is Accepted for who says it, without the list.
func (s State) accepted(a wire.OfferAnswer) State {
	switch {
	case s.Phase != PhaseWaiting:
		return s
	case a.Unfit != "":
		return s.without(a.Host, a.Unfit)
	}
	s.Phase, s.Host, s.Version, s.Doubt = PhaseTaking, a.Host, 0, false
	s.Epoch++
	return s
}

func (s State) without(host, why string) State {
	if !slices.Contains(s.Not, host) {
		s.Not, s.Because = append(slices.Clone(s.Not), host), append(slices.Clone(s.Because), why)
	}
	return s
}

// NeverReached says that the last try of the take under an epoch never was at the host. Where no try was, the task
// waits for a place again. The epoch is not used again.
func (s State) NeverReached(epoch int) State {
	if s.Phase == PhaseTaking && s.Epoch == epoch && !s.Doubt {
		s.Phase, s.Host = PhaseWaiting, ""
	}
	return s
}

// Doubted says that a try of the take under an epoch failed, and may have been at the host. From then on the same host
// is asked until it answers, or a person rescues the task: nothing moves by itself.
func (s State) Doubted(epoch int) State {
	if s.Phase == PhaseTaking && s.Epoch == epoch {
		s.Doubt = true
	}
	return s
}

// Again forgets which hosts could not take the task: they may be able to by now.
func (s State) Again() State {
	s.Not, s.Because = nil, nil
	return s
}

// Taken is the answer of a host to the take under an epoch, as far as it still matters.
func (s State) Taken(epoch int, t wire.TakeAnswer, now time.Time) (State, error) {
	if err := s.Trust.checkReport(s.Fleet, t.Report, now); err != nil {
		return s, err
	}
	if t.Reply != nil {
		hosts, err := s.Trust.hosts(s.Fleet)
		asked := s.Birth.Ask.Request
		asked.Host, asked.Epoch = t.Report.Host, t.Report.Epoch // it was asked of whichever host has a place
		if err == nil {
			err = sign.CheckReply(hosts, *t.Reply, asked, now)
		}
		if err != nil {
			return s, err
		}
	}
	s, err := s.taken(epoch, t)
	if err == nil {
		s.Told = now.Unix()
	}
	return s, err
}

func (s State) taken(epoch int, t wire.TakeAnswer) (State, error) {
	r := t.Report
	if s.Phase != PhaseTaking || s.Epoch != epoch || !s.by(r.Host, r.Epoch, r.Task) {
		return s, dropError("the answer of the host %q to the take under the epoch %d", r.Host, epoch)
	}
	if t.Refused != "" {
		return s.refused(t), nil
	}
	s.Phase, s.Row, s.Version, s.Known, s.Rescue, s.Since = PhaseHeld, r.Row, r.Version, r.Row.Head, nil, nil
	s = s.Again()
	if b := t.Reply; b != nil && b.Done && s.kept(b.Key) < 0 {
		s = s.keeping(wire.DoneRequest{Key: b.Key, Digest: b.Digest, Host: b.Host, Epoch: b.Epoch, Event: b.Head.Event,
			Reply: *b})
	}
	s.Keys = slices.Clone(s.Keys)
	for i := range s.Keys {
		if slices.Contains(t.Lost, s.Keys[i].Key) {
			s.Keys[i].Lost = true
		}
	}
	return s.end(), nil
}

// refused looks for another host. Where the task cannot be created at the one that a person named, or at none at all,
// the custody is over.
func (s State) refused(t wire.TakeAnswer) State {
	host := s.Host
	s = s.mayHaveTaken().without(host, t.Refused)
	s.Phase, s.Host = PhaseWaiting, ""
	if t.Reply != nil && s.From == "" && (s.To == host || t.Reply.Exit == wrongCall) {
		s.Phase, s.Refusal = PhaseEnded, t.Reply
	}
	return s
}

// mayHaveTaken notes that the host which is asked to bring the task back may have done so: the last snapshot is its own
// then, and the next host has to know.
func (s State) mayHaveTaken() State {
	if s.From != "" && !slices.Contains(s.Since, s.Host) {
		s.Since = append(slices.Clone(s.Since), s.Host)
	}
	return s
}

// by reports whether a host speaks of this task as its custodian.
func (s State) by(host string, epoch int, id string) bool {
	return host == s.Host && epoch == s.Epoch && id == s.Task
}

// end ends the custody where the task is over.
func (s State) end() State {
	if s.Row.Over {
		s.Phase = PhaseEnded
	}
	return s
}

func dropError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDropped}, args...)...)
}

// Reported is the custody after a report. One that is not of the custodian, or is older than the last one, is dropped:
// the list never goes back.
func (s State) Reported(r wire.Report, now time.Time) (State, error) {
	if err := s.Trust.checkReport(s.Fleet, r, now); err != nil {
		return s, err
	}
	s, err := s.reported(r)
	if err == nil {
		s.Told = now.Unix()
	}
	return s, err
}

func (s State) reported(r wire.Report) (State, error) {
	if s.Phase != PhaseHeld || !s.by(r.Host, r.Epoch, r.Task) {
		return s, dropError("a report of the host %q under the epoch %d", r.Host, r.Epoch)
	}
	if r.Version <= s.Version || r.Row.Head.Event < s.Row.Head.Event {
		return s, dropError("the report %d of the host %q, after the report %d", r.Version, r.Host, s.Version)
	}
	s.Version, s.Row = r.Version, r.Row
	s.Known = later(s.Known, r.Row.Head)
	return s.end(), nil
}

func later(a, b wire.Head) wire.Head {
	if b.Event > a.Event {
		return b
	}
	return a
}

// Asked judges a request before it goes to the host: the answer is there already, or the request may go. The host
// checks the signature too; here it is checked by the newest list of people, so that someone who was taken off it has
// asked for the last time.
func (s State) Asked(a wire.Ask, now time.Time) (kept wire.Reply, done bool, err error) {
	r := a.Request
	if i := s.kept(r.Key); i >= 0 {
		switch k := s.Keys[i]; {
		case k.Digest != sign.Digest(r):
			return kept, false, fmt.Errorf("%w: cannot do this under the key %q: give each request a key of its own",
				wire.CodeKeyReused, r.Key)
		case k.Lost:
			return kept, false, fmt.Errorf("%w: cannot answer the request %q: it was done, and is lost with %s; ask "+
				"again under another key", wire.CodeLost, r.Key, k.Host)
		case !k.Elsewhere:
			return k.Reply, true, nil
		}
	}
	switch {
	case s.Phase == PhaseEnded:
		return kept, false, fmt.Errorf("%w: cannot ask for anything: the task is %q, at the host %q", wire.CodeOver,
			s.Row.Status, s.Host)
	case s.Phase != PhaseHeld:
		return kept, false, fmt.Errorf("%w: cannot ask for anything yet: the task is %s; ask again when a host has it",
			wire.CodeNotHeld, s.Phase)
	case r.Epoch != s.Epoch || r.Host != s.Host || r.Task != s.Task:
		return kept, false, fmt.Errorf("%w: cannot ask the host %q under the epoch %d: the task is at %q under the "+
			"epoch %d; ask again", wire.CodeStaleEpoch, r.Host, r.Epoch, s.Host, s.Epoch)
	case now.Unix() >= r.Expires:
		return kept, false, fmt.Errorf("%w: the request expired at %s, and it is %s here: ask again",
			wire.CodeStaleEpoch,
			time.Unix(r.Expires, 0).UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	people, err := s.Trust.people(s.Fleet)
	if err == nil {
		err = sign.CheckRequest(people, a, sign.Here{Fleet: s.Fleet, Host: s.Host, Task: s.Task, Epoch: s.Epoch,
			Now: now}, "")
	}
	return kept, false, err
}

func (s State) kept(key string) int {
	return slices.IndexFunc(s.Keys, func(k wire.DoneRequest) bool { return k.Key == key })
}

// Answered keeps the answer to a request. After it the request is acknowledged: its event is in the history, or is
// named as lost. An answer that comes after the custody has changed is none: the person has to ask again.
func (s State) Answered(asked wire.Request, reply wire.Reply, now time.Time) (State, error) {
	hosts, err := s.Trust.hosts(s.Fleet)
	if err == nil {
		err = sign.CheckReply(hosts, reply, asked, now)
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", wire.CodeNotKnown, err)
	}
	report := reply.Report
	reply.Report = nil // it is not kept with the answer
	next, err := s.answered(asked, reply)
	if err != nil || report == nil {
		return next, err
	}
	if told, dropped := next.Reported(*report, now); dropped == nil {
		return told, nil
	}
	return next, nil // a later report was here before
}

func (s State) answered(asked wire.Request, reply wire.Reply) (State, error) {
	if i := s.kept(asked.Key); i >= 0 {
		return s, nil // a repeat that was under way at the same time
	}
	if s.Phase != PhaseHeld && s.Phase != PhaseEnded || !s.by(reply.Host, reply.Epoch, reply.Task) {
		return s, fmt.Errorf("%w: the task left the host %q before the answer came: ask again", wire.CodeNotKnown,
			reply.Host)
	}
	if !reply.Done {
		return s, nil
	}
	s.Known = later(s.Known, reply.Head)
	if asked.Method == wire.MethodDelete { // no host will report it any more
		s.Row.Over = true
	}
	if asked.Method == wire.MethodSnapshot { // no history has it: a new host would name it as lost
		return s, nil
	}
	return s.end().keeping(wire.DoneRequest{Key: asked.Key, Digest: sign.Digest(asked), Host: reply.Host,
		Epoch: reply.Epoch, Event: reply.Head.Event, Reply: reply}), nil
}

// keeping keeps a request, and of many only the last ones. Of the answers it keeps the last ones as far as there is
// room, and that to the creation; for the others the host answers from its history.
func (s State) keeping(k wire.DoneRequest) State {
	s.Keys = append(slices.Clone(s.Keys), k)
	if more := len(s.Keys) - wire.KeptKeys; more > 0 {
		s.Keys = s.Keys[more:]
	}
	room := wire.MostOfKept
	for i, k := range slices.Backward(s.Keys) {
		room -= len(k.Reply.Output) + len(k.Reply.Errors)
		if room < 0 && !k.Elsewhere && k.Key != s.Birth.Ask.Request.Key {
			s.Keys[i].Reply, s.Keys[i].Elsewhere = wire.Reply{}, true
		}
	}
	return s
}

// Cancelled ends a custody that no host has had: nothing of the task is anywhere else.
func (s State) Cancelled(a wire.Ask, now time.Time) (State, error) {
	people, err := s.Trust.people(s.Fleet)
	if err == nil {
		err = sign.CheckRequest(people, a, sign.Here{Fleet: s.Fleet, Task: s.Task, Epoch: s.Epoch, Now: now}, "")
	}
	switch {
	case err != nil:
		return s, err
	case a.Request.Method != wire.MethodCancel:
		return s, fmt.Errorf("%w: cannot cancel the task: what was signed is %q", wire.CodeStaleEpoch, a.Request.Method)
	case s.Phase == PhaseEnded:
		return s, fmt.Errorf("%w: cannot cancel the task: it is %q", wire.CodeOver, s.Row.Status)
	case s.Phase != PhaseWaiting || s.From != "":
		return s, fmt.Errorf("%w: cannot cancel the task without a host that has it: it is %s; ask again when a host "+
			"has taken it", wire.CodeNotHeld, s.Phase)
	}
	s.Phase, s.Row.Over = PhaseEnded, true
	return s, nil
}

// Summary is what the fleet shows of the custody. Before a host has reported, the birth says what the task is about.
func (s State) Summary() wire.Custody {
	c := wire.Custody{Task: s.Task, Phase: string(s.Phase), Host: s.Host, To: s.To, Epoch: s.Epoch, Not: s.Not,
		Because: s.Because, Row: s.Row, Told: s.Told, Birth: s.Refusal, Harness: s.Birth.Harness,
		Apart: s.Apart}
	if s.To == "" {
		c.On = s.Label()
	}
	if s.Told == 0 || s.Row.Project == "" {
		c.Row.Project, c.Row.Branch, c.Row.Summary = s.Birth.Project, s.Birth.Branch, s.Birth.Summary
	}
	for _, k := range s.Keys {
		if k.Lost {
			c.Lost = append(c.Lost, k.Key)
		}
		if k.Key == s.Birth.Ask.Request.Key {
			c.Birth = &k.Reply
		}
	}
	return c
}

// Listed is what the list of the fleet has of the custody: not the answer to the creation.
func (s State) Listed() wire.Custody {
	c := s.Summary()
	c.Birth = nil
	return c
}

// Kind is the name and the version of the state, which goes from one run of its workflow to the next.
func (State) Kind() (string, int) { return "custody-state", 1 }

// Check accepts every state: the messages that it was made from were checked.
func (State) Check() error { return nil }

// Offer is what hosts with a place are asked; the host that a person named is not.
func (s State) Offer() wire.Offer {
	return wire.Offer{Task: s.Task, Epoch: s.Epoch + 1, Project: s.Birth.Project, Harness: s.Birth.Harness,
		Workflow: s.Birth.Workflow, Not: s.Not}
}

// Take is what the host is asked that the task was given to.
func (s State) Take() wire.Take {
	t := wire.Take{Task: s.Task, Epoch: s.Epoch, Birth: s.Birth, From: s.From, Since: s.Since,
		Known: s.Known}
	if s.From != "" {
		t.Rescue = s.Rescue
	}
	// What is lost is among them: the history that names it may be lost in its turn. The creation is in every history.
	for _, k := range s.Keys {
		if k.Key != s.Birth.Ask.Request.Key {
			t.Keys = append(t.Keys, k)
		}
	}
	return t
}

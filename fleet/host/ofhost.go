package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/work/snapshots"
)

// Local is a task as the record of the host has it: what it would have been created from by the fleet, and the epoch in
// which it is here.
type Local struct {
	Birth wire.Birth
	Epoch int
	Over  bool
}

// OfHost does what a person asks of the host itself, and not of one task that it has for the fleet.
func (h *Host) OfHost(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	if m.Body.Request.Method == wire.MethodAdopt {
		return h.Adopt(ctx, m)
	}
	return h.Drain(ctx, m)
}

// Adopt takes a task into the fleet that was created here without it. Without a birth the answer is what a person has
// to sign for that, and nothing is done. With the birth, the task is the fleet's from then on: the answer has the
// report that the server needs. A repeat is answered with that too.
func (h *Host) Adopt(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	none, r := wire.Message[wire.Reply]{}, m.Body.Request
	if err := h.trusted(ctx, func(people signed.List) error {
		return sign.CheckRequest(people, m.Body, sign.Here{Fleet: h.Fleet, Host: h.Name, Task: r.Task, Now: h.Now(ctx)},
			"")
	}); err != nil {
		return none, flow.Final(err)
	}
	if err := idempotency.CheckID(r.Task); err != nil || len(r.Args) > 0 {
		return none, flow.Final(fmt.Errorf("cannot take the task %q into the fleet: what was signed is %q with %q",
			r.Task,
			r.Method, r.Args))
	}
	local, err := h.Program.Local(ctx, r.Task)
	if errors.Is(err, task.ErrNotFound) {
		return none, flow.Final(err)
	}
	if err != nil {
		return none, err
	}
	told := wire.Newcomer{Birth: local.Birth}
	if text := r.Files[wire.BirthFile]; text != "" {
		if told, err = h.adopt(ctx, r.Task, local, text); err != nil {
			return none, err
		}
	}
	text, err := json.Marshal(wire.Of(told))
	if err != nil {
		return none, fmt.Errorf("write what task %s is: %w", r.Task, err)
	}
	reply, err := sign.Reply(h.Key, wire.Reply{Fleet: h.Fleet, Host: h.Name, Task: r.Task, Key: r.Key,
		Digest: sign.Digest(r), Done: true, Output: string(text)})
	return wire.Of(reply), err
}

// adopt takes a task into the fleet, by a birth that a person has signed. Its first snapshot comes before: a task whose
// work no one could rescue is none of the fleet.
func (h *Host) adopt(ctx context.Context, id string, local Local, text string) (wire.Newcomer, error) {
	var m wire.Message[wire.Birth]
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return wire.Newcomer{}, flow.Final(fmt.Errorf("cannot take task %s into the fleet: read its birth: %w", id,
			err))
	}
	if err := h.trusted(ctx, func(people signed.List) error {
		return sign.CheckBirth(people, m.Body, sign.Here{Fleet: h.Fleet, Task: id, Now: h.Now(ctx)})
	}); err != nil {
		return wire.Newcomer{}, flow.Final(err)
	}
	asked := m.Body
	asked.Ask = wire.Ask{}
	holder, err := h.Store.Read()
	if err != nil {
		return wire.Newcomer{}, err
	}
	if t := holder.Of(id); t.Has {
		return h.told(ctx, id, t.Epoch)
	}
	switch _, stale := holder.Took(id, local.Epoch); {
	case local.Over:
		return wire.Newcomer{}, flow.Final(fmt.Errorf("cannot take task %s into the fleet: it is over", id))
	case !reflect.DeepEqual(asked, local.Birth):
		return wire.Newcomer{}, flow.Final(fmt.Errorf("cannot take task %s into the fleet: it has changed since it "+
			"was signed; ask again", id))
	case stale != nil:
		return wire.Newcomer{}, flow.Final(stale)
	}
	shipped, err := h.Ship(ctx, id)
	if err == nil && shipped[0].Code != "" {
		err = errors.New(shipped[0].Error)
	}
	if err != nil {
		return wire.Newcomer{}, flow.Final(fmt.Errorf("cannot take task %s into the fleet: its first snapshot cannot "+
			"be taken: %w", id, err))
	}
	if err := h.Store.KeepBirth(id, m.Body); err != nil {
		return wire.Newcomer{}, err
	}
	err = h.Store.Change(func(now custody.Holder) (custody.Holder, error) { return now.Took(id, local.Epoch) })
	if err != nil {
		return wire.Newcomer{}, err
	}
	h.say("has taken task %s into the fleet, which was created here, under the custody %d", id, local.Epoch)
	return h.told(ctx, id, local.Epoch)
}

// told is what the server needs to know of a task that the host has.
func (h *Host) told(ctx context.Context, id string, epoch int) (wire.Newcomer, error) {
	birth, err := h.Store.birth(id)
	if err == nil && birth == nil {
		err = flow.Final(fmt.Errorf("the task %s is the fleet's already, and this host did not keep what it was "+
			"created from", id))
	}
	if err != nil {
		return wire.Newcomer{}, err
	}
	report, err := h.report(ctx, id, epoch)
	return wire.Newcomer{Birth: *birth, Report: &report}, err
}

// Local is a task as the record has it.
func (o Orange) Local(ctx context.Context, id string) (Local, error) {
	var shown struct {
		Task struct {
			Project  string `json:"project"`
			Branch   string `json:"branch"`
			Summary  string `json:"summary"`
			Workflow string `json:"workflow"`
			Harness  string `json:"harness"`
			Reviewer string `json:"review_harness"`
			Live     bool   `json:"live"`
		} `json:"task"`
	}
	if err := o.read(ctx, &shown, "task", "show", "--", id); err != nil {
		return Local{}, err
	}
	var past struct {
		Events []history.Event `json:"events"`
	}
	if err := o.read(ctx, &past, "task", "history", "--", id); err != nil {
		return Local{}, err
	}
	if len(past.Events) == 0 {
		return Local{}, fmt.Errorf("read the history of task %s: it has no event", id)
	}
	epoch, err := snapshots.Keeper{Home: o.Home}.HeldIn(id)
	t := shown.Task
	birth := wire.Birth{Project: t.Project, On: wire.AnyLabel, Branch: t.Branch, Summary: shortText(t.Summary),
		Workflow: t.Workflow + "@" + past.Events[0].Workflow}
	for _, name := range []string{t.Harness, t.Reviewer} {
		if name != "" && (len(birth.Harness) == 0 || birth.Harness[0] != name) {
			birth.Harness = append(birth.Harness, name)
		}
	}
	return Local{Birth: birth, Epoch: max(1, epoch), Over: !t.Live}, err // the first, if no fleet has had it
}

// Drain has the host take no new tasks, or take some again, where a person signed that for this host.
func (h *Host) Drain(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	none, r := wire.Message[wire.Reply]{}, m.Body.Request
	if err := h.trusted(ctx, func(people signed.List) error {
		return sign.CheckRequest(people, m.Body, sign.Here{Fleet: h.Fleet, Host: h.Name, Now: h.Now(ctx)}, "")
	}); err != nil {
		return none, flow.Final(err)
	}
	if r.Method != wire.MethodDrain || len(r.Args) != 1 || r.Args[0] != wire.DrainOn && r.Args[0] != wire.DrainOff {
		return none, flow.Final(fmt.Errorf("cannot drain the host %q: what was signed is %q %q", h.Name, r.Method,
			r.Args))
	}
	if err := h.Store.Drain(r.Args[0] == wire.DrainOn); err != nil {
		return none, err
	}
	h.news.tell()
	reply, err := sign.Reply(h.Key, wire.Reply{Fleet: h.Fleet, Host: h.Name, Key: r.Key, Digest: sign.Digest(r),
		Done: true})
	return wire.Of(reply), err
}

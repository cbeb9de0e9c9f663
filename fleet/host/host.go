package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api"
	"orange/internal/api/remote"
	"orange/internal/rules/fencing"
	"orange/internal/rules/signed"
)

// Host is one host of a fleet. Fields are required where they do not say otherwise.
type Host struct {
	Fleet     string
	Name      string
	Only      []string // the projects that it takes tasks of; empty for all that are registered
	Snapshots string   // the repository that snapshots of tasks go to
	Biggest   int64    // bytes of a new file that a snapshot takes in; 0 for the usual ones
	Key       ssh.Signer
	People    func() (signed.List, error)
	Program   Program
	Store     *Store
	Now       func(ctx context.Context) time.Time // by the clock of the fleet's server, where a call came from it
	// Say has lines for the person who looks after the host; nil for no one.
	Say func(line string)

	places   places
	learner  learner
	news     news
	unpushed sync.Map // why a task that was taken away stays, by its id
	turns    sync.Map // to take a task, or to let go of it, by its id
	leaves   sync.WaitGroup
}

func (h *Host) say(format string, args ...any) {
	if h.Say != nil {
		h.Say(fmt.Sprintf(format, args...))
	}
}

// Take takes a task: it creates it, or brings it back from its snapshot. A repeat is answered with the task that is
// there; a take under an epoch that is over is refused.
func (h *Host) Take(ctx context.Context, m wire.Message[wire.Take]) (wire.Message[wire.TakeAnswer], error) {
	take, none := m.Body, wire.Message[wire.TakeAnswer]{}
	err := h.trusted(ctx, func(people signed.List) error {
		err := sign.CheckBirth(people, take.Birth, sign.Here{Fleet: h.Fleet, Task: take.Task, Waited: true})
		if err == nil && take.From != "" {
			err = h.checkRescue(people, take)
		}
		return err
	})
	if err != nil {
		return h.no(ctx, take, err.Error(), nil)
	}
	over, err := h.turn(ctx, take.Task)
	if err != nil {
		return none, err
	}
	defer over()
	holder, err := h.Store.Read()
	if err != nil {
		return none, err
	}
	if _, err := holder.Took(take.Task, take.Epoch); err != nil {
		return h.no(ctx, take, err.Error(), nil)
	}
	if err := h.leaveEarlier(ctx, take, holder.Of(take.Task)); errors.Is(err, ErrStays) {
		return h.no(ctx, take, err.Error(), nil)
	} else if err != nil {
		return none, err
	}
	if other, err := h.otherBirth(ctx, take); err != nil || other != "" {
		if err != nil {
			return none, err
		}
		return h.no(ctx, take, other, nil)
	}
	taking, err := h.taking(take)
	if err != nil {
		return none, err
	}
	defer h.EndPromise(take.Task)
	said, err := h.Program.Do(ctx, taking)
	if err != nil {
		return none, err
	}
	if !done(said) {
		has, err := h.has(ctx, take.Task)
		if err != nil {
			return none, err
		}
		if !has {
			return h.no(ctx, take, said.Failure(), &said)
		}
		if take.From != "" {
			said = remote.Reply{Stdout: "{}"} // what failed came after the task was there
		}
	}
	if err := h.Store.KeepBirth(take.Task, take.Birth); err != nil {
		return none, err
	}
	err = h.Store.Change(func(now custody.Holder) (custody.Holder, error) {
		return now.Took(take.Task, take.Epoch)
	})
	if errors.Is(err, wire.CodeStaleEpoch) { // it was taken away meanwhile
		gone := h.letGo(ctx, wire.Gone{Task: take.Task, Epoch: take.Epoch})
		if gone != nil && !errors.Is(gone, ErrStays) {
			return none, gone
		}
		return h.no(ctx, take, err.Error(), nil)
	}
	if err != nil {
		return none, err
	}
	h.say("takes task %s of %s, under the custody %d", take.Task, take.Birth.Project, take.Epoch)
	return h.taken(ctx, take, said)
}

// checkRescue refuses to bring a task back that no person took away from the host that had it.
func (h *Host) checkRescue(people signed.List, take wire.Take) error {
	r := take.Rescue
	if r == nil || r.From >= take.Epoch || r.To != "" && r.To != h.Name {
		return wire.Refuse(wire.CodeUnsigned, "cannot bring task %s back: no person has signed that it is taken away "+
			"from %q and given to this host", take.Task, take.From)
	}
	return sign.CheckRescue(people, *r, sign.Here{Fleet: h.Fleet, Task: take.Task, Epoch: r.From, Waited: true})
}

// otherBirth says why the host does not create a task that it does not have yet: its workflow is another one.
func (h *Host) otherBirth(ctx context.Context, take wire.Take) (string, error) {
	if take.From != "" { // the snapshot has the text
		return "", nil
	}
	other, err := h.otherRules(ctx, take.Birth.Workflow)
	if err != nil || other == "" {
		return "", err
	}
	has, err := h.has(ctx, take.Task) // an earlier try may have created it, before the file changed
	if err != nil || has {
		return "", err
	}
	return other, nil
}

// taking is the command that takes a task. A workflow of this host has to be the one of the birth: the history that it
// writes names it by its digest.
func (h *Host) taking(take wire.Take) (remote.Call, error) {
	b := take.Birth
	name, digest, _ := strings.Cut(b.Workflow, "@")
	if take.From == "" && len(b.Args) > 0 {
		words := []string{"--project=" + b.Project, "--id=" + take.Task, "--epoch=" + strconv.Itoa(take.Epoch)}
		c := call("create", "", b.Files[wire.StdinFile], append(words, b.Args...)...)
		c.Files, c.Signed = maps.Clone(b.Files), proof(b.Ask)
		delete(c.Files, wire.StdinFile)
		return c, nil
	}
	if take.From == "" {
		words := []string{"--json", "--project=" + b.Project, "--id=" + take.Task,
			"--epoch=" + strconv.Itoa(take.Epoch), "--workflow=" + name, "--context=-", "--branch=" + b.Branch}
		if b.Summary != "" {
			words = append(words, "--summary="+b.Summary)
		}
		c := call("create", "", b.Context, words...)
		c.Signed = proof(b.Ask)
		return c, nil
	}
	rescue, person := take.Rescue, proof(take.Rescue.Ask)
	o := fencing.RestoreOrder{Epoch: take.Epoch, Event: take.Known.Event, Hash: take.Known.Hash, Workflow: digest,
		Host: take.From, Since: take.Since, Reason: rescue.Now, Person: rescue.Ask.Request.Person,
		Signed: person.Text, Signature: person.Signature, By: map[string]string{}}
	for _, k := range take.Keys {
		o.Keys = append(o.Keys, k.Key)
		if k.Host != take.From {
			o.By[k.Key] = k.Host
		}
	}
	order, err := json.Marshal(o)
	if err != nil {
		return remote.Call{}, fmt.Errorf("write what is known of task %s: %w", take.Task, err)
	}
	return call("restore", "", string(order), "--json", "--project="+b.Project, "--from="+h.Snapshots, "--expect=-",
		"--", take.Task), nil
}

// proof is what a person has signed, as orange keeps it in the history.
func proof(ask wire.Ask) *remote.Signed {
	return &remote.Signed{Text: sign.RequestText(ask.Request), Signature: ask.Signature}
}

// has reports whether orange has a task.
func (h *Host) has(ctx context.Context, id string) (bool, error) {
	said, err := h.Program.Do(ctx, call("show", "", "", "--json", "--", id))
	switch {
	case err != nil:
		return false, err
	case done(said):
		return true, nil
	case said.Refused == "" && said.Exit == notFound:
		return false, nil
	}
	return false, errors.New(said.Failure())
}

// no is the answer of a host that does not take a task, and never will under this epoch. Said is what orange said where
// it could not create the task; nil where it was not asked.
func (h *Host) no(ctx context.Context, take wire.Take, why string, said *remote.Reply) (wire.Message[wire.TakeAnswer],
	error) {
	if err := h.Store.Change(func(now custody.Holder) (custody.Holder, error) {
		before := now.Of(take.Task)
		now = now.Lost(take.Task, take.Epoch)
		if before.Epoch == 0 || before.Left { // there is nothing here to let go of
			now = now.LetGo(take.Task, take.Epoch, "")
		}
		return now, nil
	}); err != nil {
		return wire.Message[wire.TakeAnswer]{}, err
	}
	report, err := sign.Report(h.Key, wire.Report{Fleet: h.Fleet, Host: h.Name, Epoch: take.Epoch, Task: take.Task})
	taken := wire.TakeAnswer{Report: report, Refused: shortText(why)}
	if err == nil && said != nil && take.From == "" {
		taken.Reply, err = h.born(take, *said, wire.Head{})
	}
	return wire.Of(taken), err
}

// born is the answer to the request that a task was created by.
func (h *Host) born(take wire.Take, said remote.Reply, head wire.Head) (*wire.Reply, error) {
	r := take.Birth.Ask.Request
	r.Epoch = take.Epoch
	reply, err := h.reply(r, said, head)
	return &reply, err
}

// reply is what orange said, signed as the answer to a request.
func (h *Host) reply(r wire.Request, said remote.Reply, head wire.Head) (wire.Reply, error) {
	reply := wire.Reply{Fleet: h.Fleet, Host: h.Name, Epoch: r.Epoch, Task: r.Task, Key: r.Key, Digest: sign.Digest(r),
		Done: said.Exit == 0, Exit: said.Exit, Head: head}
	reply.Output, reply.Errors, reply.Cut = cutOutput(said.Stdout, said.Stderr+said.Refused, wire.MostOfReply)
	return sign.Reply(h.Key, reply)
}

// taken is the answer of a host that has taken a task: its first report, and the requests that are lost.
func (h *Host) taken(ctx context.Context, take wire.Take, said remote.Reply) (wire.Message[wire.TakeAnswer], error) {
	var restored struct {
		Lost []string `json:"lost"`
	}
	if take.From != "" {
		if err := json.Unmarshal([]byte(said.Stdout), &restored); err != nil {
			return wire.Message[wire.TakeAnswer]{}, fmt.Errorf("read what was restored of task %s: %w", take.Task, err)
		}
	}
	report, err := h.report(ctx, take.Task, take.Epoch)
	taken := wire.TakeAnswer{Report: report, Lost: restored.Lost}
	if err == nil && take.From == "" {
		taken.Reply, err = h.born(take, said, report.Row.Head)
	}
	return wire.Of(taken), err
}

// shortText is a text for people that fits into a message.
func shortText(text string) string {
	if len(text) > wire.MostOfText {
		text = strings.ToValidUTF8(text[:wire.MostOfText], "")
	}
	return text
}

// Answer does what a person asks, if the person signed it for this host, this task and this epoch.
func (h *Host) Answer(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	none, r := wire.Message[wire.Reply]{}, m.Body.Request
	holder, err := h.Store.Read()
	if err != nil {
		return none, err
	}
	t := holder.Of(r.Task)
	if !t.Has {
		return none, flow.Final(wire.Refuse(wire.CodeStaleEpoch, "cannot do %q: the host %q does not have the task",
			r.Method, h.Name))
	}
	if err := h.trusted(ctx, func(people signed.List) error {
		return sign.CheckRequest(people, m.Body, sign.Here{Fleet: h.Fleet, Host: h.Name, Task: r.Task, Epoch: t.Epoch,
			Now: h.Now(ctx)}, "")
	}); err != nil {
		return none, flow.Final(err)
	}
	words := r.Args
	if r.As != "" {
		words = append([]string{"--as=" + r.As}, words...)
	}
	asked := call(r.Method, r.Key, r.Stdin, words...)
	asked.Files, asked.Signed = r.Files, proof(m.Body)
	if r.Method == wire.MethodSnapshot && asked.Flag("to") == "" { // the host knows where; it is no request of the task
		asked = call(r.Method, "", "", append([]string{"--to=" + h.Snapshots}, words...)...)
	}
	said, err := h.Program.Do(ctx, asked)
	if err != nil {
		return none, err
	}
	if said.Refused != "" {
		return none, flow.Final(errors.New(said.Refused))
	}
	if said, err = h.deletedBefore(ctx, r, said); err != nil {
		return none, err
	}
	var row wire.Row
	told := said.Task != nil && said.Task.ID == r.Task
	switch {
	case told:
		row = rowOf(*said.Task)
	case done(said): // it was deleted, or has left
		row, err = h.row(ctx, r.Task)
	default:
		row, err = h.Store.Row(r.Task)
	}
	if err != nil {
		return none, err
	}
	reply, err := h.reply(r, said, row.Head)
	if err == nil && reply.Done && told {
		reply.Report = h.withAnswer(r.Task, t.Epoch, row)
	}
	return wire.Of(reply), err
}

// deletedBefore is the answer to the request that deletes a task where an earlier try has done so: the history that
// would know the key is gone with the task, and it has not left, for then it would still be held.
func (h *Host) deletedBefore(_ context.Context, r wire.Request, said remote.Reply) (remote.Reply, error) {
	if r.Method != wire.MethodDelete || said.Exit != notFound {
		return said, nil
	}
	held, err := h.Program.Holds(r.Task)
	if err != nil || held {
		return said, err
	}
	out := "task " + r.Task + " was deleted before\n"
	if slices.Contains(r.Args, "--json") {
		out = fmt.Sprintf("{\n  \"deleted\": %q\n}\n", r.Task)
	}
	return remote.Reply{V: remote.Version, Stdout: out}, nil
}

// cutOutput makes what a command printed fit into a message.
func cutOutput(output, errs string, most int) (out, err string, more bool) {
	out, err = strings.ToValidUTF8(output, "�"), strings.ToValidUTF8(errs, "�")
	if len(out) > most {
		out, more = strings.ToValidUTF8(out[:most], ""), true
	}
	if left := most - len(out); len(err) > left {
		err, more = strings.ToValidUTF8(err[:left], ""), true
	}
	return out, err, more
}

// Look answers a question that changes nothing.
func (h *Host) Look(ctx context.Context, m wire.Message[wire.Look]) (wire.Message[wire.LookAnswer], error) {
	if remote.RepeatOf(m.Body.Method) != api.Reads {
		return wire.Message[wire.LookAnswer]{}, flow.Final(fmt.Errorf("cannot look with %q: it may change something",
			m.Body.Method))
	}
	said, err := h.Program.Do(ctx, call(m.Body.Method, "", "", m.Body.Args...))
	if err != nil {
		return wire.Message[wire.LookAnswer]{}, err
	}
	seen := wire.LookAnswer{Host: h.Name, Exit: said.Exit}
	seen.Output, seen.Errors, seen.Cut = cutOutput(said.Stdout, said.Stderr+said.Refused, wire.MostOfLook)
	return wire.Of(seen), nil
}

package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

// asksToAdopt asks a host to take a task into the fleet: without a birth, what there is to sign.
func asksToAdopt(t *testing.T, h *host.Host, birth *wire.Birth) (wire.Newcomer, error) {
	t.Helper()
	r := wire.Request{Fleet: testkit.Fleet, Host: h.Name, Task: id, Method: wire.MethodAdopt, Person: "ada", Key: "k",
		Expires: now.Add(time.Minute).Unix()}
	if birth != nil {
		text, err := json.Marshal(wire.Of(*birth))
		testkit.Must(t, err)
		r.Files = map[string]string{wire.BirthFile: string(text)}
	}
	m, err := h.OfHost(t.Context(), wire.Of(testkit.Ask(t, r)))
	if err != nil {
		return wire.Newcomer{}, err
	}
	lists, err := testkit.Trust(t).Lists(testkit.Fleet)
	testkit.Must(t, err)
	testkit.Must(t, sign.CheckReply(lists.Hosts, m.Body, r, now))
	var n wire.Message[wire.Newcomer]
	testkit.Must(t, json.Unmarshal([]byte(m.Body.Output), &n))
	return n.Body, nil
}

// signedBirth is what a person has signed to take a task into the fleet.
func signedBirth(t *testing.T, b wire.Birth) *wire.Birth {
	t.Helper()
	b.Ask = testkit.Ask(t, wire.Request{Fleet: testkit.Fleet, Task: id, Method: wire.MethodCreate, Person: "ada",
		Args: []string{sign.BirthDigest(b)}, Key: id, Expires: now.Add(time.Minute).Unix()})
	return &b
}

func TestAdopt_takesWhatAPersonSignedAfterItsFirstSnapshot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.epoch = 2
	known, err := asksToAdopt(t, r.Host, nil)
	if err != nil || known.Report != nil || known.Birth.Project != "web" || r.holder().Of(id).Has {
		t.Fatalf("%+v, %v", known, err)
	}
	r.program.answer = func(c remote.Call) *remote.Reply {
		if c.Argv[1] == "snapshot" {
			return &remote.Reply{Stdout: `{"event": 9}`}
		}
		return nil
	}
	for range 2 { // the answer may have been lost
		n, err := asksToAdopt(t, r.Host, signedBirth(t, known.Birth))
		if err != nil || n.Report == nil || n.Report.Epoch != 2 || n.Birth.Ask.Signature == "" {
			t.Fatalf("%+v, %v", n, err)
		}
	}
	if !r.holder().Of(id).Has || !r.program.did("snapshot", "--json", "--if-changed", "--to=vault") {
		t.Errorf("it has %+v", r.holder())
	}
}

func TestAdopt_refusesWhatIsNotWhatIsHere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.epoch = 1
	known, err := asksToAdopt(t, r.Host, nil)
	testkit.Must(t, err)
	other := known.Birth
	other.Workflow = "own@13"
	unsigned := *signedBirth(t, known.Birth)
	unsigned.Summary = "another"
	for what, c := range map[string]struct {
		birth  *wire.Birth
		change func(*rig)
		says   string
	}{
		"another workflow":       {signedBirth(t, other), nil, "it has changed since it was signed"},
		"another signature":      {&unsigned, nil, "what was signed is not what it is to be created from"},
		"one that is over":       {signedBirth(t, known.Birth), func(r *rig) { r.over = true }, "it is over"},
		"one that is not here":   {nil, func(r *rig) { r.unread = task.ErrNotFound }, task.ErrNotFound.Error()},
		"one without a snapshot": {signedBirth(t, known.Birth), nil, "its first snapshot cannot be taken"},
		"one that was taken away": {signedBirth(t, known.Birth), func(r *rig) { r.lost(3) }, "this host knows the " +
			"epoch 3"},
		"a host that is not meant": {nil, func(r *rig) { r.Fleet = "other" }, "it is for the task"},
	} {
		r := newRig(t)
		if r.epoch = 1; c.change != nil {
			c.change(r)
		}
		r.program.answer = func(c remote.Call) *remote.Reply {
			if c.Argv[1] == "snapshot" {
				return &remote.Reply{Exit: 1, Stderr: "orange: no route\n"}
			}
			return nil
		}
		if n, err := asksToAdopt(t, r.Host, c.birth); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", what, n, err)
		}
		if _, err := os.Stat(filepath.Join(r.Store.Dir, "births", id+".json")); err == nil || r.holder().Of(id).Has {
			t.Errorf("%s: the host has it", what)
		}
	}
}

// lost says that a task is not the host's any more.
func (r *rig) lost(epoch int) {
	r.t.Helper()
	testkit.Must(r.t, r.Store.Change(func(now custody.Holder) (custody.Holder, error) {
		return now.Lost(id, epoch),
			nil
	}))
}

// A task that was created at a host by orange itself joins the fleet, and another host can bring it back from then on.
func TestAdopt_ofATaskThatOrangeCreated(t *testing.T) {
	program, vault := buildOrange(t)
	h1, h2 := real(t, program, "h1", vault), real(t, program, "h2", vault)
	run(t, h1.Program.(host.Orange).Home, program, "task", "create", "feat/a", "Made offline", "--project", "web",
		"--workflow", "own", "--id", id)
	known, err := asksToAdopt(t, h1.Host, nil)
	testkit.Must(t, err)
	if b := known.Birth; b.Branch != "feat/a" || b.Summary != "Made offline" || !strings.HasPrefix(b.Workflow, "own@") {
		t.Errorf("there is to sign %+v", b)
	}
	n, err := asksToAdopt(t, h1.Host, signedBirth(t, known.Birth))
	testkit.Must(t, err)
	trust := testkit.Trust(t)
	state, err := custody.Resume(testkit.Fleet, n.Birth, trust, *n.Report, now)
	if err != nil || state.Host != "h1" || state.Epoch != 1 || state.Row.Summary != "Made offline" {
		t.Fatalf("the fleet knows %+v, %v", state, err)
	}
	take := wire.Take{Task: id, Epoch: 2, Birth: n.Birth, From: "h1", Known: state.Known,
		Rescue: new(testkit.Rescue(t, "ada", id, 1, "h2", "it burns", now))}
	m, err := h2.Take(t.Context(), wire.Of(take))
	if testkit.Must(t, err); m.Body.Refused != "" || m.Body.Report.Row.Branch != "feat/a" {
		t.Errorf("rescued: %+v", m.Body)
	}
}

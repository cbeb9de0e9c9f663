package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

const id = "4FzXk0aB3cD5eF7gH9iJ1"

var now = time.Unix(1_700_000_000, 0).UTC()

// program is a fake orange: it keeps which tasks there are, and what it was asked.
type program struct {
	lock   sync.Mutex
	tasks  map[string]bool
	calls  []remote.Call
	before func(remote.Call) // what happens while a command runs
	answer func(remote.Call) *remote.Reply
	// missing is for a task that is not there until it was created.
	missing bool
	row     remote.Row // how every task is
}

func (p *program) Do(_ context.Context, c remote.Call) (remote.Reply, error) {
	p.lock.Lock()
	p.calls = append(p.calls, c)
	p.lock.Unlock()
	if p.before != nil {
		p.before(c)
	}
	if p.answer != nil {
		if said := p.answer(c); said != nil {
			return *said, nil
		}
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	task := c.Argv[len(c.Argv)-1]
	switch c.Argv[1] {
	case "create":
		p.tasks[id] = true
	case "restore":
		p.tasks[task] = true
		return remote.Reply{Stdout: `{"lost": ["k2"]}`}, nil
	case "leave":
		if !p.tasks[task] {
			return remote.Reply{Exit: 4, Stderr: "orange: no such task\n"}, nil
		}
		delete(p.tasks, task)
	case "show":
		if p.missing && !p.tasks[task] {
			return remote.Reply{Exit: 4, Stdout: `{"error": "no such task"}`}, nil
		}
		return remote.Reply{Task: &p.row}, nil
	}
	return remote.Reply{Stdout: "done\n", Task: &p.row}, nil
}

func (p *program) did(words ...string) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.ContainsFunc(p.calls, func(c remote.Call) bool {
		return strings.Contains(strings.Join(c.Argv, " "), strings.Join(words, " "))
	})
}

// machine is what a host has.
type machine struct {
	lock       sync.Mutex
	projects   []string
	harnesses  []string
	free       map[string]int
	workflows  map[string]string
	space      uint64
	held       map[string]bool
	cannotLook error
}

func (m *machine) Projects(context.Context) ([]string, error) {
	return slices.Clone(m.projects), m.cannotLook
}
func (m *machine) Harnesses(context.Context) ([]string, error) { return m.harnesses, m.cannotLook }
func (m *machine) Space() (uint64, error)                      { return m.space, m.cannotLook }
func (m *machine) Holds(id string) (bool, error)               { return m.held[id], m.cannotLook }

func (m *machine) Free(context.Context) (map[string]int, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return maps.Clone(m.free), m.cannotLook
}

func (m *machine) Workflow(_ context.Context, name string) (string, error) {
	digest, is := m.workflows[name]
	if !is {
		return "", task.Notef(task.ErrNotFound, "there is no workflow %q", name)
	}
	return digest, m.cannotLook
}

// rig is a host with a fake program, a clock and a folder.
type rig struct {
	*host.Host
	t       *testing.T
	program *program
	machine *machine
	up      time.Duration
	boot    string
	state   custody.HostState
	token   string // of the present hold
	reports []wire.Report
	epoch   int   // of a task that was created here
	over    bool  // it is
	unread  error // why the record does not have it
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, program: &program{tasks: map[string]bool{}, row: remote.Row{
		ID: id, Project: "web", Summary: "one", Status: "working", Branch: "b", Live: true, EnteredAt: now, Event: 9,
		Hash: "ff"}}, up: time.Hour, boot: "b1"}
	authority := sign.KeyOf(testkit.Key(t, testkit.Authority).PublicKey())
	r.machine = &machine{projects: []string{"web"}, harnesses: []string{"pi"}, free: map[string]int{"web": 2},
		workflows: map[string]string{"default": "12"}, space: 1 << 40, held: map[string]bool{id: true}}
	r.Host = &host.Host{Fleet: testkit.Fleet, Name: "h1",
		Snapshots: "vault", Key: testkit.Key(t, "h1"), Program: home{r.program, r.machine, r},
		Now: func(context.Context) time.Time { return now },
		People: func() (signed.List, error) {
			return testkit.List(t, signed.OfPeople, 1, "ada").Open(authority, testkit.Fleet, signed.OfPeople)
		},
		Store: &host.Store{Dir: filepath.Join(t.TempDir(), "fleet"), Now: func() time.Time { return now },
			Clock: func() (string, time.Duration, error) { return r.boot, r.up, nil }},
	}
	return r
}

// home is the whole of the fake orange.
type home struct {
	*program
	*machine
	rig *rig
}

func (h home) Local(context.Context, string) (host.Local, error) {
	return host.Local{Birth: wire.Birth{Project: "web", On: "any", Summary: "one", Workflow: "own@12"},
		Epoch: h.rig.epoch, Over: h.rig.over}, h.rig.unread
}

// Here, Beat and Report are the server.
func (r *rig) Here(_ context.Context, said wire.Here) (wire.Lease, error) {
	var lease wire.Lease
	r.state, lease = r.state.Came(said, now)
	r.token = fmt.Sprint(lease.Number)
	return lease, nil
}

func (r *rig) Beat(_ context.Context, token []byte) error {
	if string(token) != r.token {
		return host.ErrOver
	}
	return nil
}

func (r *rig) Told(_ context.Context, said wire.Here) error {
	r.state = r.state.Told(said)
	return nil
}

func (r *rig) Report(_ context.Context, report wire.Report) error {
	r.reports = append(r.reports, report)
	return nil
}

func (r *rig) holder() custody.Holder {
	r.t.Helper()
	h, err := r.Store.Read()
	testkit.Must(r.t, err)
	return h
}

// beats beats once, and is true where that was acknowledged.
func (r *rig) beats(number int) bool {
	r.t.Helper()
	one, every, asked := &once{rig: r}, make(chan time.Time), make(chan host.Lease, 1)
	close(every)
	asked <- host.Lease{Number: number, Token: []byte(fmt.Sprint(number))}
	if err := r.Hold(r.t.Context(), one, number, asked, every); !errors.Is(err, host.ErrOver) {
		r.t.Errorf("the hold ends with %v", err)
	}
	return one.done
}

// once is a server that acknowledges one beat.
type once struct {
	*rig
	done bool
}

func (o *once) Beat(ctx context.Context, token []byte) error {
	if o.done {
		return host.ErrOver
	}
	err := o.rig.Beat(ctx, token)
	o.done = err == nil
	return err
}

func (r *rig) takes(epoch int, change func(*wire.Take)) (wire.TakeAnswer, error) {
	r.t.Helper()
	take := wire.Take{Task: id, Epoch: epoch, Birth: testkit.Birth(r.t, "ada", id, "any", now)}
	if change != nil {
		change(&take)
	}
	m, err := r.Take(r.t.Context(), wire.Of(take))
	return m.Body, err
}

func (r *rig) taken(epoch int) {
	r.t.Helper()
	if taken, err := r.takes(epoch, nil); err != nil || taken.Refused != "" {
		r.t.Fatalf("%+v, %v", taken, err)
	}
}

func TestTake_createsTheTaskOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	taken, err := r.takes(2, nil)
	if err != nil || taken.Refused != "" || taken.Report.Epoch != 2 || taken.Report.Row.Head.Event != 9 ||
		taken.Report.Row.Status != "working" || taken.Report.Row.Over || taken.Report.Signature == "" {
		t.Errorf("%+v, %v", taken, err)
	}
	if !r.program.did("create", "--json", "--project=web", "--id="+id, "--epoch=2") || !r.holder().Of(id).Has {
		t.Errorf("the calls are %+v", r.program.calls)
	}
	again, err := r.takes(2, nil)
	if err != nil || again.Report.Version <= taken.Report.Version {
		t.Errorf("again: %+v, %v", again, err)
	}
	late, err := r.takes(1, nil)
	if err != nil || late.Refused == "" || !r.holder().Of(id).Has {
		t.Errorf("a late one: %+v, %v", late, err)
	}
}

func TestTake_refusesWhatNoPersonSigned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	taken, err := r.takes(1, func(take *wire.Take) { take.Birth.Rules += "x" })
	if err != nil || taken.Refused == "" || len(r.program.calls) > 0 {
		t.Errorf("%+v, %v", taken, err)
	}
	if taken, err = r.takes(1, nil); err != nil || taken.Refused == "" {
		t.Errorf("under an epoch that was refused: %+v, %v", taken, err)
	}
}

func TestTake_bringsATaskBackFromItsSnapshot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rescue := testkit.Rescue(t, "ada", id, 2, "", "it burns", now)
	brings := func(rescue *wire.Rescue) (wire.TakeAnswer, error) {
		return r.takes(3, func(take *wire.Take) {
			take.From, take.Known, take.Rescue = "h2", wire.Head{Event: 7, Hash: "aa"}, rescue
			take.Since = []string{"h3"}
			take.Keys = []wire.DoneRequest{{Key: "k1"}, {Key: "k2"}}
		})
	}
	taken, err := brings(&rescue)
	if err != nil || strings.Join(taken.Lost, " ") != "k2" {
		t.Errorf("%+v, %v", taken, err)
	}
	var expect struct {
		Epoch, Event         int
		Hash, Workflow, Host string
		Keys, Since          []string
		Person, Reason       string
		Signed, Signature    string
	}
	if err := json.Unmarshal([]byte(r.program.calls[0].Stdin), &expect); err != nil || expect.Epoch != 3 ||
		expect.Event != 7 || expect.Hash != "aa" || expect.Workflow != "12" || expect.Host != "h2" ||
		strings.Join(expect.Since, " ") != "h3" ||
		expect.Person != "ada" || expect.Reason != "it burns" || expect.Signature != rescue.Ask.Signature ||
		expect.Signed != sign.RequestText(rescue.Ask.Request) || len(expect.Keys) != 2 ||
		!r.program.did("restore", "--json", "--project=web", "--from=vault", "--expect=-") {
		t.Errorf("%+v, %v, %+v", expect, err, r.program.calls[0])
	}
}

// A host that is to bring a task back, and has it still as it was before another host had it, lets go of that first.
func TestTake_dropsItsOldCopyBeforeItBringsTheTaskBack(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} { // whether it knows already that the task was taken away
		r := newRig(t)
		rescue := testkit.Rescue(t, "ada", id, 2, "", "it burns", now)
		brings := func() (wire.TakeAnswer, error) {
			return r.takes(3, func(take *wire.Take) { take.From, take.Rescue = "h2", &rescue })
		}
		r.taken(1)
		if known {
			lost := func(h custody.Holder) (custody.Holder, error) { return h.Lost(id, 1), nil }
			testkit.Must(t, r.Store.Change(lost))
		}
		fails := true
		r.program.answer = func(c remote.Call) *remote.Reply {
			if c.Argv[1] == "leave" && fails {
				return &remote.Reply{Exit: 1, Stdout: `{"code": "not_pushed", "error": "no network"}`}
			}
			return nil
		}
		taken, err := brings()
		if err != nil || !strings.Contains(taken.Refused, "no network") || r.program.did("restore") {
			t.Errorf("with work that it cannot push: %+v, %v", taken, err)
		}
		fails, rescue = false, testkit.Rescue(t, "ada", id, 3, "", "it burns", now)
		taken, err = r.takes(4, func(take *wire.Take) { take.From, take.Rescue = "h2", &rescue })
		if err != nil || taken.Refused != "" || !r.holder().Of(id).Has || r.holder().Of(id).Epoch != 4 {
			t.Errorf("%+v, %v, %+v", taken, err, r.holder())
		}
		calls := r.program.calls
		left := slices.IndexFunc(calls, func(c remote.Call) bool { return c.Argv[1] == "leave" })
		back := slices.IndexFunc(calls, func(c remote.Call) bool { return c.Argv[1] == "restore" })
		if left < 0 || back < left {
			t.Errorf("it leaves with the call %d, and restores with %d", left, back)
		}
	}
}

// A server, or who writes to it, moves no task to another host: a person does.
// Attackers cannot (docs/proof.md): have a task brought back that no person took away.
func TestTake_bringsBackOnlyWhatAPersonTookAway(t *testing.T) {
	t.Parallel()
	good := testkit.Rescue(t, "ada", id, 2, "", "it burns", now)
	other, unsigned, later := good, good, testkit.Rescue(t, "ada", id, 3, "", "", now)
	other.To, unsigned.Ask.Signature = "h9", ""
	elsewhere := testkit.Rescue(t, "ada", id, 2, "h2", "it burns", now)
	another := testkit.Rescue(t, "ada", "4FzXk0aB3cD5eF7gH9iJ2", 2, "", "it burns", now)
	stranger := testkit.Rescue(t, "eve", id, 2, "", "it burns", now)
	for what, rescue := range map[string]*wire.Rescue{
		"no rescue": nil, "to another host than was signed": &other, "to another host": &elsewhere,
		"unsigned": &unsigned, "of this very epoch": &later, "of another task": &another, "by a stranger": &stranger,
	} {
		r := newRig(t)
		taken, err := r.takes(3, func(take *wire.Take) { take.From, take.Rescue = "h2", rescue })
		if err != nil || taken.Refused == "" || len(r.program.calls) > 0 {
			t.Errorf("%s: %+v, %v, %+v", what, taken, err, r.program.calls)
		}
	}
}

// What a host refuses it never had. What it still has of an earlier custody it lets go of all the same.
func TestTake_leavesNothingToLetGoOfWhereItRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	refuses := func(epoch int) (left []wire.Gone) {
		t.Helper()
		if taken, err := r.takes(epoch, func(take *wire.Take) { take.From = "h2" }); err != nil || taken.Refused == "" {
			t.Errorf("%+v, %v", taken, err)
		}
		return r.holder().Gone(false)
	}
	if left := refuses(1); len(left) > 0 {
		t.Errorf("it has to let go of %+v", left)
	}
	r = newRig(t)
	r.taken(1)
	if left := refuses(2); len(left) != 1 || left[0].Epoch != 2 {
		t.Errorf("it does not let go of what it has: %+v", left)
	}
}

func TestTake_letsGoOfATaskThatIsTakenAwayMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var calls sync.WaitGroup
	r.program.before = func(c remote.Call) {
		if c.Argv[1] == "create" {
			calls.Go(func() {
				gone := wire.Gone{Task: id, Epoch: 1}
				if _, err := r.Leave(t.Context(), wire.Of(wire.Leave{Gone: gone})); err != nil {
					t.Error(err)
				}
			})
			for r.holder().Of(id).Epoch == 0 { // until its right to the task is over
				runtime.Gosched()
			}
		}
	}
	taken, err := r.takes(1, nil)
	calls.Wait()
	if err != nil || taken.Refused == "" || r.program.tasks[id] || r.holder().Of(id).Has || !r.holder().Of(id).Left {
		t.Errorf("%+v, %+v, %v", taken, r.holder(), err)
	}
}

// The fleet asks a host to leave and tells it with a lease, at the same time. The second call finds what the first did.
func TestLeave_isDoneOnceWhereItIsAskedForTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.taken(1)
	gone := wire.Of(wire.Leave{Gone: wire.Gone{Task: id, Epoch: 1}})
	inside, waiting := make(chan struct{}), make(chan struct{})
	r.program.before = func(c remote.Call) {
		if c.Argv[1] == "leave" {
			close(inside)
			<-waiting
		}
	}
	r.program.answer = func(c remote.Call) *remote.Reply {
		if c.Argv[1] != "leave" {
			return nil
		}
		return &remote.Reply{Stdout: `{"pushed": "refs/orange/fleet/abc/lost/1"}`}
	}
	var refs [2]string
	var calls sync.WaitGroup
	leave := func(i int) {
		left, err := r.Leave(t.Context(), gone)
		if refs[i] = left.Body.Ref; err != nil {
			t.Error(err)
		}
	}
	calls.Go(func() { leave(0) })
	<-inside
	late, off := context.WithCancel(t.Context())
	off()
	if _, err := r.Leave(late, gone); !errors.Is(err, context.Canceled) {
		t.Errorf("while the task leaves: %v", err)
	}
	r.state, _ = r.state.Released(wire.Release{Host: "h1", Task: id, Epoch: 1, Now: true})
	if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err != nil || r.holder().Of(id).Has ||
		r.holder().Number != 1 {
		t.Errorf("it waits for a lease while the task leaves: %+v, %v", r.holder(), err)
	}
	calls.Go(func() { leave(1) })
	close(waiting)
	calls.Wait()
	if refs[0] != "refs/orange/fleet/abc/lost/1" || refs[1] != refs[0] || r.holder().Of(id).Ref != refs[0] {
		t.Errorf("the host says %q, and keeps %+v", refs, r.holder().Of(id))
	}
}

func TestAnswer_doesWhatAPersonSignedForThisCustody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ask := func(change func(*wire.Request)) (wire.Reply, error) {
		request := testkit.Request("ada", id, "h1", 1, "k1", now)
		if change != nil {
			change(&request)
		}
		m, err := r.Answer(t.Context(), wire.Of(testkit.Ask(t, request)))
		return m.Body, err
	}
	if _, err := ask(nil); testkit.CodeOf(err) != wire.CodeStaleEpoch {
		t.Errorf("a task that is not here: %v", err)
	}
	r.taken(1)
	r.program.calls = nil
	reply, err := ask(func(q *wire.Request) { q.As, q.Stdin = "worker", "text" })
	if err != nil || !reply.Done || reply.Output != "done\n" || reply.Head.Event != 9 || reply.Signature == "" {
		t.Errorf("%+v, %v", reply, err)
	}
	if len(r.program.calls) != 1 {
		t.Errorf("orange was started %d times", len(r.program.calls))
	}
	if row, err := r.Store.Row(id); err != nil || reply.Report == nil || reply.Report.Row != row ||
		row.Status != "working" || row.Head.Event != 9 || reply.Report.Epoch != 1 || reply.Report.Version != 2 {
		t.Errorf("it reports %+v with the answer, and knows %+v, %v", reply.Report, row, err)
	}
	if c := r.program.calls[0]; strings.Join(c.Argv, " ") != "task next --as=worker k1" || c.Key != "k1" ||
		c.Stdin != "text" {
		t.Errorf("the call is %+v", c)
	}
	r.program.row.Event, r.program.row.ID = 8, id // another answer was faster
	if reply, err := ask(nil); err != nil || !reply.Done || reply.Report != nil {
		t.Errorf("it reports what is older than its last report: %+v, %v", reply.Report, err)
	}
	r.program.row.Event, r.program.row.ID = 10, "another"
	if reply, _ := ask(nil); reply.Report != nil {
		t.Errorf("it reports another task: %+v", reply.Report)
	}
	r.program.row.Event, r.program.row.ID = 9, id
	r.program.calls = nil
	for want, change := range map[wire.Code]func(*wire.Request){
		wire.CodeStaleEpoch: func(q *wire.Request) { q.Epoch = 2 },
		wire.CodeElsewhere:  func(q *wire.Request) { q.Host = "h2" },
		wire.CodeExpired:    func(q *wire.Request) { q.Expires = now.Unix() },
		wire.CodeStranger:   func(q *wire.Request) { q.Person = "h1" },
	} {
		if _, err := ask(change); testkit.CodeOf(err) != want {
			t.Errorf("%s: %v", want, err)
		}
	}
	m := wire.Of(wire.Ask{Request: testkit.Request("ada", id, "h1", 1, "k1", now)})
	if _, err := r.Answer(t.Context(), m); testkit.CodeOf(err) != wire.CodeUnsigned {
		t.Errorf("unsigned: %v", err)
	}
	if len(r.program.calls) > 0 {
		t.Errorf("what was refused did %+v", r.program.calls)
	}
	r.program.answer = func(remote.Call) *remote.Reply {
		return &remote.Reply{Exit: 3, Stderr: strings.Repeat("ü", wire.MostOfReply)}
	}
	if reply, err = ask(nil); err != nil || reply.Done || reply.Exit != 3 || !reply.Cut ||
		reply.Errors == "" || len(reply.Errors) > wire.MostOfReply {
		t.Errorf("a refusal: %d bytes, %+v, %v", len(reply.Errors), reply.Exit, err)
	}
	r.program.answer = func(remote.Call) *remote.Reply { return &remote.Reply{Refused: "it cannot be forwarded"} }
	if _, err = ask(nil); testkit.CodeOf(err) != "refused" {
		t.Errorf("a call that was not taken: %v", err)
	}
}

func TestLook_onlyReads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if m, err := r.Look(t.Context(), wire.Of(wire.Look{Method: "why", Args: []string{id}})); err != nil ||
		m.Body.Output != "done\n" {
		t.Errorf("%+v, %v", m.Body, err)
	}
	for _, method := range []string{"merge", "next", "delete", ""} {
		if _, err := r.Look(t.Context(), wire.Of(wire.Look{Method: method})); testkit.CodeOf(err) != "refused" {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestAHostLetsGoBeforeItsLeaseCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.taken(1)
	testkit.Must(t, r.Arrive(t.Context(), r, wire.Here{Host: "h1"}))
	if until := r.holder().Until; until > r.up {
		t.Errorf("before a beat it may act until %s", until)
	}
	if !r.beats(1) {
		t.Error("the beat is refused")
	}
	if until := r.holder().Until; until != r.up+custody.LeaseFor {
		t.Errorf("with a lease until %s", until)
	}
	text, err := os.ReadFile(filepath.Join(r.Store.Dir, "lease.json"))
	var written struct {
		Boot  string
		Until time.Duration
	}
	if err == nil {
		err = json.Unmarshal(text, &written)
	}
	if err != nil || written.Boot != "b1" || written.Until != r.up+custody.LeaseFor {
		t.Errorf("lease.json is %s, %v", text, err)
	}
	r.state = r.state.Silent(1, now)
	r.state, _ = r.state.Released(wire.Release{Host: "h1", Task: id, Epoch: 1})
	r.token = "none"
	if r.beats(1) {
		t.Error("a beat of a hold that is over is acknowledged")
	}
	fails := true
	r.program.answer = func(c remote.Call) *remote.Reply {
		if c.Argv[1] == "leave" && fails {
			return &remote.Reply{Exit: 1, Stderr: "orange: it cannot be left\n"}
		}
		return nil
	}
	if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err == nil || r.holder().Number != 1 {
		t.Errorf("it gets the lease %d before it has let go: %v", r.holder().Number, err)
	}
	fails = false
	if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err != nil || r.program.tasks[id] ||
		r.holder().Number != 3 || r.holder().Of(id).Has {
		t.Errorf("it lets go: %+v, %v", r.holder(), err)
	}
	if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err != nil || len(r.state.Gone) > 0 {
		t.Errorf("the fleet still has it as gone: %+v, %v", r.state.Gone, err)
	}
}

// What a host had of a task that another one has since is pushed before it is dropped there. Until that is done the
// work stays, and the host goes on with its other tasks.
func TestArrive_keepsTheWorkThatCannotBePushed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Snapshots = "vault"
	var lines []string
	r.Say = func(line string) { lines = append(lines, line) }
	r.taken(1)
	if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err != nil || !r.beats(1) {
		t.Fatal(err)
	}
	r.state = r.state.Silent(1, now)
	r.state, _ = r.state.Released(wire.Release{Host: "h1", Task: id, Epoch: 1})
	fails := true
	r.program.answer = func(c remote.Call) *remote.Reply {
		switch {
		case c.Argv[1] == "leave" && fails:
			return &remote.Reply{Exit: 1, Stdout: `{"code": "not_pushed", "error": "it has not left: no network"}`}
		case c.Argv[1] == "leave":
			r.program.tasks[id] = false
			return &remote.Reply{Stdout: `{"pushed": "refs/orange/fleet/x/lost/1"}`}
		}
		return nil
	}
	lines = nil
	for range 2 {
		if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err != nil || !r.program.tasks[id] {
			t.Fatalf("it is gone, or the host does not arrive: %v", err)
		}
		r.state = r.state.Silent(r.state.Number, now)
	}
	if of := r.holder().Of(id); of.Has || of.Left || !r.program.did("--push-to=vault", "--", id) {
		t.Errorf("it is %+v", of)
	}
	gone := wire.Of(wire.Leave{Gone: wire.Gone{Task: id, Epoch: 1}})
	if _, err := r.Leave(t.Context(), gone); !errors.Is(err, host.ErrStays) {
		t.Errorf("the fleet learns that it has left: %v", err)
	}
	fails = false
	for range 2 { // it says again where the work is
		left, err := r.Leave(t.Context(), gone)
		if err != nil || !r.holder().Of(id).Left || left.Body.Ref != "refs/orange/fleet/x/lost/1" {
			t.Errorf("it leaves: %+v, %+v, %v", left.Body, r.holder(), err)
		}
	}
	if len(lines) != 2 || lines[0] != "it has not left: no network" ||
		!strings.HasSuffix(lines[1], "is at refs/orange/fleet/x/lost/1") {
		t.Errorf("the host says %q", lines)
	}
}

// A push that takes longer than a lease costs the host's other tasks nothing: what was taken away leaves meanwhile.
func TestArrive_doesNotWaitForALongPush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.taken(1)
		pushed := make(chan struct{})
		r.program.before = func(c remote.Call) {
			if c.Argv[1] == "leave" {
				<-pushed
			}
		}
		r.state, _ = r.state.Released(wire.Release{Host: "h1", Task: id, Epoch: 1, Now: true})
		for number := 1; number < 3; number++ {
			if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err != nil || r.holder().Of(id).Has ||
				r.holder().Of(id).Left || r.holder().Number != number {
				t.Errorf("while it leaves: %+v, %v", r.holder(), err)
			}
		}
		close(pushed)
		synctest.Wait()
		if !r.holder().Of(id).Left {
			t.Errorf("it has not left: %+v", r.holder())
		}
	})
}

func TestAnotherStartOfTheMachineEndsTheLease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.taken(1)
	if err := r.Arrive(t.Context(), r, wire.Here{Host: "h1"}); err != nil || !r.beats(1) {
		t.Fatal(err)
	}
	r.boot = "b2"
	if until := r.holder().Until; until > 0 {
		t.Errorf("after another start it may act until %s", until)
	}
}

// A task that is there is the host's, whatever failed after it was created: no other host may get it.
func TestTake_isDoneWhereTheTaskIsThereAndItsStartFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	there := true
	r.program.answer = func(c remote.Call) *remote.Reply {
		switch {
		case c.Argv[1] == "create":
			return &remote.Reply{Exit: 1, Stdout: `{"error": "cannot spawn"}`}
		case c.Argv[1] == "show" && !there:
			return &remote.Reply{Exit: 4, Stdout: `{"error": "no such task"}`}
		}
		return nil
	}
	if taken, err := r.takes(1, nil); err != nil || taken.Refused != "" || !r.holder().Of(id).Has {
		t.Errorf("with the task: %+v, %v", taken, err)
	}
	there = false
	if taken, err := r.takes(2, nil); err != nil || taken.Refused != "cannot spawn" {
		t.Errorf("without it: %+v, %v", taken, err)
	}
}

// A request to delete a task whose answer was lost is answered again, although no history is left that knows its key.
func TestAnswer_toADeletionIsGivenAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.taken(1)
	r.program.answer = func(c remote.Call) *remote.Reply {
		if c.Argv[1] == "delete" {
			return &remote.Reply{Exit: 4, Stdout: `{"error": "there is no such task"}`}
		}
		return nil
	}
	request := testkit.Request("ada", id, "h1", 1, "k1", now)
	request.Method, request.Args = "delete", []string{"--yes", "--json", "--", id}
	m, err := r.Answer(t.Context(), wire.Of(testkit.Ask(t, request)))
	if err != nil || m.Body.Done {
		t.Errorf("a task that is held, and not there: %+v, %v", m.Body, err)
	}
	r.machine.held[id] = false
	m, err = r.Answer(t.Context(), wire.Of(testkit.Ask(t, request)))
	if err != nil || !m.Body.Done || !strings.Contains(m.Body.Output, `"deleted": "`+id) {
		t.Errorf("one that was deleted: %+v, %v", m.Body, err)
	}
}

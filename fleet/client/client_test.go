package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/client"
	"orange/fleet/custody"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/api/fleet"
	"orange/internal/api/remote"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

const id = "4FzXk0aB3cD5eF7gH9iJ1"

var now = time.Unix(1_700_000_000, 0).UTC()

// fake is a server in memory.
type fake struct {
	t     *testing.T
	hosts []custody.HostState
	rows  []wire.Custody
	asked []wire.Ask
	overs []bool
	looks []wire.Look
	born  []wire.Birth
	exit  int                                // of a look
	seen  string                             // what a look shows; empty for the usual
	ask   func(wire.Ask) (wire.Reply, error) // nil where each is done

	ofHost func(wire.Ask) (wire.Reply, error) // what a host answers that is asked itself; nil where each is done
	task   error                              // of every look at the custody of one task; nil where there is none
}

func (f *fake) Hosts(context.Context) ([]custody.HostState, error) { return f.hosts, nil }

func (f *fake) Tasks(context.Context) ([]wire.Custody, error) {
	return slices.DeleteFunc(slices.Clone(f.rows), func(c wire.Custody) bool { return c.Phase == "ended" }), nil
}

func (f *fake) Begins(_ context.Context, prefix string) ([]wire.Custody, error) {
	return slices.DeleteFunc(slices.Clone(f.rows), func(c wire.Custody) bool {
		return !strings.HasPrefix(c.Task, prefix)
	}), nil
}

func (f *fake) Task(_ context.Context, id string) (wire.Custody, error) {
	if f.task != nil {
		return wire.Custody{}, f.task
	}
	at := slices.IndexFunc(f.rows, func(c wire.Custody) bool { return c.Task == id })
	if at < 0 {
		return wire.Custody{}, wire.Refuse("not_found", "no task")
	}
	return f.rows[at], nil
}

func (f *fake) Start(_ context.Context, id string, b wire.Birth, _ custody.Trust) error {
	f.born = append(f.born, b)
	label := b.On
	if strings.HasPrefix(label, wire.HostPlace) {
		label = ""
	}
	f.rows = append(f.rows, wire.Custody{Task: id, Phase: "waiting", On: label, Harness: b.Harness,
		To: strings.TrimPrefix(strings.TrimPrefix(b.On, label), wire.HostPlace), Row: wire.Row{Project: b.Project}})
	return nil
}

func (f *fake) Ask(_ context.Context, ask wire.Ask, over bool) (wire.Reply, error) {
	f.asked, f.overs = append(f.asked, ask), append(f.overs, over)
	if f.ask != nil {
		return f.ask(ask)
	}
	return testkit.Reply(f.t, ask.Request.Host, ask.Request, 9), nil
}

func (f *fake) Look(_ context.Context, _, _ string, l wire.Look) (wire.LookAnswer, error) {
	f.looks = append(f.looks, l)
	if f.seen != "" {
		return wire.LookAnswer{Output: f.seen}, nil
	}
	return wire.LookAnswer{Output: "seen\n", Cut: true, Exit: f.exit}, nil
}

func (f *fake) Rescue(_ context.Context, id string, r wire.Rescue) (wire.Custody, error) {
	f.asked = append(f.asked, r.Ask)
	c, err := f.Task(context.Background(), id)
	c.Host, c.Epoch = r.To, c.Epoch+1
	return c, err
}

func (f *fake) Cancel(_ context.Context, ask wire.Ask) error {
	f.asked = append(f.asked, ask)
	return nil
}

func (f *fake) AskHost(_ context.Context, ask wire.Ask) (wire.Reply, error) {
	f.asked = append(f.asked, ask)
	if f.ofHost != nil {
		return f.ofHost(ask)
	}
	return testkit.Reply(f.t, ask.Request.Host, ask.Request, 0), nil
}

func (f *fake) Tell(_ context.Context, m wire.Newcomer, people custody.Trust) (wire.Custody, error) {
	state, err := custody.Resume(testkit.Fleet, m.Birth, people, *m.Report, now)
	if err != nil {
		return wire.Custody{}, err
	}
	f.rows = append(f.rows, state.Summary())
	return state.Summary(), err
}

func (f *fake) Trust(context.Context) (custody.Trust, error) { return testkit.Trust(f.t), nil }

// newClient is the client of a person who asks a fleet with the task at h1.
func newClient(t *testing.T) (*client.Client, *fake) {
	t.Helper()
	f := &fake{t: t, rows: []wire.Custody{{Task: id, Phase: "held", Host: "h1", Epoch: 3,
		Row:  wire.Row{Project: "web", Branch: "feat/a", Status: "working", Head: wire.Head{Event: 31}},
		Told: now.Unix()}}}
	for _, name := range []string{"h1", "h2"} {
		f.hosts = append(f.hosts, custody.HostState{Host: name, Here: true, Said: wire.Here{Host: name, Free: 1,
			Projects: []string{"web"}, Harness: []string{"claude"}, Labels: []string{"gpu"}}})
	}
	s := setup.Usual()
	s.Server, s.Namespace, s.Person = "here", testkit.Fleet, "ada"
	tick := make(chan time.Time)
	close(tick)
	return &client.Client{Hosts: fleet.Hosts{Home: t.TempDir()}, Setup: s, Server: f,
		Now:   func() time.Time { return now },
		Key:   func() (ssh.Signer, error) { return testkit.Key(t, "ada"), nil },
		Every: func() <-chan time.Time { return tick }}, f
}

func call(words ...string) remote.Call {
	return remote.Call{V: remote.Version, Argv: append([]string{"task"}, words...)}
}

func TestAClientSignsARequestForTheTasksHostAndEpoch(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	asked := call("merge", "--override=checked by hand", "--", id)
	asked.Key, asked.Stdin, asked.Files = "k1", "yes\n", map[string]string{"notes.md": "All."}
	reply, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, asked, time.Minute)
	if err != nil || reply.Exit != 0 || len(f.asked) != 1 {
		t.Fatalf("%+v, %v, asked %d times", reply, err, len(f.asked))
	}
	lists, err := testkit.Trust(t).Lists(testkit.Fleet)
	testkit.Must(t, err)
	here := sign.Here{Fleet: testkit.Fleet, Host: "h1", Task: id, Epoch: 3, Now: now}
	if err := sign.CheckRequest(lists.People, f.asked[0], here, ""); err != nil {
		t.Error(err)
	}
	r := f.asked[0].Request
	if r.Method != "merge" || r.Key != "k1" || r.Stdin != "yes\n" || r.Files["notes.md"] != "All." ||
		!slices.Equal(r.Args, []string{"--override=checked by hand", "--", id}) {
		t.Errorf("the request: %+v", r)
	}
}

func TestWhatOnlyReadsIsLookedAtAndNotSigned(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	c.Key = func() (ssh.Signer, error) { return nil, errors.New("no key is needed to look") }
	reply, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("show", "--json", "--", id), time.Minute)
	if err != nil || reply.Stdout != "seen\n" || len(f.looks) != 1 || len(f.asked) != 0 {
		t.Fatalf("%+v, %v", reply, err)
	}
	if !strings.Contains(reply.Stderr, "was cut") {
		t.Errorf("an answer that was cut does not say so: %q", reply.Stderr)
	}
}

func TestWhereTheCustodyHasChangedTheClientAsksOnceMore(t *testing.T) {
	t.Parallel()
	for _, code := range []wire.Code{wire.CodeStaleEpoch, wire.CodeOver} {
		c, f := newClient(t)
		if _, err := c.Find(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		f.ask = func(ask wire.Ask) (wire.Reply, error) {
			if ask.Request.Epoch != 4 {
				f.rows[0].Host, f.rows[0].Epoch = "h2", 4
				return wire.Reply{}, wire.Refuse(code, "it is elsewhere")
			}
			return testkit.Reply(t, "h2", ask.Request, 9), nil
		}
		if _, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("next", "--", id), time.Minute); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		if len(f.asked) != 2 || f.asked[0].Request.Key != f.asked[1].Request.Key || f.asked[1].Request.Host != "h2" {
			t.Errorf("%s: asked %+v", code, f.asked)
		}
		f.asked, f.ask = nil, func(wire.Ask) (wire.Reply, error) {
			return wire.Reply{}, wire.Refuse(code, "it is elsewhere")
		}
		if _, err := c.Ask(t.Context(), remote.Host{Name: "h2"}, call("next", "--", id), time.Minute); err == nil ||
			len(f.asked) != 2 {
			t.Errorf("%s: %v, asked %d times, want 2", code, err, len(f.asked))
		}
	}
}

func TestATaskThatIsOverIsAskedForAtItsHost(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	f.rows[0].Phase = "ended"
	if found, err := c.Find(t.Context(), id[:4]); err != nil || len(found) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	_, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("delete", "--yes", "--", id), time.Minute)
	testkit.Must(t, err)
	if !slices.Equal(f.overs, []bool{true}) {
		t.Errorf("over: %v", f.overs)
	}
}

func TestFailuresKeepTheirKind(t *testing.T) {
	t.Parallel()
	for code, want := range map[wire.Code]error{wire.CodeNotReached: remote.ErrNotReached,
		wire.CodeNotHeld: remote.ErrNotHeld, wire.CodeLost: remote.ErrLost, wire.CodeKept: remote.ErrKept,
		wire.CodeNotKnown: remote.ErrNotKnown, wire.CodeKeyReused: idempotency.ErrReused,
		wire.CodeNotFound: task.ErrNotFound} {
		c, f := newClient(t)
		f.ask = func(wire.Ask) (wire.Reply, error) { return wire.Reply{}, wire.Refuse(code, "no") }
		if _, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("next", "--", id), time.Minute); !errors.Is(err,
			want) {
			t.Errorf("%s: %v, want %v", code, err, want)
		}
	}
	c, f := newClient(t)
	f.ask = func(wire.Ask) (wire.Reply, error) {
		return wire.Reply{}, wire.Refuse(wire.CodeStranger, "no")
	}
	_, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("next", "--", id), time.Minute)
	if refused, is := errors.AsType[*rejection.Rejection](err); !is || refused.Code != "stranger" {
		t.Errorf("a stranger: %v", err)
	}
}

func TestAfterALostAnswerTheClientAsksAgainUnderTheSameKey(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	f.ask = func(wire.Ask) (wire.Reply, error) {
		return wire.Reply{}, wire.Refuse(wire.CodeNotKnown, "cut off")
	}
	_, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("next", "--", id), time.Minute)
	key := f.asked[0].Request.Key
	if !errors.Is(err, remote.ErrNotKnown) || !strings.Contains(err.Error(), "orange fleet result "+key) {
		t.Fatal(err)
	}
	f.rows[0].Host, f.rows[0].Epoch, f.ask = "h2", 4, nil // it was rescued meanwhile
	again, f2 := newClient(t)
	again.Hosts, f2.rows = c.Hosts, f.rows
	if _, err := again.Result(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if got := f2.asked[0].Request; got.Key != key || sign.Digest(got) != sign.Digest(f.asked[0].Request) {
		t.Errorf("asked again: %+v", got)
	}
	if _, err := again.Result(t.Context(), key); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("after its answer the request is still kept: %v", err)
	}
}

func TestAnAnswerThatTheHostDidNotSignIsNone(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	f.ask = func(ask wire.Ask) (wire.Reply, error) {
		forged := testkit.Reply(t, "h2", ask.Request, 9)
		forged.Host = "h1"
		return forged, nil
	}
	if _, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("next", "--", id), time.Minute); !errors.Is(err,
		remote.ErrNotKnown) {
		t.Error(err)
	}
}

func TestFind_knowsIdsBeginningsAndBranches(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{id: 1, "4Fz": 1, "feat/a": 1, "feat": 0, "4Fy": 0} {
		c, _ := newClient(t)
		if found, err := c.Find(t.Context(), word); err != nil || len(found) != want {
			t.Errorf("%q: %+v, %v", word, found, err)
		}
	}
}

func birth(on string) remote.Placement {
	return remote.Placement{ID: "5GzXk0aB3cD5eF7gH9iJ2", Project: "web", On: on, Summary: "A thing",
		Harness: []string{"claude"}, Call: call("create", "--", "", "A thing")}
}

// Once the server has a birth, a look that fails does not say that nothing was done.
func TestCreate_thatBeganAndCannotBeSeenIsNotKnown(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	f.task = task.Notef(remote.ErrNotReached, "the server of the fleet does not answer")
	every, looks := c.Every, 0
	ctx, off := context.WithCancel(t.Context())
	defer off()
	c.Every = func() <-chan time.Time {
		if looks++; looks == 3 {
			off()
		}
		return every()
	}
	wanted := birth("gpu")
	_, err := c.Create(ctx, wanted)
	if looks < 3 || !errors.Is(err, remote.ErrNotKnown) || errors.Is(err, remote.ErrNotReached) ||
		!strings.Contains(err.Error(), "orange fleet result "+wanted.ID) {
		t.Fatalf("after %d looks: %v", looks, err)
	}
	r := f.born[0].Ask.Request
	r.Host, r.Epoch = "h2", 1
	reply := testkit.Reply(t, "h2", r, 3)
	at := len(f.rows) - 1
	f.task, f.rows[at].Phase, f.rows[at].Host, f.rows[at].Epoch, f.rows[at].Birth = nil, "held", "h2", 1, &reply
	if _, err := c.Result(t.Context(), wanted.ID); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

func TestCreate_waitsForTheAnswerOfTheHost(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	looks := 0
	every := c.Every
	c.Every = func() <-chan time.Time {
		if looks++; looks == 3 {
			r := f.born[0].Ask.Request
			r.Host, r.Epoch = "h2", 1
			reply := testkit.Reply(t, "h2", r, 3)
			f.rows[1].Phase, f.rows[1].Host, f.rows[1].Epoch, f.rows[1].Birth = "held", "h2", 1, &reply
		}
		return every()
	}
	born, err := c.Create(t.Context(), birth("gpu"))
	if err != nil || born.Reply == nil || born.Host != "h2" || f.born[0].On != "gpu" {
		t.Fatalf("%+v, %v", born, err)
	}
	lists, err := testkit.Trust(t).Lists(testkit.Fleet)
	if err == nil {
		err = sign.CheckBirth(lists.People, f.born[0], sign.Here{Fleet: testkit.Fleet, Task: birth("").ID, Now: now})
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := c.Create(t.Context(), birth("nowhere")); !errors.Is(err, task.ErrNotFound) ||
		!strings.Contains(err.Error(), "h1, h2") || !strings.Contains(err.Error(), "gpu") {
		t.Errorf("a place that is none: %v", err)
	}
}

func TestATaskWithoutAPlaceSaysForWhatItWaits(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	f.hosts[0].Said.Free, f.hosts[1].Said.Harness = 0, nil
	ctx, stop := context.WithCancel(t.Context())
	c.Every = func() <-chan time.Time { stop(); return nil } // the person does not wait for longer
	if _, err := c.Create(ctx, birth("")); err == nil ||
		!strings.Contains(err.Error(), "orange fleet result "+birth("").ID) {
		t.Fatal(err)
	}
	found, err := c.Find(t.Context(), birth("").ID)
	if err != nil || len(found) != 1 || found[0].Host != "" {
		t.Fatalf("%+v, %v", found, err)
	}
	known, err := c.Known(t.Context())
	testkit.Must(t, err)
	text, hosts := known.Why(found[0])
	if want := "no host with claude and a free place for web (h1 full, h2 has no claude)"; text != want {
		t.Errorf("it says %q, want %q", text, want)
	}
	if hosts["h1"] != "full" || hosts["h2"] != "has no claude" {
		t.Errorf("host by host: %v", hosts)
	}
	last := &f.rows[len(f.rows)-1]
	last.Phase, last.Host = string(custody.PhaseTaking), "h1"
	if asked, err := c.Find(t.Context(), birth("").ID); err != nil || found[0].Taking || !asked[0].Taking {
		t.Errorf("while a host is asked to take it: %+v, %v", asked, err)
	}
}

func TestRescue_isSignedForTheEpochThatEnds(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	given, err := c.Rescue(t.Context(), id, "h2", "it has burnt down")
	if err != nil || given.Host != "h2" || given.Epoch != 4 {
		t.Fatalf("%+v, %v", given, err)
	}
	r := f.asked[0].Request
	if r.Method != wire.MethodRescue || r.Epoch != 3 || !slices.Equal(r.Args, []string{"h2", "it has burnt down"}) {
		t.Errorf("the request: %+v", r)
	}
}

func TestAHostThatIsLostIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	f.hosts[0].Here, f.hosts[0].Since = false, now.Unix()
	if _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Find(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"show", "--", id}, {"next", "--", id}} {
		_, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call(words...), time.Minute)
		if !errors.Is(err, remote.ErrNotReached) || !strings.Contains(err.Error(), "(event 31)") ||
			!strings.Contains(err.Error(), "orange fleet rescue "+id) {
			t.Errorf("%s: %v", words[0], err)
		}
	}
	if len(f.asked)+len(f.looks) > 0 {
		t.Error("it was asked all the same")
	}
}

// A host takes no request for a task that was deleted there.
func TestATaskThatWasDeletedIsNotFound(t *testing.T) {
	t.Parallel()
	for exit, want := range map[int]error{4: task.ErrNotFound, 0: nil} {
		c, f := newClient(t)
		f.rows[0].Phase, f.exit = "ended", exit
		f.ask = func(wire.Ask) (wire.Reply, error) {
			return wire.Reply{}, wire.Refuse(wire.CodeRefused, "custody 0")
		}
		if _, err := c.Find(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		_, err := c.Ask(t.Context(), remote.Host{Name: "h1"}, call("delete", "--yes", "--", id), time.Minute)
		if err == nil || errors.Is(err, task.ErrNotFound) != (want != nil) {
			t.Errorf("show ends with %d: %v", exit, err)
		}
	}
}

package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/history"
	"orange/internal/rules/signed"
)

// link is a fake server of a fleet with a connection to it.
type link struct {
	lock    sync.Mutex
	down    error // why it does not answer
	state   custody.HostState
	leases  chan<- host.Lease
	tokens  int // how many holds there were; the last one's token counts
	beaten  int
	shown   []wire.Report
	dials   int
	learned int
	told    []wire.Here
	places  []string
	unknown bool // it has no open custody
	refuse  error
}

func (l *link) do(call func()) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.down == nil {
		call()
	}
	return l.down
}

func (l *link) dial(context.Context) (host.Link, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.dials++
	return l, l.down
}

func (*link) Close() {}

func (l *link) Learn(context.Context) error { return l.do(func() { l.learned++ }) }

// hold asks for the present lease.
func (l *link) hold() {
	l.tokens++
	lease, leases := host.Lease{Number: l.state.Number, Token: []byte(strconv.Itoa(l.tokens))}, l.leases
	go func() {
		defer func() { _ = recover() }()
		leases <- lease
	}()
}

func (l *link) Here(_ context.Context, said wire.Here) (lease wire.Lease, err error) {
	err = l.do(func() {
		l.state, lease = l.state.Came(said, now)
		l.hold()
	})
	return lease, err
}

func (l *link) Told(_ context.Context, said wire.Here) error {
	return l.do(func() { l.told = append(l.told, said) })
}

func (l *link) Beat(_ context.Context, token []byte) error {
	over := false
	err := l.do(func() {
		if over = string(token) != strconv.Itoa(l.tokens); !over {
			l.beaten++
		}
	})
	if over {
		return host.ErrOver
	}
	return err
}

func (l *link) Report(_ context.Context, r wire.Report) error {
	unknown := false
	err := l.do(func() {
		if unknown = l.unknown; !unknown {
			l.shown = append(l.shown, r)
		}
	})
	if unknown {
		return host.ErrUnknown
	}
	return err
}

func (l *link) Serve(ctx context.Context, _ *host.Host, leases chan<- host.Lease) error {
	l.lock.Lock()
	l.leases = leases
	refused := l.refuse
	l.lock.Unlock()
	if refused != nil {
		return refused
	}
	<-ctx.Done()
	return ctx.Err()
}

func (l *link) Place(ctx context.Context, _ *host.Host, project, label string) error {
	_ = l.do(func() { l.places = append(l.places, project+"/"+label) })
	<-ctx.Done()
	return ctx.Err()
}

// daemonRig is a daemon that runs, with its fake server.
type daemonRig struct {
	*rig
	*link
	daemon  *host.Daemon
	follows chan func(host.Happening)
	lock    sync.Mutex
	lines   []string
	stop    func()
}

func newDaemon(t *testing.T, pace host.Pace) *daemonRig {
	t.Helper()
	k := &daemonRig{rig: newRig(t), link: &link{}, follows: make(chan func(host.Happening), 10)}
	k.daemon = &host.Daemon{Host: k.Host, Version: "v1", Labels: []string{"any", "gpu"}, SSH: "me@h1", Dial: k.dial,
		Pace: pace, Say: func(line string) {
			k.lock.Lock()
			defer k.lock.Unlock()
			k.lines = append(k.lines, line)
		}, Follow: func(ctx context.Context, _ string, tell func(host.Happening)) error {
			k.follows <- tell
			<-ctx.Done()
			return ctx.Err()
		}}
	return k
}

// quick is a pace for tests: what is not of interest never comes.
func quick() host.Pace {
	return host.Pace{Beat: 2 * time.Millisecond, Again: time.Millisecond, Look: time.Millisecond, Report: time.Hour,
		Settle: time.Millisecond, Snapshot: time.Hour, Tell: time.Hour}
}

func (k *daemonRig) runs() {
	k.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var over sync.WaitGroup
	over.Go(func() {
		if err := k.daemon.Run(ctx); err != nil {
			k.t.Errorf("the daemon ends with %v", err)
		}
	})
	k.stop = sync.OnceFunc(func() {
		stop()
		over.Wait()
	})
	k.t.Cleanup(k.stop)
}

// until waits for a fact.
func (k *daemonRig) until(what string, holds func() bool) {
	k.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		k.link.lock.Lock()
		is := holds()
		k.link.lock.Unlock()
		if is {
			return
		}
		<-time.After(time.Millisecond)
	}
	k.t.Fatalf("it does not come to this: %s; the daemon said %q", what, k.said(""))
}

// said counts the lines that have a text.
func (k *daemonRig) said(text string) (lines []string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for _, line := range k.lines {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

func (k *daemonRig) fails(err error) {
	k.link.lock.Lock()
	defer k.link.lock.Unlock()
	k.down = err
}

// acts reports whether the host may act outwardly for the task.
func (k *daemonRig) acts() bool {
	h := k.holder()
	return h.Of(id).Has && k.up < h.Until
}

func TestDaemon_arrivesBeatsAndReports(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	k.taken(1)
	k.runs()
	k.until("beats and a report", func() bool { return k.beaten > 2 && len(k.shown) > 0 })
	k.until("places", func() bool { return len(k.places) == 2 })
	said := k.link.state.Said
	if slices.Sort(k.places); strings.Join(k.places, " ") != "web/any web/gpu" || said.Version != "v1" ||
		said.SSH != "me@h1" || said.Free != 2 || strings.Join(said.Harness, " ") != "pi" ||
		strings.Join(said.Labels, " ") != "any gpu" || strings.Join(said.Projects, " ") != "web" {
		t.Errorf("it says %+v, and waits at %v", said, k.places)
	}
	if r := k.shown[0]; r.Task != id || r.Epoch != 1 || !k.acts() {
		t.Errorf("it reports %+v", r)
	}
}

// The daemon says once that the server is away, and finds it again without a person.
func TestDaemon_outlivesALostServer(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	k.fails(errors.New("no route"))
	k.taken(1)
	k.runs()
	k.until("several tries", func() bool { return k.dials > 2 })
	if lines := k.said("does not answer"); len(lines) != 1 || !strings.Contains(lines[0], "no route") || k.acts() {
		t.Errorf("it said %q", lines)
	}
	k.fails(nil)
	k.until("beats", func() bool { return k.beaten > 0 })
	k.until("a line", func() bool { return len(k.said("answers again")) == 1 })
	before := 0
	k.until("a report", func() bool { before = len(k.shown); return before > 0 })
	k.fails(errors.New("cut off"))
	k.until("the line", func() bool { return len(k.said("does not answer")) == 2 })
	tell := <-k.follows
	tell(host.Happening{Cursor: 1, Task: id, Event: &history.Event{Seq: 10, Type: history.StatusChanged}})
	dials := k.dials
	k.fails(nil)
	k.until("the report of what happened meanwhile", func() bool { return len(k.shown) > before })
	k.until("the line", func() bool { return len(k.said("answers again")) == 2 })
	if lines := k.said("does not answer"); len(lines) != 2 || k.dials != dials {
		t.Errorf("it said %q, and dialed %d times", lines, k.dials)
	}
}

func TestDaemon_connectsAgainWhereTheServerRefusesItsCalls(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	k.refuse = errors.New("no such namespace")
	k.runs()
	k.until("several connections", func() bool { return k.dials > 2 })
	if lines := k.said("no such namespace"); len(lines) == 0 {
		t.Errorf("it said %q", k.said(""))
	}
}

// The server asks for a lease again with another token: where one call of it took a day, or its history got long.
func TestDaemon_goesOnWithAnotherToken(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	k.runs()
	k.until("beats", func() bool { return k.beaten > 2 })
	k.link.lock.Lock()
	k.hold()
	number, beats := k.link.state.Number, k.beaten
	k.link.lock.Unlock()
	k.until("beats by the other token", func() bool { return k.beaten > beats+2 })
	if k.link.state.Number != number {
		t.Errorf("it has asked for the lease %d", k.link.state.Number)
	}
}

// Where the server does not ask any more, the host says again that it is there, and learns what it has lost.
func TestDaemon_arrivesAgainAndLetsGoOfWhatItHasLost(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	k.taken(1)
	k.runs()
	k.until("beats", func() bool { return k.beaten > 0 })
	k.link.lock.Lock()
	k.link.state = k.link.state.Silent(k.link.state.Number, now)
	k.link.state, _ = k.link.state.Released(wire.Release{Host: "h1", Task: id, Epoch: 1})
	k.tokens++ // the hold is over
	k.link.lock.Unlock()
	k.until("another lease", func() bool { return k.link.state.Here && k.link.state.Number > 1 })
	k.until("the end of the task here", func() bool { return k.holder().Of(id).Left && k.program.did("leave") })
}

// A lease that is revoked is over at once, whether or not a beat of it fails.
func TestDaemon_arrivesAgainWhereItsLeaseIsRevoked(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	k.taken(1)
	k.runs()
	k.until("beats", func() bool { return k.beaten > 0 })
	k.link.lock.Lock()
	k.link.state, _ = k.link.state.Released(wire.Release{Host: "h1", Task: id, Epoch: 1, Now: true})
	k.link.state = k.link.state.Revoked()
	k.hold()
	k.tokens-- // beats of the lease before are acknowledged still
	k.link.lock.Unlock()
	k.until("another lease", func() bool { return k.link.state.Number > 2 })
	k.until("the end of the task here", func() bool { return k.holder().Of(id).Left && k.program.did("leave") })
}

func TestDaemon_reportsWhatMattersAtOnceAndTheRestLater(t *testing.T) {
	t.Parallel()
	pace := quick()
	k := newDaemon(t, pace)
	k.taken(1)
	k.runs()
	k.until("the first report", func() bool { return len(k.shown) > 0 })
	tell, before := <-k.follows, len(k.shown)
	tell(host.Happening{Cursor: 1, Task: id, Event: &history.Event{Seq: 10, Type: history.AgentNotified}})
	tell(host.Happening{Cursor: 2, Task: "other", Event: &history.Event{Seq: 10, Type: history.StatusChanged}})
	tell(host.Happening{Cursor: 3, Task: id, Event: &history.Event{Seq: 10, Type: history.StatusChanged}})
	k.until("the report of the move", func() bool { return len(k.shown) > before })
	if n := len(k.shown); n > before+2 || k.shown[n-1].Task != id {
		t.Errorf("it reports %d times more", n-before)
	}
}

func TestDaemon_shipsSoonAfterAMoveAndSaysWhatItShipped(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	ships, event := make(chan remote.Call, 100), 9
	k.program.answer = func(c remote.Call) *remote.Reply {
		if c.Argv[1] != "snapshot" {
			return nil
		}
		ships <- c
		return &remote.Reply{Stdout: fmt.Sprintf(`{"event": %d}`, event)}
	}
	k.taken(1)
	k.runs()
	if c := <-ships; strings.Join(c.Argv, " ") != "task snapshot --json --if-changed --to=vault -- "+id {
		t.Errorf("the call is %q", c.Argv)
	}
	shipped := func() bool { row, err := k.Store.Row(id); return err == nil && row.Shipped == event }
	k.until("the note", shipped)
	tell := <-k.follows
	tell(host.Happening{Cursor: 1, Task: id, Event: &history.Event{Seq: 10, Type: history.StatusChanged}})
	<-ships
	k.until("the report of the snapshot", func() bool {
		return slices.ContainsFunc(k.shown, func(r wire.Report) bool {
			return r.Row.Shipped == event && r.Row.ShippedAt == now.Unix()
		})
	})
}

// The last hooks of a task that is over end after its last move.
func TestDaemon_shipsWhatHappensToATaskThatIsOver(t *testing.T) {
	t.Parallel()
	pace := quick()
	pace.Report, pace.Snapshot = time.Millisecond, time.Millisecond
	k := newDaemon(t, pace)
	var event, ships atomic.Int64
	k.program.answer = func(c remote.Call) *remote.Reply {
		if c.Argv[1] != "snapshot" {
			return nil
		}
		ships.Add(1)
		return &remote.Reply{Stdout: fmt.Sprintf(`{"event": %d}`, event.Load())}
	}
	k.program.row.Live = false
	event.Store(9)
	k.taken(1)
	k.runs()
	shipped := func(event int) func() bool {
		return func() bool { row, err := k.Store.Row(id); return err == nil && row.Over && row.Shipped == event }
	}
	k.until("a snapshot of all of it", shipped(9))
	count, since := int64(0), 0
	k.until("the last snapshot", func() bool { // none for twenty beats
		if n := ships.Load(); n != count {
			count, since = n, k.beaten
		}
		return k.beaten > since+20
	})
	k.program.lock.Lock()
	k.program.row.Event = 10
	k.program.lock.Unlock()
	event.Store(10)
	tell := <-k.follows
	tell(host.Happening{Cursor: 1, Task: id, Event: &history.Event{Seq: 10, Type: history.AgentNotified}})
	k.until("a snapshot with what came after its end", shipped(10))
}

func TestShip_eachSnapshotHasItsOwnError(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.program.answer = func(c remote.Call) *remote.Reply {
		if got := strings.Join(c.Argv, " "); got != "task snapshot --json --if-changed --to=vault -- a b c" {
			t.Errorf("the call is %q", got)
		}
		return &remote.Reply{Exit: 1, Stdout: `{"snapshots": [{"task": "a", "event": 7}, {"task": "b", "error": "no",
			"code": "failed"}, {"task": "c", "event": 8, "unchanged": true}]}`}
	}
	all, err := r.Ship(t.Context(), "a", "b", "c")
	if err != nil || len(all) != 3 || all[0].Code != "" || all[1].Error != "no" || all[1].Code == "" ||
		!all[2].Unchanged {
		t.Errorf("%+v, %v", all, err)
	}
	for id, want := range map[string]int{"a": 7, "b": 0, "c": 8} {
		if row, err := r.Store.Row(id); err != nil || row.Shipped != want {
			t.Errorf("of %s there is %d, %v, want %d", id, row.Shipped, err, want)
		}
	}
	for _, said := range []remote.Reply{{Exit: 2, Stderr: "what?"}, {Exit: 1, Stdout: `{"error": "what?"}`}} {
		r.program.answer = func(remote.Call) *remote.Reply { return &said }
		if _, err := r.Ship(t.Context(), "a", "b"); err == nil || !strings.Contains(err.Error(), "what?") {
			t.Errorf("no answer: %v", err)
		}
	}
}

// Another host has pushed a snapshot: the fleet knows whose the task is.
func TestDaemon_asksWhoseATaskIsThatAnotherHostHasShipped(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	k.program.answer = func(c remote.Call) *remote.Reply {
		if c.Argv[1] != "snapshot" {
			return nil
		}
		return &remote.Reply{Exit: 1, Stdout: `{"error": "it moved", "code": "snapshot_moved"}`}
	}
	k.taken(1)
	k.runs()
	k.until("the line", func() bool { return len(k.said("another host has pushed one")) == 1 })
	k.until("another lease", func() bool { return k.link.state.Number > 1 })
}

// A task that was let go here by hand is still the host's for the fleet; one that was deleted is over.
func TestDaemon_tellsATaskThatIsAwayFromOneThatWasDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.taken(1)
	r.program.missing = true
	delete(r.program.tasks, id)
	row, err := r.shows()
	if err != nil || row.Over || !strings.Contains(row.Attention, "not on record") || row.Status != "working" {
		t.Errorf("let go: %+v, %v", row, err)
	}
	r.machine.held[id] = false
	if row, err = r.shows(); err != nil || !row.Over || row.Status != "deleted" {
		t.Errorf("deleted: %+v, %v", row, err)
	}
}

// shows is the row that the host reports of the task.
func (r *rig) shows() (wire.Row, error) {
	return r.Host.Report(r.t.Context(), r, r.holder().Of(id))
}

// Someone who has just joined is not in the list that the host has seen last.
func TestDaemon_learnsWhoIsInTheFleetBeforeItRefusesAKey(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick())
	authority := sign.KeyOf(testkit.Key(t, testkit.Authority).PublicKey())
	k.People = func() (signed.List, error) {
		k.link.lock.Lock()
		defer k.link.lock.Unlock()
		names := []string{"bob"}
		if k.learned > 1 { // the first time is at the beginning
			names = append(names, "ada")
		}
		return testkit.List(t, signed.OfPeople, len(names), names...).Open(authority, testkit.Fleet, signed.OfPeople)
	}
	k.runs()
	k.until("a lease", func() bool { return k.beaten > 0 && k.learned == 1 })
	k.taken(1)
	if taken, err := k.takes(2, func(take *wire.Take) { take.Birth = testkit.Birth(t, "eve", id, "any", now) }); err !=
		nil || !strings.Contains(taken.Refused, "is not in the list of people") {
		t.Errorf("of a stranger: %+v, %v", taken, err)
	}
}

// What a person wants to see is not told half a minute later.
func TestDaemon_tellsAtOnceThatItIsDrained(t *testing.T) {
	t.Parallel()
	k := newDaemon(t, quick()) // it tells nothing by itself
	k.runs()
	k.until("a lease", func() bool { return k.beaten > 0 && k.learned > 0 })
	r := wire.Request{Fleet: testkit.Fleet, Host: "h1", Method: wire.MethodDrain, Args: []string{wire.DrainOn},
		Person: "ada", Key: "k1", Expires: now.Add(time.Minute).Unix()}
	if _, err := k.Drain(t.Context(), wire.Of(testkit.Ask(t, r))); err != nil {
		t.Fatal(err)
	}
	k.until("the word of it", func() bool { return len(k.told) == 1 && k.told[0].Draining })
}

package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"orange/fleet/core"
	"orange/fleet/custody"
	"orange/fleet/members"
	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// office is the machine that has the authority of a fleet.
type office struct {
	t *testing.T
	c client.Client
	a members.Authority
	s setup.Setup
}

func newOffice(t *testing.T, c client.Client) *office {
	t.Helper()
	a, err := members.Make(t.Context(), t.TempDir(), testkit.Fleet)
	testkit.Must(t, err)
	s := setup.Usual()
	s.Namespace = testkit.Fleet
	o := &office{t: t, c: c, a: a, s: s}
	o.publish()
	runs(t, core.AuthorityWorker(c, func(ctx context.Context, order registry.Order) (registry.Admission, error) {
		return a.Admit(ctx, order, time.Now())
	}))
	return o
}

func (o *office) publish() {
	o.t.Helper()
	state, err := o.a.State()
	testkit.Must(o.t, err)
	testkit.Must(o.t, core.Publish(o.t.Context(), o.c, state))
}

// joins has a host join, and answers with its home.
func (o *office) joins(name string) (home string, order registry.Order) {
	o.t.Helper()
	ticket, invite, err := o.a.Invite(o.t.Context(), o.s, registry.Invite{Of: signed.OfHosts, Name: name}, time.Now())
	testkit.Must(o.t, err)
	testkit.Must(o.t, core.Invite(o.t.Context(), o.c, invite))
	line, err := ticket.Line()
	testkit.Must(o.t, err)
	home = o.t.TempDir()
	j, err := members.Begin(home, line)
	testkit.Must(o.t, err)
	j.Setup.Snapshots, j.Setup.Server = "origin", "a server"
	testkit.Must(o.t, j.HostKey())
	if order, err = j.Order(nil); err != nil {
		o.t.Fatal(err)
	}
	admitted, err := core.Join(o.t.Context(), o.c, order)
	testkit.Must(o.t, err)
	testkit.Must(o.t, j.Finish(o.t.Context(), admitted))
	return home, order
}

// Attackers cannot (docs/proof.md): make the machine of someone else trust another registry, or an older list.
func TestServer_aHostJoinsWithTheLineOfAnInvitationOnce(t *testing.T) {
	c := testkit.Connection(t)
	if there, err := core.HasRegistry(t.Context(), c); there || err != nil {
		t.Errorf("a registry in an empty fleet: %t, %v", there, err)
	}
	runs(t, core.Worker(c))
	o := newOffice(t, c)
	home, order := o.joins("h1")
	if there, err := core.HasRegistry(t.Context(), c); !there || err != nil {
		t.Errorf("no registry: %t, %v", there, err)
	}
	trust, err := core.Trust(t.Context(), c, home, o.s)
	if err != nil || !strings.Contains(trust.Hosts.Text, "\nh1 ") {
		t.Errorf("%q, %v", trust.Hosts.Text, err)
	}
	if _, err := core.Join(t.Context(), c, order); err == nil || !strings.Contains(err.Error(), "used already") {
		t.Errorf("a second time: %v", err)
	}
	if _, err := o.a.Remove(t.Context(), "h1", false, time.Now()); err != nil {
		t.Fatal(err)
	}
	o.publish()
	if trust, err = core.Trust(t.Context(), c, home, o.s); err != nil || strings.Contains(trust.Hosts.Text, "h1") {
		t.Errorf("removed: %q, %v", trust.Hosts.Text, err)
	}
	if _, err := core.Join(t.Context(), c, order); err == nil {
		t.Error("one who was removed joins with the old line")
	}
	if skew, err := core.Skew(t.Context(), c); err != nil || skew.Abs() > time.Second {
		t.Errorf("the clock of the same machine: %s, %v", skew, err)
	}
	keep(t, c, wire.RegistryID, "join")

	// someone who can write to the server puts a registry of their own there
	testkit.Must(t, c.TerminateWorkflow(t.Context(), wire.RegistryID, "", "an attacker"))
	newOffice(t, c)
	if _, err := core.Trust(t.Context(), c, home, o.s); !errors.Is(err, sign.ErrNotTheList) {
		t.Errorf("the lists of another authority: %v", err)
	}
	if _, err := core.Trust(t.Context(), c, t.TempDir(), o.s); !errors.Is(err, task.ErrUsage) {
		t.Errorf("a machine that has not joined: %v", err)
	}
}

func TestServer_newListsReachEveryOpenCustody(t *testing.T) {
	c := testkit.Connection(t)
	runs(t, core.Worker(c))
	newHost(t, c, "h1", wire.PlaceQueue("web", wire.AnyLabel))
	begin(t, c, "abc", wire.AnyLabel)
	summary(t, c, "abc", func(c wire.Custody) bool { return c.Phase == string(custody.PhaseHeld) })
	state, err := registry.New(testkit.Fleet, custody.Trust{Authority: testkit.Public(t, testkit.Authority),
		People: testkit.List(t, signed.OfPeople, 2, "bob"), Hosts: testkit.List(t, signed.OfHosts, 1, "h1", "h2")})
	testkit.Must(t, err)
	testkit.Must(t, core.Publish(t.Context(), c, state))
	for end := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
		_, err := asks[wire.Custody](t, c, "abc", wire.RescueUpdate,
			wire.Of(testkit.Rescue(t, "ada", "abc", 1, "h2", "", time.Now())))
		if testkit.CodeOf(err) == wire.CodeStranger {
			break // ada is not in the new list
		}
		if time.Now().After(end) {
			t.Fatalf("ada still counts: %v", err)
		}
	}
}

func TestServer_custodiesBeginAgainAtAServerThatHasLostThem(t *testing.T) {
	c := testkit.Connection(t)
	runs(t, core.Worker(c))
	h1, h2 := newHost(t, c, "h1"), newHost(t, c, "h2")
	birth := testkit.Birth(t, "ada", "abc", "any", time.Now().Add(-time.Hour))
	trust := testkit.Trust(t)
	tell := func(host string, epoch, version int) wire.Custody {
		t.Helper()
		has, err := core.Tell(t.Context(), c, testkit.Fleet, birth, trust,
			testkit.Report(t, host, "abc", epoch, version, 20, "working"))
		testkit.Must(t, err)
		return has
	}
	for range 2 {
		if has := tell("h1", 1, 5); has.Host != "h1" || has.Epoch != 1 || has.Phase != string(custody.PhaseHeld) {
			t.Errorf("%+v", has)
		}
	}
	if has := tell("h2", 2, 3); has.Host != "h2" || has.Epoch != 2 {
		t.Errorf("the greater epoch: %+v", has)
	}
	if gone := <-h1.left; gone != (wire.Gone{Task: "abc", Epoch: 1}) {
		t.Errorf("h1 leaves %+v", gone)
	}
	one := testkit.Request("ada", "abc", "h2", 2, "k1", time.Now())
	if _, err := asks[wire.Reply](t, c, "abc", wire.AskUpdate, wire.Of(testkit.Ask(t, one))); err != nil {
		t.Errorf("a request after it: %v", err)
	}
	h2.report("abc", 2, 4, 30, "over")
	if err := c.GetWorkflow(t.Context(), wire.TaskID("abc"), "").Get(t.Context(), nil); err != nil {
		t.Errorf("the end: %v", err)
	}
	keep(t, c, wire.TaskID("abc"), "told")
}

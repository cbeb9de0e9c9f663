package flow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/registry"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// club is the registry of a fleet with the calls that it makes.
type club struct {
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	own     registry.State // as the authority knows it
	spreads []flow.Spread
	absent  bool // the machine with the authority's key
}

func newClub(t *testing.T) *club {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(testkit.Silence{})
	c := &club{t: t, env: suite.NewTestWorkflowEnvironment()}
	c.env.SetTestTimeout(time.Minute)
	c.env.SetDataConverter(converter.GetDefaultDataConverter())
	var err error
	if c.own, err = registry.New(testkit.Fleet, testkit.Trust(t, "h1", "h2", "h3")); err != nil {
		t.Fatal(err)
	}
	c.env.RegisterWorkflowWithOptions(flow.Flow{}.Registry, workflow.RegisterOptions{Name: wire.RegistryWorkflow})
	c.env.RegisterActivityWithOptions(c.admit, activity.RegisterOptions{Name: wire.AdmitActivity})
	c.env.RegisterActivityWithOptions(c.spread, activity.RegisterOptions{Name: wire.SpreadActivity})
	return c
}

func (c *club) admit(_ context.Context, o wire.Message[registry.Order]) (registry.Admission, error) {
	if c.absent {
		// no worker takes the call before its time is over
		return registry.Admission{}, temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	}
	next, a, err := c.own.Admit(o.Body, c.env.Now(), testkit.Key(c.t, testkit.Authority), "")
	if err != nil {
		return a, temporal.NewNonRetryableApplicationError(err.Error(), "refused", nil)
	}
	c.own = next
	return a, nil
}

func (c *club) spread(_ context.Context, s flow.Spread) error {
	c.spreads = append(c.spreads, s)
	return nil
}

func (c *club) invite(name string) registry.Order {
	c.t.Helper()
	return testkit.Order(c.t, testkit.Invite(c.t, signed.OfPeople, name, c.env.Now()), testkit.Key(c.t,
		testkit.Authority))
}

func (c *club) join(name, key string) registry.Order {
	c.t.Helper()
	joins := registry.Join{Fleet: testkit.Fleet, Of: signed.OfPeople, Name: name, Key: testkit.Public(c.t, key)}
	return testkit.Order(c.t, joins, testkit.Once(c.t, name))
}

// send sends an update at a time, and notes how it ended.
func (c *club) send(after time.Duration, update string, into *error, message func() any) {
	*into = errors.New("no answer")
	c.env.RegisterDelayedCallback(func() {
		c.env.UpdateWorkflow(update, "", &testsuite.TestUpdateCallback{OnAccept: func() {},
			OnReject: func(err error) { *into = err }, OnComplete: func(_ any, err error) { *into = err }}, message())
	}, after)
}

func (c *club) run(most time.Duration) {
	c.env.RegisterDelayedCallback(c.env.CancelWorkflow, most)
	c.env.ExecuteWorkflow(wire.RegistryWorkflow, wire.Of(c.own))
}

func (c *club) trust() custody.Trust {
	c.t.Helper()
	value, err := c.env.QueryWorkflow(wire.TrustQuery)
	var t custody.Trust
	testkit.Must(c.t, err)
	testkit.Must(c.t, value.Get(&t))
	return t
}

func says(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, expected %q", what, err, want)
	}
}

func TestRegistry_admitsWhoWasInvitedOnceAndTellsEveryOpenCustody(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	var invited, early, joined, again, other error
	c.send(time.Second, wire.JoinUpdate, &early, func() any { return wire.Of(c.join("bob", "bob")) })
	c.send(2*time.Second, wire.InviteUpdate, &invited, func() any {
		o := c.invite("bob")
		next, err := c.own.Invited(o, c.env.Now())
		if err != nil {
			t.Error(err)
		}
		c.own = next
		return wire.Of(o)
	})
	c.send(3*time.Minute, wire.JoinUpdate, &joined, func() any { return wire.Of(c.join("bob", "bob")) })
	c.send(4*time.Minute, wire.JoinUpdate, &again, func() any { return wire.Of(c.join("bob", "bob")) })
	c.send(5*time.Minute, wire.JoinUpdate, &other, func() any { return wire.Of(c.join("bob", "eve")) })
	c.run(10 * time.Minute)
	says(t, "before the invitation", early, "no such invitation")
	says(t, "invited", invited, "")
	says(t, "joined", joined, "")
	says(t, "replayed", again, "used already")
	says(t, "with another key", other, "used already")
	if c.trust() != c.own.Trust || !strings.Contains(c.own.Trust.People.Text, "\nbob ") {
		t.Errorf("people:\n%s", c.trust().People.Text)
	}
	if n := len(c.spreads); n != 4 { // at the beginning and after the join, each twice
		t.Fatalf("%d spreads", n)
	}
	first, second := c.spreads[2], c.spreads[3]
	if first.Trust != c.own.Trust || second.Trust != c.own.Trust || !first.Since.IsZero() || second.Since.IsZero() {
		t.Errorf("%+v", c.spreads)
	}
}

func TestRegistry_refusesAnExpiredInvitationAndWhatNoAuthoritySigned(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	var invited, late, forged, lists error
	c.send(time.Second, wire.InviteUpdate, &invited, func() any { return wire.Of(c.invite("bob")) })
	c.send(registry.InviteFor+time.Minute, wire.JoinUpdate, &late, func() any { return wire.Of(c.join("bob", "bob")) })
	c.send(2*time.Second, wire.InviteUpdate, &forged, func() any {
		o := c.invite("eve")
		o.Text = strings.Replace(o.Text, "eve", "mal", 1)
		return wire.Of(o)
	})
	c.send(3*time.Second, wire.TrustUpdate, &lists, func() any {
		own := testkit.Trust(t, "h1", "h2", "h3")
		var err error
		if own.People, err = sign.List(testkit.Key(t, "eve"), strings.Replace(own.People.Text, "version 1", "version 2",
			1)); err != nil {
			t.Error(err)
		}
		return own
	})
	c.run(time.Hour)
	says(t, "invited", invited, "")
	says(t, "late", late, "expired")
	says(t, "forged", forged, "not the one that was signed")
	says(t, "lists of another authority", lists, "expected the authority")
	if c.trust() != testkit.Trust(t, "h1", "h2", "h3") {
		t.Error("the lists changed")
	}
}

func TestRegistry_takesNewListsOfTheAuthorityAndRefusesOlderOnes(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	var removed, back error
	next := testkit.Trust(t, "h1", "h2", "h3")
	next.People = testkit.List(t, signed.OfPeople, 2)
	c.send(3*time.Minute, wire.TrustUpdate, &removed, func() any { return next })
	c.send(4*time.Minute, wire.TrustUpdate, &back, func() any { return testkit.Trust(t, "h1", "h2", "h3") })
	c.run(10 * time.Minute)
	says(t, "new lists", removed, "")
	says(t, "older lists", back, "version here is 2")
	if c.trust() != next || !slices.ContainsFunc(c.spreads, func(s flow.Spread) bool { return s.Trust == next }) {
		t.Errorf("%+v", c.spreads)
	}
}

func TestRegistry_judgesTwoJoinsAtOnceOneAfterTheOther(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	var invited, first, second error
	c.send(time.Second, wire.InviteUpdate, &invited, func() any {
		o := c.invite("bob")
		next, err := c.own.Invited(o, c.env.Now())
		if err != nil {
			t.Error(err)
		}
		c.own = next
		return wire.Of(o)
	})
	c.send(time.Minute, wire.JoinUpdate, &first, func() any { return wire.Of(c.join("bob", "bob")) })
	c.send(time.Minute, wire.JoinUpdate, &second, func() any { return wire.Of(c.join("bob", "eve")) })
	c.run(10 * time.Minute)
	if (first == nil) == (second == nil) {
		t.Errorf("one joins, not both: %v, %v", first, second)
	}
}

func TestRegistry_saysWhatToDoWhereTheAuthorityDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	c.absent = true
	var invited, joined error
	c.send(time.Second, wire.InviteUpdate, &invited, func() any { return wire.Of(c.invite("bob")) })
	c.send(time.Minute, wire.JoinUpdate, &joined, func() any { return wire.Of(c.join("bob", "bob")) })
	c.run(10 * time.Minute)
	says(t, "joined", joined, `start "orange-fleet serve" there`)
	if strings.Contains(c.trust().People.Text, "bob") {
		t.Error("bob is in the list")
	}
}

func TestRegistry_saysItsTime(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	var there time.Time
	c.env.RegisterDelayedCallback(func() {
		c.env.UpdateWorkflow(wire.ClockUpdate, "", &testsuite.TestUpdateCallback{OnAccept: func() {},
			OnReject: func(err error) { t.Error(err) },
			OnComplete: func(answer any, err error) {
				there, _ = answer.(time.Time)
				if err != nil {
					t.Error(err)
				}
			}})
	}, time.Minute)
	before := c.env.Now()
	c.run(time.Hour)
	if d := there.Sub(before); d < time.Minute-time.Second || d > time.Minute+time.Second {
		t.Errorf("%s after the beginning", d)
	}
}

package flow_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

// next is what a run hands on to the one after it.
func next(t *testing.T, err error, into any) {
	t.Helper()
	var again *workflow.ContinueAsNewError
	if !errors.As(err, &again) {
		t.Fatalf("the run ends with %v", err)
	}
	testkit.Must(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, into))
}

func asksFor(env *testsuite.TestWorkflowEnvironment, name string, message any, told func(any, error)) {
	env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{OnAccept: func() {},
		OnReject: func(err error) { told(nil, err) }, OnComplete: told}, message)
}

// A long history goes on in a new run: what was done under a key stays done, and an old report does not come back.
func TestTask_goesOnInANewRunWithAllThatItKnew(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	answers := 0
	var slow []byte // the call that takes long
	var slowReply wire.Message[wire.Reply]
	environment := func() *testsuite.TestWorkflowEnvironment {
		suite := testsuite.WorkflowTestSuite{}
		suite.SetLogger(testkit.Silence{})
		env := suite.NewTestWorkflowEnvironment()
		env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
		env.RegisterWorkflowWithOptions(flow.Flow{}.Task, workflow.RegisterOptions{Name: wire.TaskWorkflow})
		for name, call := range map[string]any{
			wire.AcceptActivity: func(context.Context, wire.Message[wire.Offer]) (wire.Message[wire.OfferAnswer],
				error) {
				return wire.Of(wire.OfferAnswer{Host: "h1"}), nil
			},
			wire.TakeActivity: func(context.Context, wire.Message[wire.Take]) (wire.Message[wire.TakeAnswer], error) {
				return wire.Of(wire.TakeAnswer{Report: testkit.Report(t, "h1", id, 1, 1, 5, "working")}), nil
			},
			wire.AnswerActivity: func(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
				lock.Lock()
				defer lock.Unlock()
				answers++
				reply := wire.Of(testkit.Reply(t, "h1", m.Body.Request, 5+answers))
				if m.Body.Request.Key == "slow" {
					slow, slowReply = activity.GetInfo(ctx).TaskToken, reply
					return reply, activity.ErrResultPending
				}
				return reply, nil
			},
		} {
			env.RegisterActivityWithOptions(call, activity.RegisterOptions{Name: name})
		}
		return env
	}
	env := environment()
	ask := func(env *testsuite.TestWorkflowEnvironment, key string, told func(any, error)) {
		r := testkit.Request("ada", id, "h1", 1, key, env.Now())
		asksFor(env, wire.AskUpdate, wire.Of(testkit.Ask(t, r)), told)
	}
	report := func(env *testsuite.TestWorkflowEnvironment, version, event int, status string) {
		env.SignalWorkflow(wire.ReportSignal, wire.Of(testkit.Report(t, "h1", id, 1, version, event, status)))
	}
	good := func(_ any, err error) {
		if err != nil {
			t.Errorf("asked: %v", err)
		}
	}
	env.RegisterDelayedCallback(func() {
		ask(env, "k1", good)
		ask(env, "slow", good)
	}, time.Minute)
	env.RegisterDelayedCallback(func() {
		env.SetContinueAsNewSuggested(true)
		report(env, 7, 9, "reviewing") // the run waits for what is under way
	}, time.Minute+time.Second)
	env.RegisterDelayedCallback(func() {
		if err := env.CompleteActivity(slow, slowReply, nil); err != nil {
			t.Error(err)
		}
	}, time.Minute+2*time.Second)
	env.ExecuteWorkflow(wire.TaskWorkflow, begin(t, env.Now(), "any"))
	var start flow.Start
	next(t, env.GetWorkflowError(), &start)
	s := start.State.Body
	if start.Birth != nil || s.Phase != custody.PhaseHeld || s.Version != 7 || len(s.Keys) != 2 ||
		s.Row.Status != "reviewing" {
		t.Fatalf("it hands on %s, version %d, %q, keys %+v", s.Phase, s.Version, s.Row.Status, s.Keys)
	}

	env = environment()
	var replies []any
	env.RegisterDelayedCallback(func() {
		ask(env, "k1", func(reply any, err error) {
			good(reply, err)
			replies = append(replies, reply)
		})
		report(env, 7, 99, "over") // a repeat of the last one, forged to be more
	}, time.Minute)
	env.RegisterDelayedCallback(func() { report(env, 8, 10, "over") }, 2*time.Minute)
	env.ExecuteWorkflow(wire.TaskWorkflow, start)
	value, err := env.QueryWorkflow(wire.CustodyQuery)
	var m wire.Message[wire.Custody]
	if err == nil {
		err = value.Get(&m)
	}
	if err != nil || env.GetWorkflowError() != nil || m.Body.Row.Head.Event != 10 || m.Body.Epoch != 1 {
		t.Errorf("the next run ends with %v: %+v, %v", env.GetWorkflowError(), m.Body, err)
	}
	if answers != 2 || len(replies) != 1 {
		t.Errorf("the host was asked %d times, and %d answers came", answers, len(replies))
	}
}

// hostRuns is the workflow of a host, with the calls that ask for its lease.
type hostRuns struct {
	*testsuite.TestWorkflowEnvironment
	numbers []int
	tokens  [][]byte
}

func newHostRuns(t *testing.T) *hostRuns {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(testkit.Silence{})
	h := &hostRuns{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	h.SetTestTimeout(time.Minute)
	h.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	h.RegisterWorkflowWithOptions(flow.Flow{}.Host, workflow.RegisterOptions{Name: wire.HostWorkflow})
	h.RegisterActivityWithOptions(func(ctx context.Context, number int) error {
		h.numbers = append(h.numbers, number)
		h.tokens = append(h.tokens, activity.GetInfo(ctx).TaskToken)
		return activity.ErrResultPending
	}, activity.RegisterOptions{Name: wire.HoldActivity})
	h.RegisterActivityWithOptions(func(context.Context, wire.Message[wire.Look]) (wire.Message[wire.LookAnswer],
		error) {
		return wire.Of(wire.LookAnswer{Host: "h1", Output: "yes"}), nil
	}, activity.RegisterOptions{Name: wire.LookActivity})
	return h
}

func (h *hostRuns) state(t *testing.T) custody.HostState {
	t.Helper()
	value, err := h.QueryWorkflow(wire.HostQuery)
	var m wire.Message[custody.HostState]
	if err == nil {
		err = value.Get(&m)
	}
	if err != nil {
		t.Error(err)
	}
	return m.Body
}

// ends has the last call for a lease end.
func (h *hostRuns) ends(t *testing.T, why enums.TimeoutType) {
	t.Helper()
	err := h.CompleteActivity(h.tokens[len(h.tokens)-1], nil, temporal.NewTimeoutError(why, nil))
	if err != nil {
		t.Error(err)
	}
}

// A host that lives keeps its lease, whatever the workflow goes through.
func TestHost_keepsItsLeaseInNewRunsAndAfterLongCalls(t *testing.T) {
	t.Parallel()
	h := newHostRuns(t)
	here := wire.Of(wire.Here{Host: "h1", Free: 2})
	h.RegisterDelayedCallback(func() { asksFor(h.TestWorkflowEnvironment, wire.HereUpdate, here, func(any, error) {}) },
		time.Second)
	h.RegisterDelayedCallback(func() {
		h.SignalWorkflow(wire.ToldSignal, wire.Of(wire.Here{Host: "h1", Free: 1}))
		h.ends(t, enums.TIMEOUT_TYPE_START_TO_CLOSE) // a day is over
	}, time.Minute)
	h.RegisterDelayedCallback(func() {
		if s := h.state(t); !s.Here || s.Number != 1 || s.Said.Free != 1 || len(h.numbers) != 2 {
			t.Errorf("after a day: %+v, asked for %v", s, h.numbers)
		}
		h.SetContinueAsNewSuggested(true)
		look := wire.Of(wire.Look{Method: "list"})
		asksFor(h.TestWorkflowEnvironment, wire.LookActivity, look, func(_ any, err error) {
			if err != nil {
				t.Errorf("a look at the end of a run: %v", err)
			}
		})
	}, 2*time.Minute)
	h.ExecuteWorkflow(wire.HostWorkflow, wire.Of(custody.HostState{Host: "h1"}))
	var start wire.Message[custody.HostState]
	next(t, h.GetWorkflowError(), &start)
	if !start.Body.Here || start.Body.Number != 1 || !slices.Equal(h.numbers, []int{1, 1}) {
		t.Fatalf("it hands on %+v, after it asked for %v", start.Body, h.numbers)
	}

	h = newHostRuns(t)
	h.RegisterDelayedCallback(func() { h.ends(t, enums.TIMEOUT_TYPE_HEARTBEAT) }, time.Minute)
	h.RegisterDelayedCallback(func() {
		if s := h.state(t); s.Here || s.Number != 1 || !slices.Equal(h.numbers, []int{1}) {
			t.Errorf("without beats: %+v, asked for %v", s, h.numbers)
		}
		look := wire.Of(wire.Look{Method: "list"})
		asksFor(h.TestWorkflowEnvironment, wire.LookActivity, look, func(_ any, err error) {
			var known *temporal.ApplicationError
			if !errors.As(err, &known) || wire.Code(known.Type()) != wire.CodeNotReached {
				t.Errorf("a look at a lost host: %v", err)
			}
		})
	}, 2*time.Minute)
	h.RegisterDelayedCallback(h.CancelWorkflow, 3*time.Minute)
	h.ExecuteWorkflow(wire.HostWorkflow, start)
}

// A host that lives learns of what a person has taken away from it, also where no call reaches it: the server asks for
// another lease, which the host has to ask for first.
func TestHost_revokesTheLeaseOfAHostThatLosesATask(t *testing.T) {
	t.Parallel()
	h := newHostRuns(t)
	here := wire.Of(wire.Here{Host: "h1"})
	var lease wire.Message[wire.Lease]
	update := func(after time.Duration, name string, m any, told func(any, error)) {
		h.RegisterDelayedCallback(func() { asksFor(h.TestWorkflowEnvironment, name, m, told) }, after)
	}
	update(time.Second, wire.HereUpdate, here, func(any, error) {})
	kept := wire.Of(wire.Release{Host: "h1", Task: id, Epoch: 1})
	update(time.Minute, wire.ReleaseUpdate, kept, func(any, error) {
		if s := h.state(t); s.Number != 1 || len(s.Gone) > 0 {
			t.Errorf("what it keeps costs it its lease: %+v", s)
		}
	})
	taken := wire.Of(wire.Release{Host: "h1", Task: id, Epoch: 1, Now: true})
	update(2*time.Minute, wire.ReleaseUpdate, taken, func(any, error) {})
	h.RegisterDelayedCallback(func() {
		if s := h.state(t); !s.Here || !slices.Equal(h.numbers, []int{1, 2}) {
			t.Errorf("after a rescue: %+v, asked for %v", s, h.numbers)
		}
	}, 2*time.Minute+time.Second)
	update(2*time.Minute+2*time.Second, wire.HereUpdate, here, func(answer any, err error) {
		lease, _ = answer.(wire.Message[wire.Lease])
		if err != nil || lease.Body.Number != 3 || len(lease.Body.Gone) != 1 {
			t.Errorf("it gets %+v, %v", answer, err)
		}
	})
	h.RegisterDelayedCallback(h.CancelWorkflow, 3*time.Minute)
	h.ExecuteWorkflow(wire.HostWorkflow, wire.Of(custody.HostState{Host: "h1"}))
	if !slices.Equal(h.numbers, []int{1, 2, 3}) || lease.Body.Number != 3 {
		t.Errorf("the server asked for %v", h.numbers)
	}
}

package core_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"orange/fleet/core"
	"orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

var record = flag.Bool("update", false, "write the histories of the workflows into flow/testdata/histories")

// host answers for one host, with a history in memory.
type host struct {
	t    *testing.T
	c    client.Client
	name string
	lock sync.Mutex
	keys []string
	took chan int
	left chan wire.Gone
}

func runs(t *testing.T, w worker.Worker) {
	t.Helper()
	testkit.Must(t, w.Start())
	t.Cleanup(w.Stop)
}

func newHost(t *testing.T, c client.Client, name string, places ...string) *host {
	t.Helper()
	h := &host{t: t, c: c, name: name, took: make(chan int, 100), left: make(chan wire.Gone, 100)}
	for _, queue := range append(places, wire.HostQueue(name), wire.HoldQueue(name)) {
		w := worker.New(c, queue, worker.Options{DisableWorkflowWorker: true, DisableRegistrationAliasing: true})
		for called, call := range map[string]any{wire.AcceptActivity: h.accept, wire.TakeActivity: h.take,
			wire.AnswerActivity: h.answer, wire.LeaveActivity: h.leave, wire.LookActivity: h.look,
			wire.HoldActivity: h.hold} {
			w.RegisterActivityWithOptions(call, activity.RegisterOptions{Name: called})
		}
		runs(t, w)
	}
	return h
}

func (h *host) accept(context.Context, wire.Message[wire.Offer]) (wire.Message[wire.OfferAnswer], error) {
	return wire.Of(wire.OfferAnswer{Host: h.name}), nil
}

func (h *host) take(_ context.Context, m wire.Message[wire.Take]) (wire.Message[wire.TakeAnswer], error) {
	defer func() { h.took <- m.Body.Epoch }()
	var lost []string
	for _, k := range m.Body.Keys {
		lost = append(lost, k.Key)
	}
	return wire.Of(wire.TakeAnswer{Lost: lost, Report: testkit.Report(h.t, h.name, m.Body.Task, m.Body.Epoch, 1, 5,
		"working")}), nil
}

func (h *host) answer(_ context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if !slices.Contains(h.keys, m.Body.Request.Key) {
		h.keys = append(h.keys, m.Body.Request.Key)
	}
	return wire.Of(testkit.Reply(h.t, h.name, m.Body.Request, 5+len(h.keys))), nil
}

func (h *host) look(_ context.Context, m wire.Message[wire.Look]) (wire.Message[wire.LookAnswer], error) {
	return wire.Of(wire.LookAnswer{Host: h.name, Output: m.Body.Method}), nil
}

func (h *host) leave(_ context.Context, m wire.Message[wire.Leave]) (wire.Message[wire.LeaveAnswer], error) {
	h.left <- m.Body.Gone
	return wire.Of(wire.LeaveAnswer{Host: h.name}), nil
}

// hold says that the host lives until it is asked to stop.
func (h *host) hold(ctx context.Context, _ int) error {
	<-ctx.Done()
	return ctx.Err()
}

func (h *host) report(task string, epoch, version, event int, status string) {
	h.t.Helper()
	if err := h.c.SignalWorkflow(h.t.Context(), wire.TaskID(task), "", wire.ReportSignal,
		wire.Of(testkit.Report(h.t, h.name, task, epoch, version, event, status))); err != nil {
		h.t.Fatal(err)
	}
}

func begin(t *testing.T, c client.Client, id, on string) {
	t.Helper()
	for range 2 { // a second time is the same task
		birth := testkit.Birth(t, "ada", id, on, time.Now())
		testkit.Must(t, core.Begin(t.Context(), c, testkit.Fleet, id, birth, testkit.Trust(t)))
	}
}

// summary waits until the custody is as it should be.
func summary(t *testing.T, c client.Client, id string, holds func(wire.Custody) bool) wire.Custody {
	t.Helper()
	var now wire.Custody
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		ctx, off := context.WithTimeout(t.Context(), 5*time.Second)
		var err error
		now, err = core.Query[wire.Custody](ctx, c, wire.TaskID(id), wire.CustodyQuery)
		off()
		if err == nil && holds(now) {
			return now
		}
		<-time.After(20 * time.Millisecond)
	}
	t.Fatalf("the custody is %+v", now)
	return now
}

func asks[T wire.Body](t *testing.T, c client.Client, id, update string, message any) (T, error) {
	t.Helper()
	var answer wire.Message[T]
	err := core.Update(t.Context(), c, wire.TaskID(id), update, message, &answer)
	return answer.Body, err
}

// keep writes the history of a workflow for the test that replays it.
func keep(t *testing.T, c client.Client, id, name string) {
	t.Helper()
	if !*record {
		return
	}
	all := &history.History{}
	events := c.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		testkit.Must(t, err)
		all.Events = append(all.Events, event)
	}
	text, err := temporalproto.CustomJSONMarshalOptions{Indent: "  "}.Marshal(all)
	testkit.Must(t, err)
	dir := filepath.Join("..", "flow", "testdata", "histories")
	testkit.Must(t, os.MkdirAll(dir, 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o600))
}

func TestServer_aTaskIsRescuedFromOneHostToAnother(t *testing.T) {
	c := testkit.Connection(t)
	runs(t, core.Worker(c))
	h1 := newHost(t, c, "h1", wire.PlaceQueue("web", wire.AnyLabel))
	h2 := newHost(t, c, "h2")
	begin(t, c, "abc", wire.AnyLabel)
	held := summary(t, c, "abc", func(c wire.Custody) bool { return c.Phase == string(custody.PhaseHeld) })
	if held.Host != "h1" || held.Epoch != 1 || <-h1.took != 1 {
		t.Errorf("placed: %+v", held)
	}
	one := testkit.Request("ada", "abc", "h1", 1, "k1", time.Now())
	for range 2 { // the second one is answered from the custody
		if reply, err := asks[wire.Reply](t, c, "abc", wire.AskUpdate, wire.Of(testkit.Ask(t, one))); err != nil ||
			reply.Head.Event != 6 {
			t.Errorf("asked: %+v, %v", reply, err)
		}
	}
	wrong := one
	wrong.Epoch, wrong.Key = 2, "k2"
	if _, err := asks[wire.Reply](t, c, "abc", wire.AskUpdate, wire.Of(testkit.Ask(t, wrong))); testkit.CodeOf(err) !=
		wire.CodeStaleEpoch {
		t.Errorf("of another epoch: %v", err)
	}
	look := wire.Of(wire.Look{Task: "abc", Method: "show"})
	if seen, err := asks[wire.LookAnswer](t, c, "abc", wire.LookActivity, look); err != nil || seen.Host != "h1" {
		t.Errorf("looked: %+v, %v", seen, err)
	}
	h1.report("abc", 1, 2, 7, "reviewing")
	summary(t, c, "abc", func(c wire.Custody) bool { return c.Row.Status == "reviewing" })

	var lease wire.Message[wire.Lease]
	here := wire.Of(wire.Here{Host: "h1"})
	if err := core.UpdateHost(t.Context(), c, "h1", wire.HereUpdate, here, &lease); err != nil ||
		lease.Body.Number != 1 {
		t.Fatalf("here: %+v, %v", lease.Body, err)
	}
	rescue := func(reason string) (wire.Custody, error) {
		return asks[wire.Custody](t, c, "abc", wire.RescueUpdate,
			wire.Of(testkit.Rescue(t, "ada", "abc", 1, "h2", reason, time.Now())))
	}
	if _, err := rescue(""); testkit.CodeOf(err) != wire.CodeKept {
		t.Errorf("a host that lives: %v", err)
	}
	for range 2 { // the second one does nothing
		if _, err := rescue("it burns"); err != nil {
			t.Errorf("rescue: %v", err)
		}
	}
	now := summary(t, c, "abc", func(c wire.Custody) bool {
		return c.Phase == string(custody.PhaseHeld) &&
			c.Epoch == 2
	})
	if now.Host != "h2" || len(now.Lost) != 1 || <-h2.took != 2 {
		t.Errorf("rescued: %+v", now)
	}
	if gone := <-h1.left; gone != (wire.Gone{Task: "abc", Epoch: 1}) {
		t.Errorf("h1 leaves %+v", gone)
	}
	if err := core.UpdateHost(t.Context(), c, "h1", wire.HereUpdate, here, &lease); err != nil ||
		lease.Body.Number != 3 || len(lease.Body.Gone) != 1 { // with the rescue its lease was over
		t.Errorf("h1 is back: %+v, %v", lease.Body, err)
	}
	_, err := asks[wire.Reply](t, c, "abc", wire.AskUpdate, wire.Of(testkit.Ask(t, one)))
	if testkit.CodeOf(err) != wire.CodeLost {
		t.Errorf("the lost request: %v", err)
	}
	h1.report("abc", 1, 99, 99, "over") // late
	h2.report("abc", 2, 2, 9, "over")
	if err := c.GetWorkflow(t.Context(), wire.TaskID("abc"), "").Get(t.Context(), nil); err != nil {
		t.Errorf("the end: %v", err)
	}
	keep(t, c, wire.TaskID("abc"), "rescue")
}

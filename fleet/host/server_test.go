package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"orange/fleet/core"
	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

// server is a connection to a server of its own with a core worker.
func server(t *testing.T) client.Client {
	t.Helper()
	c := testkit.Connection(t)
	w := core.Worker(c)
	testkit.Must(t, w.Start())
	t.Cleanup(w.Stop)
	return c
}

// servedDaemon is a daemon with a fake orange at a real server.
func servedDaemon(t *testing.T, c client.Client) *daemonRig {
	t.Helper()
	k := newDaemon(t, host.Pace{Beat: 100 * time.Millisecond, Again: 10 * time.Millisecond, Look: 10 * time.Millisecond,
		Report: 50 * time.Millisecond, Settle: time.Millisecond, Snapshot: time.Hour, Tell: 50 * time.Millisecond})
	k.Now = host.ServerTime
	k.daemon.Dial = func(context.Context) (host.Link, error) {
		return sharedLink{host.Temporal{Client: c}}, nil
	}
	return k
}

// sharedLink is a link whose connection belongs to the test.
type sharedLink struct{ host.Temporal }

func (sharedLink) Close() {}

func (sharedLink) Learn(context.Context) error { return nil }

// asks sends an update to a workflow.
func asks[T wire.Body](t *testing.T, c client.Client, id, update string, message any) (T, error) {
	t.Helper()
	var answer wire.Message[T]
	err := core.Update(t.Context(), c, id, update, message, &answer)
	return answer.Body, err
}

func query[T wire.Body](c client.Client, id, name string) T {
	ctx, off := context.WithTimeout(context.Background(), 5*time.Second)
	defer off()
	now, _ := core.Query[T](ctx, c, id, name) // it is asked again
	return now
}

// A daemon takes a task from a real server, answers, and goes on after it was stopped and started again.
func TestServer_aDaemonTakesAnswersAndComesBack(t *testing.T) {
	c := server(t)
	k := servedDaemon(t, c)
	k.runs()
	k.until("a lease", func() bool { return k.holder().Until > 0 })
	testkit.Must(t, core.Begin(t.Context(), c, testkit.Fleet, id, testkit.Birth(t, "ada", id, "any", time.Now()),
		testkit.Trust(t)))
	k.until("the custody", func() bool {
		now := query[wire.Custody](c, wire.TaskID(id), wire.CustodyQuery)
		return now.Phase == string(custody.PhaseHeld) && now.Host == "h1" && now.Epoch == 1
	})
	ask := testkit.Ask(t, testkit.Request("ada", id, "h1", 1, "k1", time.Now()))
	if reply, err := asks[wire.Reply](t, c, wire.TaskID(id), wire.AskUpdate, wire.Of(ask)); err != nil || !reply.Done {
		t.Errorf("asked: %+v, %v", reply, err)
	}
	look := wire.Of(wire.Look{Method: "list"})
	if seen, err := asks[wire.LookAnswer](t, c, wire.HostID("h1"), wire.LookActivity, look); err != nil ||
		seen.Host != "h1" || seen.Output != "done\n" {
		t.Errorf("looked: %+v, %v", seen, err)
	}
	number := k.holder().Number
	k.stop()
	again := servedDaemon(t, c)
	again.Store, again.machine.held = k.Store, k.machine.held
	again.runs()
	again.until("another lease", func() bool { return again.holder().Number > number })
	again.program.answer = nil
	before := query[wire.Custody](c, wire.TaskID(id), wire.CustodyQuery)
	tell := <-again.follows
	tell(host.Happening{Cursor: 1, Task: id})
	again.until("a report", func() bool {
		now := query[wire.Custody](c, wire.TaskID(id), wire.CustodyQuery)
		return now.Told >= before.Told && now.Host == "h1" && now.Epoch == 1
	})
}

// A person has a host take no new tasks, and take some again; the fleet shows it.
func TestServer_aHostIsDrained(t *testing.T) {
	c := server(t)
	k := servedDaemon(t, c)
	k.runs()
	k.until("a lease", func() bool { return k.holder().Until > 0 })
	drain := func(by, word, key string) (wire.Reply, error) {
		t.Helper()
		r := wire.Request{Fleet: testkit.Fleet, Host: "h1", Method: wire.MethodDrain, Args: []string{word}, Person: by,
			Key: key, Expires: time.Now().Add(time.Minute).Unix()}
		return asks[wire.Reply](t, c, wire.HostID("h1"), wire.DrainUpdate, wire.Of(testkit.Ask(t, r)))
	}
	if _, err := drain("h1", wire.DrainOn, "k0"); testkit.CodeOf(err) != wire.CodeStranger {
		t.Errorf("by no person: %v", err)
	}
	if reply, err := drain("ada", wire.DrainOn, "k1"); err != nil || !reply.Done || reply.Signature == "" {
		t.Fatalf("drain: %+v, %v", reply, err)
	}
	k.until("the word of it", func() bool {
		return query[custody.HostState](c, wire.HostID("h1"), wire.HostQuery).Said.Draining
	})
	if m, err := k.Accept(t.Context(), wire.Of(wire.Offer{Task: id, Project: "web"})); err != nil ||
		!strings.Contains(m.Body.Unfit, "drained") {
		t.Errorf("a drained host says %+v, %v", m.Body, err)
	}
	if _, err := drain("ada", wire.DrainOff, "k2"); err != nil {
		t.Errorf("the end: %v", err)
	}
	k.until("the word of it", func() bool {
		return !query[custody.HostState](c, wire.HostID("h1"), wire.HostQuery).Said.Draining
	})
}

// What a newer program says is refused, with what to do.
func TestServer_aMessageOfANewerVersionIsRefused(t *testing.T) {
	c := server(t)
	k := servedDaemon(t, c)
	k.runs()
	k.until("a lease", func() bool { return k.holder().Until > 0 })
	newer := map[string]any{"kind": "look", "v": 9, "body": map[string]any{"what": "is new"}}
	_, err := asks[wire.LookAnswer](t, c, wire.HostID("h1"), wire.LookActivity, newer)
	var known *temporal.ApplicationError
	if !errors.As(err, &known) || !strings.Contains(err.Error(), "update orange-fleet here (has 1, needs 9)") {
		t.Errorf("it says %v", err)
	}
}

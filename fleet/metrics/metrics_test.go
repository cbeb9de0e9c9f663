package metrics_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/metrics"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/task"
)

var now = time.Unix(1_700_000_000, 0)

func row(status string, event, shipped int, at int64) wire.Row {
	return wire.Row{Status: status, Since: now.Unix() - 500, Head: wire.Head{Event: event},
		Shipped: shipped, ShippedAt: at}
}

func fleet() metrics.Fleet {
	held := string(custody.PhaseHeld)
	return metrics.Fleet{Tasks: []wire.Custody{
		{Phase: "waiting"},
		{Phase: held, Host: "h1", Row: row("working", 9, 9, now.Unix()-400)},
		{Phase: held, Host: "h1", Row: row("working", 9, 8, now.Unix()-70)},
		{Phase: held, Host: "h1", Row: row("say \"x\"\n", 9, 7, now.Unix()-60)},
		{Phase: held, Host: "h2", Row: row("working", 3, 0, 0)},
	}, Hosts: []custody.HostState{{Host: "h2", Since: 7}, {Host: "h1", Here: true, Since: 5,
		Said: wire.Here{Free: 3, Draining: true}}}}
}

const want = `# HELP orange_fleet_reached Whether the server of the fleet answered; without it, nothing is said of tasks and hosts.
# TYPE orange_fleet_reached gauge
orange_fleet_reached 1
# HELP orange_fleet_requests_total Requests of people that this worker forwarded, by how they ended.
# TYPE orange_fleet_requests_total counter
orange_fleet_requests_total{result="answered"} 4
orange_fleet_requests_total{result="not_known"} 1
# HELP orange_fleet_tasks Open tasks.
# TYPE orange_fleet_tasks gauge
orange_fleet_tasks{host="",phase="waiting",status=""} 1
orange_fleet_tasks{host="h1",phase="held",status="say \"x\"\n"} 1
orange_fleet_tasks{host="h1",phase="held",status="working"} 2
orange_fleet_tasks{host="h2",phase="held",status="working"} 1
# HELP orange_fleet_tasks_not_shipped Tasks whose last reported event is in no snapshot.
# TYPE orange_fleet_tasks_not_shipped gauge
orange_fleet_tasks_not_shipped{host="h1"} 2
orange_fleet_tasks_not_shipped{host="h2"} 1
# HELP orange_fleet_snapshot_age_seconds Age of the oldest last snapshot of the tasks that are not shipped, or, without a snapshot, how long the task has its status.
# TYPE orange_fleet_snapshot_age_seconds gauge
orange_fleet_snapshot_age_seconds{host="h1"} 70
orange_fleet_snapshot_age_seconds{host="h2"} 500
# HELP orange_fleet_host_here 1 where the host has a lease, 0 where it is lost.
# TYPE orange_fleet_host_here gauge
orange_fleet_host_here{host="h1"} 1
orange_fleet_host_here{host="h2"} 0
# HELP orange_fleet_host_since_seconds When the host came, or was lost, in seconds since 1970.
# TYPE orange_fleet_host_since_seconds gauge
orange_fleet_host_since_seconds{host="h1"} 5
orange_fleet_host_since_seconds{host="h2"} 7
# HELP orange_fleet_host_free_places Free workspaces, as the host said last.
# TYPE orange_fleet_host_free_places gauge
orange_fleet_host_free_places{host="h1"} 3
orange_fleet_host_free_places{host="h2"} 0
# HELP orange_fleet_host_draining 1 where the host takes no new tasks.
# TYPE orange_fleet_host_draining gauge
orange_fleet_host_draining{host="h1"} 1
orange_fleet_host_draining{host="h2"} 0
`

func TestText_isWhatPrometheusReads(t *testing.T) {
	t.Parallel()
	got := metrics.Text(fleet(), map[string]int64{"answered": 4, "not_known": 1}, now)
	if got != want {
		t.Errorf("%s\nexpected:\n%s", got, want)
	}
}

func TestText_ofAnUnreachableFleetSaysNothingOfItsTasks(t *testing.T) {
	t.Parallel()
	f := fleet()
	f.Err = errors.New("no answer")
	got := metrics.Text(f, map[string]int64{"answered": 4}, now)
	if !strings.Contains(got, "orange_fleet_reached 0\n") || strings.Contains(got, "orange_fleet_tasks") ||
		strings.Contains(got, "host_here") || !strings.Contains(got, "requests_total") {
		t.Error(got)
	}
}

func TestListen_isForThisMachineUnlessMoreIsWanted(t *testing.T) {
	t.Parallel()
	for address, open := range map[string]bool{"0.0.0.0:0": false, ":0": false, "example.org:0": false, "9464": true} {
		if l, err := metrics.Listen(t.Context(), address, open); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v, %v", address, l, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := metrics.Listen(t.Context(), address, false)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	testkit.Must(t, err)
	answer, err := http.DefaultClient.Do(r)
	testkit.Must(t, err)
	text, err := io.ReadAll(answer.Body)
	testkit.Must(t, errors.Join(err, answer.Body.Close()))
	return answer.StatusCode, string(text)
}

func TestServe_asksTheServerOnceForManyWhoRead(t *testing.T) {
	t.Parallel()
	looks, at := 0, now
	p := &metrics.Page{Requests: &metrics.Requests{}, Now: func() time.Time { return at },
		Look: func(context.Context) metrics.Fleet { looks++; return fleet() }}
	l, err := metrics.Listen(t.Context(), "127.0.0.1:0", false)
	testkit.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Serve(ctx, l) }()
	url := "http://" + l.Addr().String()
	for range 3 {
		if code, text := get(t, url+"/metrics"); code != http.StatusOK || !strings.Contains(text,
			`orange_fleet_requests_total{result="answered"} 0`) {
			t.Errorf("%d: %s", code, text)
		}
	}
	if looks != 1 {
		t.Errorf("%d looks", looks)
	}
	at = at.Add(time.Minute)
	get(t, url+"/metrics")
	if looks != 2 {
		t.Errorf("%d looks a minute later", looks)
	}
	if code, _ := get(t, url+"/"); code != http.StatusNotFound {
		t.Errorf("another page: %d", code)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// countRequests answers updates as a custody does.
func countRequests(ctx workflow.Context) error {
	if err := workflow.SetUpdateHandlerWithOptions(ctx, wire.AskUpdate, func(ctx workflow.Context, how string) error {
		switch how {
		case "lost":
			return temporal.NewNonRetryableApplicationError("lost", "not_known", nil)
		default:
			return workflow.Sleep(ctx, time.Second)
		}
	}, workflow.UpdateHandlerOptions{Validator: func(_ workflow.Context, how string) error {
		if how == "refused" {
			return temporal.NewNonRetryableApplicationError("no", "stale_epoch", nil)
		}
		return nil
	}}); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandler(ctx, wire.LookActivity, func(workflow.Context, string) error {
		return nil
	}); err != nil {
		return err
	}
	return workflow.Sleep(ctx, time.Minute)
}

func TestRequests_countsHowRequestsEnd(t *testing.T) {
	t.Parallel()
	suite := testsuite.WorkflowTestSuite{}
	env := suite.NewTestWorkflowEnvironment()
	counts := &metrics.Requests{}
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{counts}})
	env.RegisterWorkflow(countRequests)
	env.RegisterDelayedCallback(func() {
		for _, one := range [][2]string{{wire.AskUpdate, "done"}, {wire.AskUpdate, "done"}, {wire.AskUpdate, "lost"},
			{wire.AskUpdate, "refused"}, {wire.LookActivity, "done"}} {
			env.UpdateWorkflow(one[0], "", &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(error) {},
				OnComplete: func(any, error) {}}, one[1])
		}
	}, time.Second)
	env.ExecuteWorkflow(countRequests)
	got := counts.Counts()
	if got[metrics.ResultAnswered] != 2 || got["not_known"] != 1 || got["stale_epoch"] != 1 || len(got) != 3 {
		t.Errorf("%v, %v", got, env.GetWorkflowError())
	}
}

package postgres_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"

	"orange/fleet/client"
	"orange/fleet/core"
	"orange/fleet/setup"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/testkit/parity"
)

const atOnce = 48

// many is how many open tasks a fleet has that has many: fewer of them show that the program works.
var many = flag.Int("many", 10_000, "how many open tasks there are")

// few is how many the same fleet has first.
const few = 100

// crowd is a fleet with very many tasks, all at one host that answers from memory.
type crowd struct {
	*lab
	c sdk.Client
}

// take takes every task.
func (c crowd) take(_ context.Context, m wire.Message[wire.Take]) (wire.Message[wire.TakeAnswer], error) {
	return wire.Of(wire.TakeAnswer{Report: testkit.Report(c.t, "f1", m.Body.Task, m.Body.Epoch, 1, 5, "working")}), nil
}

// answer answers every request.
func (c crowd) answer(_ context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	return wire.Of(testkit.Reply(c.t, "f1", m.Body.Request, 6)), nil
}

// each does something for numbers from 0 on, many of them at once.
func (c crowd) each(count int, do func(i int) error) {
	c.t.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					c.t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func (c crowd) start(i int) error {
	birth := testkit.Birth(c.t, "ada", id("Many", i), wire.HostPlace+"f1", time.Now())
	return core.Begin(c.t.Context(), c.c, testkit.Fleet, id("Many", i), birth, testkit.Trust(c.t, "f1"))
}

func (c crowd) report(i, version int, status string) error {
	return c.c.SignalWorkflow(c.t.Context(), wire.TaskID(id("Many", i)), "", wire.ReportSignal,
		wire.Of(testkit.Report(c.t, "f1", id("Many", i), 1, version, 5+version, status)))
}

// count is how many open tasks have a status.
func (c crowd) count(status string) int {
	found, err := c.c.CountWorkflow(c.t.Context(),
		&workflowservice.CountWorkflowExecutionsRequest{Query: statusQuery(status)})
	testkit.Must(c.t, err)
	return int(found.GetCount())
}

func statusQuery(status string) string {
	return fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND OrangeStatus = '%s'", wire.TaskWorkflow,
		status)
}

func (c crowd) events(i int) int {
	found, err := c.c.DescribeWorkflowExecution(c.t.Context(), wire.TaskID(id("Many", i)), "")
	testkit.Must(c.t, err)
	return int(found.GetWorkflowExecutionInfo().GetHistoryLength())
}

// many measures with 10,000 open tasks.
func (l *lab) many() {
	const fleet = "many"
	side := parity.At(l.dir, fleet, l.admin.Orange, l.alone.Env, nil)
	testkit.Must(l.t, side.MakeNotes())
	worked := l.core(side, fleet)
	s, err := setup.Read(filepath.Join(side.Dir, "orange"))
	testkit.Must(l.t, err)
	connection, err := core.Dial(l.t.Context(), s)
	testkit.Must(l.t, err)
	l.t.Cleanup(connection.Close)
	c := crowd{l, connection}
	w := worker.New(connection, wire.HostQueue("f1"), worker.Options{DisableWorkflowWorker: true,
		DisableRegistrationAliasing: true})
	for name, call := range map[string]any{wire.TakeActivity: c.take, wire.AnswerActivity: c.answer} {
		w.RegisterActivityWithOptions(call, activity.RegisterOptions{Name: name})
	}
	testkit.Must(l.t, w.Start())
	l.t.Cleanup(w.Stop)

	began := time.Now()
	c.each(few, c.start)
	l.until("a few tasks", func() bool { return c.count("working") == few })
	c.reports(few, few, func(i int) (int, int, string) { return i % few, 2 + i/few, fmt.Sprintf("few%d", i/few) })
	c.lives()
	c.each(*many, c.start)
	l.until("all tasks", func() bool { return c.count("working") == *many-few })
	l.row(fmt.Sprintf("%d tasks begun and taken", *many), fmt.Sprintf("%.0f/s",
		float64(*many)/time.Since(began).Seconds()), "", true)
	c.reports(*many, c.part(), func(i int) (int, int, string) { return i, 9, fmt.Sprintf("s%d", i/c.part()) })
	c.lists(s)
	c.asks()
	server, own := l.serverMegabytes(), l.megabytes(strconv.Itoa(worked.Process.Pid))
	l.row(fmt.Sprintf("memory of the server / a core worker at %d open tasks", *many),
		fmt.Sprintf("%.0f / %.0f MB", server, own),
		"≤ 600 / 200 MB", server <= 600 && own <= 200)
}

// part is how many tasks get one status.
func (c crowd) part() int { return *many / 10 }

// reports measures reports until they are in the list. Three groups of them get one status each.
func (c crowd) reports(open, group int, of func(i int) (task, version int, status string)) {
	c.t.Helper()
	count := 3 * group
	began := time.Now()
	c.each(count, func(i int) error { return c.report(of(i)) })
	_, _, last := of(count - 1)
	c.until("the last reports", func() bool { return c.count(last) == group })
	rate := float64(count) / time.Since(began).Seconds()
	c.row(fmt.Sprintf("reports until they are in the list, %d open tasks", open), fmt.Sprintf("%.0f/s", rate),
		"≥ 100/s", rate >= 100)
}

// lives counts the events of a life at the server.
func (c crowd) lives() {
	c.t.Helper()
	const one = few - 1
	for version := 5; version < 7; version++ { // the take is the first report, and three have come
		testkit.Must(c.t, c.report(one, version, "few2"))
		c.until("the report", func() bool { return c.told(one).Row.Head.Event == 5+version })
	}
	birth := c.events(one)
	c.asked(one, "k1")
	asked := c.events(one) - birth
	c.row("events at the server: birth with 5 reports / one request", fmt.Sprintf("%d / %d", birth, asked),
		"a life ≤ 250", birth+10*asked <= 250)
}

func (c crowd) told(i int) wire.Custody {
	var m wire.Message[wire.Custody]
	value, err := c.c.QueryWorkflow(c.t.Context(), wire.TaskID(id("Many", i)), "", wire.CustodyQuery)
	if err == nil {
		err = value.Get(&m)
	}
	testkit.Must(c.t, err)
	return m.Body
}

// asked asks something of a task, and answers how long that took.
func (c crowd) asked(i int, key string) time.Duration {
	c.t.Helper()
	ask := wire.Of(testkit.Ask(c.t, testkit.Request("ada", id("Many", i), "f1", 1, key, time.Now())))
	began := time.Now()
	handle, err := c.c.UpdateWorkflow(c.t.Context(), sdk.UpdateWorkflowOptions{
		WorkflowID: wire.TaskID(id("Many", i)), UpdateName: wire.AskUpdate, Args: []any{ask},
		WaitForStage: sdk.WorkflowUpdateStageCompleted})
	testkit.Must(c.t, err)
	var reply wire.Message[wire.Reply]
	testkit.Must(c.t, handle.Get(c.t.Context(), &reply))
	return time.Since(began)
}

// asks measures a request that costs nothing at its host.
func (c crowd) asks() {
	c.t.Helper()
	var took spread
	for i := range min(160, *many) {
		took = append(took, c.asked(i, "k2"))
	}
	c.row("a request to a host that answers from memory, 1 client: p50 / p99",
		short(took.at(.5))+" / "+short(took.at(.99)), "", true)
}

// lists measures looks at the list.
func (c crowd) lists(s setup.Setup) {
	c.t.Helper()
	var counted, listed spread
	for range 30 {
		began := time.Now()
		c.count("s1")
		counted = append(counted, time.Since(began))
		began = time.Now()
		if rows := c.partOfAll(); rows != c.part() {
			c.t.Errorf("listed %d tasks", rows)
		}
		listed = append(listed, time.Since(began))
	}
	c.row(fmt.Sprintf("count / list %d of %d, with their rows: p50", c.part(), *many),
		short(counted.at(.5))+" / "+short(listed.at(.5)),
		"≤ 50 / 150 ms", counted.at(.5) <= 50*time.Millisecond && listed.at(.5) <= 150*time.Millisecond)
	remote := &client.Remote{Home: c.home(), Setup: s}
	defer remote.Close()
	began := time.Now()
	all, err := remote.Tasks(c.t.Context())
	testkit.Must(c.t, err)
	c.row(fmt.Sprintf("list all %d", len(all)), short(time.Since(began)), "", true)
}

// partOfAll reads the rows of the tasks of one status.
func (c crowd) partOfAll() int {
	count, next := 0, []byte(nil)
	for {
		found, err := c.c.ListWorkflow(c.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: statusQuery("s1"), PageSize: 500, NextPageToken: next})
		testkit.Must(c.t, err)
		for _, one := range found.GetExecutions() {
			var m wire.Message[wire.Custody]
			testkit.Must(c.t,
				converter.GetDefaultDataConverter().FromPayload(one.GetMemo().GetFields()[wire.RowMemo], &m))
			count++
		}
		if next = found.GetNextPageToken(); len(next) == 0 {
			return count
		}
	}
}

package main_test

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver registers itself

	"orange/internal/run/proc"
)

// mortalWord makes the test binary an agent that dies on demand.
const mortalWord = "die-on-demand"

// mortal notes its process, waits for a byte on the pipe, leaves evidence that is new, and ends.
func mortal(dir string) int {
	if err := os.WriteFile(filepath.Join(dir, "agent"), strconv.AppendInt(nil, int64(os.Getpid()), 10),
		0o644); err != nil {
		return 1
	}
	pipe, err := os.Open(filepath.Join(dir, "trigger"))
	if err != nil {
		return 1
	}
	if _, err := pipe.Read(make([]byte, 1)); err != nil {
		return 1
	}
	file, err := os.OpenFile("TASK.md", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return 1
	}
	if _, err := fmt.Fprintf(file, "\n## Handoff\n\nDONE: what was asked for at %d\n",
		time.Now().UnixNano()); err != nil {
		return 1
	}
	return 0
}

// pingPong moves the task with every death, and starts the next agent.
const pingPong = `
name: pingpong
version: 1
allow: {bounded: to go round is what is measured here}
states:
  pending: {}
  ping: {role: worker}
  pong: {role: worker}
  over: {terminal: true}
transitions:
  - {from: pending, to: ping, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: ping, to: pong, gate: {section: Handoff}, hooks: [{action: spawn_agent, prompt: go}]}
  - {from: pong, to: ping, gate: {section: Handoff}, hooks: [{action: spawn_agent, prompt: go}]}
  - {from: ping, to: over, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: pong, to: over, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  poll_interval: 30
  rules:
    - {status: ping, has_artifact: {section: Handoff}, then: pong}
    - {status: pong, has_artifact: {section: Handoff}, then: ping}
prompts:
  go: Go.
`

// From an agent's death to the committed next state of its task, a monitor running, compared with bare durable commits
// of the same run.
func BenchmarkDeathToNextState(b *testing.B) {
	w := newWorld(b)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(w.dir, "trigger"), 0o600); err != nil {
		b.Fatal(err)
	}
	w.write("orange/workflows/pingpong.yml", pingPong)
	w.write("orange/harnesses/mortal.yml", fmt.Sprintf("name: mortal\nworker: {command: [%q, %s, %q]}\n", self,
		mortalWord, w.dir))
	db := openBench(b, filepath.Join(w.dir, "orange", "orange.db"))
	bare := openBench(b, filepath.Join(w.dir, "bare.db"))
	if _, err := bare.ExecContext(b.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)"); err != nil {
		b.Fatal(err)
	}
	defer w.monitor(b)()
	w.create("feat/a", "--workflow", "pingpong", "--harness", "mortal")
	statuses, err := db.PrepareContext(b.Context(), "SELECT status FROM tasks")
	if err != nil {
		b.Fatal(err)
	}
	defer statuses.Close()
	var deaths, commits []time.Duration
	for b.Loop() {
		commits = append(commits, commitBare(b, bare))
		deaths = append(deaths, w.killOne(b, db, statuses))
	}
	b.StopTimer()
	w.settled(b, db) // before the monitor ends: no other process would start pending hooks
	report(b, "death", deaths)
	report(b, "commit", commits)
	over := func(p float64) float64 { return ms(quantile(deaths, p) - quantile(commits, p)) }
	b.ReportMetric(over(0.5), "over-p50-ms")
	b.ReportMetric(over(0.99), "over-p99-ms")
	b.ReportMetric(0, "ns/op")
}

func openBench(b testing.TB, path string) *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite",
		"file:"+path+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = db.Close() })
	return db
}

func commitBare(b *testing.B, db *sql.DB) time.Duration {
	b.Helper()
	begin := time.Now()
	if _, err := db.ExecContext(b.Context(), "INSERT INTO t (b) VALUES ('a row')"); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

// monitor runs a monitor, and answers how to end it.
func (w *world) monitor(b *testing.B) func() {
	b.Helper()
	cmd := exec.Command(filepath.Join(built.dir, "orange"), "monitor")
	cmd.Env, cmd.Dir, cmd.Stderr = w.env, w.dir, os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
}

// killOne lets the present agent die, and measures until another connection sees the next state.
func (w *world) killOne(b *testing.B, db *sql.DB, statuses *sql.Stmt) time.Duration {
	b.Helper()
	w.settled(b, db)
	before := status(b, statuses)
	pipe, err := os.OpenFile(filepath.Join(w.dir, "trigger"), os.O_WRONLY, 0) // until the agent reads
	if err != nil {
		b.Fatal(err)
	}
	died := w.dies(b)
	if _, err := pipe.Write([]byte{1}); err != nil {
		b.Fatal(err)
	}
	_ = pipe.Close()
	tick := time.NewTicker(200 * time.Microsecond) // a busy loop would take one of two processors from the monitor
	defer tick.Stop()
	for status(b, statuses) == before {
		<-tick.C
	}
	return time.Since(<-died)
}

// dies tells when the kernel says that the present agent's process has ended.
func (w *world) dies(b *testing.B) <-chan time.Time {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "agent"))
	if err != nil {
		b.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		b.Fatal(err)
	}
	agent, err := proc.Lookup(pid)
	if err != nil {
		b.Fatal(err)
	}
	at := make(chan time.Time, 1)
	go func() {
		_ = proc.Watch(b.Context(), agent)
		at <- time.Now()
	}()
	return at
}

func status(b *testing.B, statuses *sql.Stmt) (status string) {
	b.Helper()
	if err := statuses.QueryRowContext(b.Context()).Scan(&status); err != nil {
		b.Fatal(err)
	}
	return status
}

// settled waits until nothing is owed and the agent of the last hook is on record.
func (w *world) settled(b *testing.B, db *sql.DB) {
	b.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for {
		var owed int
		err := db.QueryRowContext(b.Context(), "SELECT (SELECT count(*) FROM hooks WHERE state IN ('pending', "+
			"'failed')) + (SELECT count(*) = 0 FROM seats WHERE ended = 0)").Scan(&owed)
		if err != nil {
			b.Fatal(err)
		}
		if owed == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-late:
			b.Fatal("hooks stay owed")
		}
	}
	rest := time.NewTimer(150 * time.Millisecond) // what the runner of the hooks still does is not the death's cost
	<-rest.C
}

func report(b *testing.B, what string, all []time.Duration) {
	b.Helper()
	b.ReportMetric(ms(quantile(all, 0.5)), what+"-p50-ms")
	b.ReportMetric(ms(quantile(all, 0.99)), what+"-p99-ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func quantile(all []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

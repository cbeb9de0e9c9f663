package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/store/sqlite"
)

// From a commit's end to the line that a running "orange task watch" prints of it, compared with the commit itself.
func BenchmarkCommitToLine(b *testing.B) {
	w := newWorld(b)
	w.create("feat/a", "--no-spawn")
	store, err := sqlite.Open(b.Context(), filepath.Join(w.dir, "orange", "orange.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	tasks, err := store.List(b.Context(), record.Filter{})
	if err != nil {
		b.Fatal(err)
	}
	one := tasks[0]
	lines, stop := w.watch(b)
	defer stop()
	<-lines // the watch has begun
	var told, commits []time.Duration
	for b.Loop() {
		begin := time.Now()
		if one, err = store.Commit(b.Context(), record.Change{Task: one, Expect: one.Version, Events: []history.Event{
			{Time: begin, Type: history.Updated}}}); err != nil {
			b.Fatal(err)
		}
		end := time.Now()
		at := <-lines
		// it may be read before it is known to be done
		commits, told = append(commits, end.Sub(begin)), append(told, max(0, at.Sub(end)))
		// the watch is asleep for some time, or not at all
		rest := time.NewTimer(time.Duration(len(told)%20) * 5 * time.Millisecond)
		<-rest.C
	}
	b.StopTimer()
	report(b, "line", told)
	report(b, "commit", commits)
	b.ReportMetric(0, "ns/op")
}

// watch runs a watch of everything, and answers when its lines come and how to end it.
func (w *world) watch(b *testing.B) (<-chan time.Time, func()) {
	b.Helper()
	cmd := exec.Command(filepath.Join(built.dir, "orange"), "task", "watch", "--all", "--since", "start")
	cmd.Env, cmd.Dir, cmd.Stderr = w.env, w.dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	lines := make(chan time.Time, 1)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			if strings.HasPrefix(s.Text(), "{") {
				lines <- time.Now()
			}
		}
	}()
	return lines, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
}

package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/sqlite"
	"orange/internal/task"
)

// Every version that was ever in use has a database of its own in testdata, made by the program of its time.
func TestOpen_bringsADatabaseOfEveryEarlierVersionUpToDate(t *testing.T) {
	t.Parallel()
	newest := version(t, filepath.Join(openHome(t), "orange.db"))
	for have := 1; have < newest; have++ {
		text, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("version%d.sql", have)))
		if err != nil {
			t.Fatalf("version %d was in use, and nothing shows that its databases are still understood: %v", have, err)
		}
		path := filepath.Join(t.TempDir(), "orange.db")
		if _, err := raw(t, path).ExecContext(t.Context(), string(text)); err != nil {
			t.Fatal(err)
		}
		if got := version(t, path); got != have {
			t.Fatalf("version%d.sql has version %d", have, got)
		}
		understood(t, path)
		if got := version(t, path); got != newest {
			t.Errorf("version %d became %d, want %d", have, got, newest)
		}
		understood(t, path) // a second opening changes nothing
	}
}

func openHome(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "orange.db"))
	must(t, err)
	must(t, s.Close())
	return dir
}

func version(t *testing.T, path string) (n int) {
	t.Helper()
	must(t, raw(t, path).QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&n))
	return n
}

// understood reads everything that is in an old database, and changes a task of it.
func understood(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	tasks, err := s.List(t.Context(), task.Filter{})
	must(t, err)
	if len(tasks) != 3 {
		t.Fatalf("%d tasks are listed, want 3", len(tasks))
	}
	for _, one := range tasks {
		snapshot, err := s.Load(t.Context(), one.ID)
		must(t, err)
		events, err := s.Events(t.Context(), one.ID, 0)
		must(t, err)
		must(t, task.VerifyChain(events))
		if len(events) != one.Seq || !one.StalledAt.IsZero() || one.Overdue != 0 {
			t.Errorf("the task %+v has %d events", one, len(events))
		}
		hooks := 0
		for _, e := range events {
			all, err := s.Hooks(t.Context(), one.ID, e.Seq)
			must(t, err)
			hooks += len(all)
		}
		seats, err := s.OpenSeats(t.Context(), one.ID)
		must(t, err)
		if review := one.Status == "agent-review"; review != (len(snapshot.Spent) > 0) || review != (len(seats) == 2) || (hooks == 0) != (one.Status == "pending") {
			t.Errorf("in %s: %d hooks, spent %v, seats %+v", one.Status, hooks, snapshot.Spent, seats)
		}
		one.Summary += "!"
		one.Overdue = task.LateAlert
		_, err = s.Commit(t.Context(), task.Change{Task: one, Expect: one.Version})
		must(t, err)
		snapshot, err = s.Load(t.Context(), one.ID)
		must(t, err)
		if snapshot.Task.Overdue != task.LateAlert {
			t.Errorf("it is told as late by %d, want %d", snapshot.Task.Overdue, task.LateAlert)
		}
		one = snapshot.Task
		one.Overdue = 0 // for the second opening
		_, err = s.Commit(t.Context(), task.Change{Task: one, Expect: one.Version})
		must(t, err)
	}
}

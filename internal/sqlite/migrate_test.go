package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orange/internal/history"
	"orange/internal/record"
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
	tasks, err := s.List(t.Context(), record.Filter{})
	must(t, err)
	if len(tasks) != 3 {
		t.Fatalf("%d tasks are listed, want 3", len(tasks))
	}
	for _, one := range tasks {
		snapshot, err := s.Load(t.Context(), one.ID)
		must(t, err)
		events, err := s.Events(t.Context(), one.ID, 0)
		must(t, err)
		must(t, history.VerifyChain(events))
		if len(events) != one.Seq || !one.StalledAt.IsZero() || one.Overdue != 0 {
			t.Errorf("the task %+v has %d events", one, len(events))
		}
		followed, _, err := s.EventsSince(t.Context(), 0, 1000)
		must(t, err)
		if own := slices.DeleteFunc(followed, func(h history.Happening) bool {
			return h.Task != one.ID
		}); !slices.EqualFunc(own, events, func(h history.Happening, e history.Event) bool {
			return h.Event.Hash == e.Hash
		}) {
			t.Errorf("who follows the record hears of %+v, want %+v", own, events)
		}
		wantBytes(t, s, one.ID)
		hooks := 0
		for _, e := range events {
			all, err := s.Hooks(t.Context(), one.ID, e.Seq)
			must(t, err)
			hooks += len(all)
		}
		seats, err := s.OpenSeats(t.Context(), one.ID)
		must(t, err)
		if review := one.Status == "agent-review"; review != (len(snapshot.Spent) > 0) ||
			review != (len(seats) == 2) || (hooks == 0) != (one.Status == "pending") {
			t.Errorf("in %s: %d hooks, spent %v, seats %+v", one.Status, hooks, snapshot.Spent, seats)
		}
		one.Summary += "!"
		one.Overdue = task.LateAlert
		_, err = s.Commit(t.Context(), record.Change{Task: one, Expect: one.Version})
		must(t, err)
		snapshot, err = s.Load(t.Context(), one.ID)
		must(t, err)
		if snapshot.Task.Overdue != task.LateAlert {
			t.Errorf("it is told as late by %d, want %d", snapshot.Task.Overdue, task.LateAlert)
		}
		one = snapshot.Task
		one.Overdue = 0 // for the second opening
		_, err = s.Commit(t.Context(), record.Change{Task: one, Expect: one.Version})
		must(t, err)
	}
}

// wantBytes compares the number of bytes of a task's history with its lines.
func wantBytes(t *testing.T, s *sqlite.Store, id string) {
	t.Helper()
	lines, bytes, err := s.Tail(t.Context(), id, 0)
	must(t, err)
	if want := len(strings.Join(lines, "\n") + "\n"); bytes != int64(want) {
		t.Errorf("the history of %s is said to have %d bytes, want %d", id, bytes, want)
	}
}

// What happened before the record numbered it comes in the order of its times, and within a task in its own:
// whatever its clock said, and whatever someone has made of the lines.
func TestOpen_numbersWhatHappenedBefore(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "version3.sql"))
	must(t, err)
	path := filepath.Join(t.TempDir(), "orange.db")
	db := raw(t, path)
	_, err = db.ExecContext(t.Context(),
		string(text)+`DELETE FROM events; DELETE FROM tasks WHERE id NOT LIKE 'jk%'; UPDATE tasks SET seq = 0;
		INSERT INTO events VALUES ('b', 1, '{"timestamp":"2026-01-02"}'), ('b', 2, '{"timestamp":"2026-01-01"}'), ('b', 3, '{"timestamp":"2026-01-05"}'),
			('a', 1, '{"timestamp":"2026-01-03"}'), ('a', 2, 'torn'), ('a', 3, '{}'), ('a', 4, '{"timestamp":"2026-01-04"}');`)
	must(t, err)
	must(t, openAt(t, path).Close())
	got := ""
	scanAll(t, db, "SELECT task, seq FROM changes ORDER BY number", func(v []any) {
		got += fmt.Sprint(v[0], v[1], " ")
	})
	if want := "b1 b2 a1 a2 a3 a4 b3 jkT8oRT9B57FwtKorQ07a0 "; got != want {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

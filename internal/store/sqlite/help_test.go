package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

// The test binary is also the other process of some tests: this variable holds the path of the database.
const partVariable = "SQLITE_TEST_DATABASE"

// This one has the test binary open the database while it may open almost no file.
const scarceVariable = "SQLITE_TEST_SCARCE"

// openWithFewFiles prints why a record cannot be opened by a process that may open two more files.
func openWithFewFiles(path string) {
	first, err := os.Open(os.DevNull)
	if err == nil {
		limit := syscall.Rlimit{Cur: uint64(first.Fd()) + 3}
		limit.Max = limit.Cur
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = sqlite.Open(context.Background(), path)
	fmt.Println(err)
}

func TestMain(m *testing.M) {
	// else the race detector has every other process wait for a second at its end
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	if path := os.Getenv(scarceVariable); path != "" {
		openWithFewFiles(path)
		return
	}
	path := os.Getenv(partVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	won, err := raceForVersions(context.Background(), path, "process")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(won)
}

// rounds is how many versions the racers fight for.
const rounds = 15

// raceForVersions tries to be the one who makes each version of the task, and counts how often it was.
func raceForVersions(ctx context.Context, path, who string) (won int, err error) {
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for version := int64(1); version <= rounds; version++ {
		have, err := s.Load(ctx, "one")
		if err != nil {
			return won, err
		}
		one := have.Task
		one.Summary = fmt.Sprintf("%s made version %d", who, version+1)
		_, err = s.Commit(ctx, record.Change{Task: one, Expect: version, Events: []history.Event{
			event(history.Updated)}})
		if err == nil {
			won++
			continue
		}
		if !errors.Is(err, task.ErrConflict) {
			return won, err
		}
	}
	return won, nil
}

var someDay = time.Date(2024, 5, 6, 7, 8, 9, 123e6, time.UTC)

func event(kind string) history.Event {
	return history.Event{Time: someDay, Type: kind, Actor: task.RoleHuman, Data: map[string]string{
		"b": "2", "a": "<&>"}}
}

func aTask(id string) task.Task {
	return task.Task{
		ID: id, Project: "garden", Branch: "branch-" + id, Summary: "mend the gate", Harness: "claude",
		ReviewHarness: "codex",
		Status:        "pending", Live: true, CreatedAt: someDay, UpdatedAt: someDay, EnteredAt: someDay,
		Workflow: task.WorkflowRef{Name: "default", Version: 1, Digest: "d1"},
	}
}

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "orange.db"))
}

func openAt(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create commits a new task with its first event.
func create(t *testing.T, s *sqlite.Store, one task.Task) task.Task {
	t.Helper()
	out, err := s.Commit(t.Context(), record.Change{Task: one, Events: []history.Event{event(history.Created)}})
	must(t, err)
	return out
}

// commit commits a change of a task that is expected to be as it was when one was read.
func commit(t *testing.T, s *sqlite.Store, c record.Change) task.Task {
	t.Helper()
	c.Expect = c.Task.Version
	out, err := s.Commit(t.Context(), c)
	must(t, err)
	return out
}

func load(t *testing.T, s *sqlite.Store, id string) record.Snapshot {
	t.Helper()
	snapshot, err := s.Load(t.Context(), id)
	must(t, err)
	return snapshot
}

func wantKind(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("the error is %v, want %v", err, kind)
	}
}

// raw opens the database by hand, for what the store never does.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	source := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(20000)"}
	db, err := sql.Open("sqlite", source.String())
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// dump is every row of every table, as text.
func dump(t *testing.T, path string) string {
	t.Helper()
	db := raw(t, path)
	var tables []string
	scanAll(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", func(values []any) {
		tables = append(tables, fmt.Sprint(values[0]))
	})
	var out strings.Builder
	for _, table := range tables {
		fmt.Fprintf(&out, "== %s\n", table)
		scanAll(t, db, "SELECT * FROM "+table, func(values []any) { fmt.Fprintf(&out, "%v\n", values) })
	}
	return out.String()
}

func scanAll(t *testing.T, db *sql.DB, query string, visit func([]any)) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		must(t, rows.Scan(into...))
		visit(values)
	}
	must(t, rows.Err())
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

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// counter is a driver that notes every statement that runs, and counts those that it parses.
type counter struct {
	driver.Connector
	mu     sync.Mutex
	asked  []string
	parsed int
}

type plain interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.ConnPrepareContext
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type counted struct {
	plain
	by *counter
}

type countedStatement struct {
	statement
	by   *counter
	text string
}

func (c *counter) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return counted{conn.(plain), c}, nil
}

func (c counted) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	prepared, err := c.plain.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.by.mu.Lock()
	c.by.parsed++
	c.by.mu.Unlock()
	return countedStatement{prepared.(statement), c.by, query}, nil
}

func (s countedStatement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.by.note(s.text)
	return s.statement.QueryContext(ctx, args)
}

func (s countedStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.by.note(s.text)
	return s.statement.ExecContext(ctx, args)
}

func (c *counter) note(query string) {
	if query == "BEGIN" || query == "COMMIT" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, query)
}

func (c *counter) since() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

type connector struct {
	by     driver.Driver
	source string
}

func (c connector) Driver() driver.Driver { return c.by }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.by.Open(c.source) }

func TestFollowingTheRecord_takesFewQueriesAndNoFullScan(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n := range 100 {
		one := task.Task{ID: fmt.Sprint("task", n), Project: "garden", Branch: fmt.Sprint(n),
			CreatedAt: time.Unix(0, 0), UpdatedAt: time.Unix(0, 0), EnteredAt: time.Unix(0, 0)}
		if _, err := s.Commit(t.Context(), record.Change{
			Task: one, Events: []history.Event{{Type: history.Created}}}); err != nil {
			t.Fatal(err)
		}
	}
	count := &counter{Connector: connector{s.db.Driver(), path}}
	f := &Store{connection: newConnection(sql.OpenDB(count)), path: path}
	defer f.Close()
	for _, c := range []struct {
		name string
		most int
		ask  func() (found int, err error)
		want int
	}{
		{"Changed", 1, func() (int, error) { n, err := f.Changed(t.Context()); return int(n), err }, 100},
		{"EventsSince", 1, func() (int, error) {
			all, _, err := f.EventsSince(t.Context(), 10, 50)
			return len(all), err
		}, 50},
		{"EventsSince, and there is nothing", 1, func() (int, error) {
			all, _, err := f.EventsSince(t.Context(), 100, 50)
			return len(all), err
		}, 0},
		{"TasksSince", 3, func() (int, error) {
			all, _, _, err := f.TasksSince(t.Context(), 90)
			return len(all), err
		}, 10},
		{"List of those that ended lately", 1, func() (int, error) {
			all, err := f.List(t.Context(), record.Filter{EndedSince: time.Unix(0, 0)})
			return len(all), err
		}, 100},
		{"TasksSince, and there is nothing", 1, func() (int, error) {
			all, _, _, err := f.TasksSince(t.Context(), 100)
			return len(all), err
		}, 0},
	} {
		count.since()
		found, err := c.ask()
		if err != nil || found != c.want {
			t.Errorf("%s finds %d, want %d; error %v", c.name, found, c.want, err)
		}
		asked := count.since()
		if len(asked) == 0 || len(asked) > c.most {
			t.Errorf("%s asks %d questions, want at most %d: %q", c.name, len(asked), c.most, asked)
		}
		for _, query := range asked {
			if plan := planOf(t, s, query); strings.Contains(plan, "SCAN") {
				t.Errorf("%s asks %q, which looks at everything:\n%s", c.name, query, plan)
			}
		}
	}
}

// planOf is how the database finds the answer to a question.
func planOf(t *testing.T, s *Store, query string) string {
	t.Helper()
	args := make([]any, strings.Count(query, "?"))
	for i := range args {
		args[i] = 1
	}
	var out strings.Builder
	err := s.rows(t.Context(), "EXPLAIN QUERY PLAN "+query, args, func(scan func(...any) error) error {
		var id, parent, unused int
		var detail string
		err := scan(&id, &parent, &unused, &detail)
		out.WriteString(detail + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Only a hurried commit does not wait for the disk, whatever was committed before it.
func TestOnlyHurriedCommitsDoNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "orange.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, hurried := range []bool{false, true, true, false, true, false} {
		var level int
		err := s.inTransaction(t.Context(), hurried, func(tx *batch) error {
			return tx.one(t.Context(), "PRAGMA synchronous", nil, &level)
		})
		if want := map[bool]int{false: 2, true: 1}[hurried]; err != nil || level != want {
			t.Errorf("commit %d, hurried %v, has the level %d, want %d (%v)", i, hurried, level, want, err)
		}
	}
}

// What a move asks of the record, in its order: each statement is parsed once, and each look is one transaction.
func TestAMoveParsesNoMoreStatementsThanItDoesToday(t *testing.T) {
	t.Parallel()
	const most = 22 // lower it when a move asks less; a feature that asks more raises it
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one, err := s.Commit(t.Context(), record.Change{Task: task.Task{ID: "one", Project: "garden", Branch: "b"},
		Events: []history.Event{{Type: history.Created}}})
	if err != nil {
		t.Fatal(err)
	}
	count := &counter{Connector: connector{s.db.Driver(), path}}
	f := &Store{connection: newConnection(sql.OpenDB(count)), path: path}
	defer f.Close()
	move := func() {
		steps := []func() error{
			func() error { _, err := f.PendingTasks(t.Context(), time.Unix(0, 0)); return err },
			func() error { _, err := f.List(t.Context(), record.Filter{Prefix: "o"}); return err },
			func() error { _, err := f.Load(t.Context(), "one"); return err },
			func() error {
				one.Status += "!"
				one, err = f.Commit(t.Context(), record.Change{Task: one, Expect: one.Version, Entered: true,
					Events: []history.Event{{Type: history.StatusChanged}}})
				return err
			},
			func() error { _, err := f.Load(t.Context(), "one"); return err },
			func() error { _, _, err := f.Tail(t.Context(), "one", 1); return err },
			func() error { _, err := f.Events(t.Context(), "one", 1); return err },
			func() error { _, err := f.Hooks(t.Context(), "one", 2); return err },
		}
		for _, step := range steps {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	move()
	if count.parsed > most {
		t.Errorf("a move parses %d statements, at most %d", count.parsed, most)
	}
	before := count.parsed
	move()
	if count.parsed != before {
		t.Errorf("a second move parses %d statements again", count.parsed-before)
	}
}

func TestOpen_keepsLittleOfTheDatabaseInMemory(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "orange.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var size int
	if err := s.one(t.Context(), "PRAGMA cache_size", nil, &size); err != nil || size != -mostCache {
		t.Errorf("the cache has %d KB, want %d; %v", -size, mostCache, err)
	}
}

// The connection is that of many calls, and a server goes on after a panic in one of them.
func TestTransact_leavesNothingOpenAfterAPanic(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "orange.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	waiter := func(task string) func(*batch) error {
		return func(b *batch) error {
			_, err := b.ExecContext(t.Context(), "INSERT INTO waiters VALUES (?, 'worker', 7, 'then')", task)
			return err
		}
	}
	func() {
		defer func() {
			if why := recover(); why != "broken" {
				t.Errorf("found the panic %v", why)
			}
		}()
		_ = s.transact(t.Context(), func(b *batch) error {
			if err := waiter("one")(b); err != nil {
				t.Error(err)
			}
			panic("broken")
		})
	}()
	if err := s.transact(t.Context(), waiter("two")); err != nil {
		t.Error(err)
	}
	var waits int
	if err := s.one(t.Context(), "SELECT count(*) FROM waiters", nil, &waits); err != nil || waits != 1 {
		t.Errorf("found %d, %v", waits, err)
	}
}

// Package sqlite is the record: what is true of every task, in one database with durable commits.
//
// It owns tables and transactions. A change is committed as a whole or not at all,
// and only on the version that it was decided on. It does not own any rule about what may change: decide does.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver registers itself under the name "sqlite"
	codes "modernc.org/sqlite/lib"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Store is the record. It may be used by many goroutines, and by many processes at once.
type Store struct {
	*connection
	path    string
	writers *queue // nil for a record that no other process sees
}

// lockPatience is how long a command waits for another one's transaction before it gives up.
const lockPatience = 20 * time.Second

// mostCache is how much of the database a process keeps in its memory, in KB. A command reads little, and a list of ten
// thousand tasks reads each page once: more would only make programs larger that run all day. The system keeps the
// file.
const mostCache = 512

// Open opens the database at path, and makes it where it is missing. A database with another schema than this program's
// is an error that IsOther knows; nothing of it is changed.
//
// A process that has the record open opens it again with Again, and never with Open.
func Open(ctx context.Context, path string) (*Store, error) {
	// SQLite would make the file for everyone's eyes; what it makes next to it has the mode of this one. It would also
	// open a file that cannot be written, for as long as the log of commits is there.
	file, err := proc.OpenFile(path, os.O_RDWR|os.O_CREATE, task.PrivateFile)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil, fmt.Errorf("cannot open the record %q: %w: %s", path, errors.Unwrap(err),
			(&Store{path: path}).advice(codes.SQLITE_CANTOPEN))
	}
	if err == nil {
		_, unfinished := os.Lstat(path + "-journal") // of a first commit that was cut: SQLite takes it back
		foreign := isForeign(file) && unfinished != nil
		other := otherSchema(cmp.Or(schemaNumberIn(file), number()))
		_ = file.Close()                       // nothing was written
		if other != nil && unfinished != nil { // SQLite would move the log of commits into it
			return nil, fmt.Errorf("cannot open the record %q: %w", path, other)
		}
		if foreign {
			return nil, fmt.Errorf("cannot open the record %q: %w: %s", path, errForeign,
				(&Store{path: path}).advice(codes.SQLITE_NOTADB))
		}
	} // what else is wrong with it SQLite tells
	for _, next := range []string{"-journal", "-wal", "-shm"} { // which SQLite opens, and would wait for a pipe
		if info, err := os.Lstat(path + next); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("cannot open the record %q: %q: %w", path, path+next, proc.ErrNoFile)
		}
	}
	return open(ctx, path)
}

// Again opens the record once more in this process. Open looks into the file and closes it, and with any such close the
// system takes back all locks that the process has on the file: another program would take the log of commits for one
// that no one uses, and delete it.
func (s *Store) Again(ctx context.Context) (*Store, error) { return open(ctx, s.path) }

func open(ctx context.Context, path string) (*Store, error) {
	query := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", lockPatience.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
		fmt.Sprintf("cache_size(-%d)", mostCache),
	}}
	source := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("cannot open the record %q: %w", path, err)
	}
	s := &Store{connection: newConnection(db), path: path, writers: newQueue(path)}
	if err := s.make(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the record %q: %w", path, err), s.Close())
	}
	return s, nil
}

var errForeign = errors.New("file is not a database (26)") // as SQLite says it

// isForeign reports whether a file that is not empty is no database of SQLite's. With a log of commits next to it
// SQLite would believe the log, and cut the file to what the log says.
func isForeign(file *os.File) bool {
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	n, _ := file.ReadAt(head, 0) // a file that cannot be read SQLite tells about
	return n > 0 && string(head[:n]) != magic
}

// schemaNumberIn is the number of the schema that the file of a database has: 0 where the number is still in the log of
// commits, and of a file that is no database.
func schemaNumberIn(file *os.File) int {
	const at, size = 60, 4
	number := make([]byte, size)
	if _, err := file.ReadAt(number, at); err != nil || isForeign(file) {
		return 0
	}
	return int(binary.BigEndian.Uint32(number))
}

// Close ends the use of the record, and moves what the log of commits holds into orange.db where no other process has
// it open. It may be called twice.
func (s *Store) Close() error { return errors.Join(s.disconnect(), s.writers.close()) }

// longLog is how many bytes the log of commits, orange.db-wal, may have when a process leaves the record. The first
// process that opens the record reads the whole log: a short one keeps every command quick.
const longLog = 64 * 4096

// Leave is Close for a process that ends now: the system closes what is open. What it has committed is on the disk, in
// the log of commits, and the next process reads it there. So most commits wait for the disk once, and not five times.
// Only a long log is moved into orange.db first, where no other process needs it at this moment.
func (s *Store) Leave(ctx context.Context) {
	if info, err := os.Stat(s.path + "-wal"); err != nil || info.Size() < longLog {
		return
	}
	// Where this fails nothing is lost, and the next process that leaves tries again.
	_ = s.use(ctx, func(b *batch) error {
		if err := b.script(ctx, "PRAGMA busy_timeout(0)"); err != nil {
			return err
		}
		return b.script(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	})
}

// make makes the tables of an empty database. A database with another schema is an error, and stays as it is.
func (s *Store) make(ctx context.Context) error {
	have, err := s.version(ctx)
	if err != nil {
		return s.explain(fmt.Errorf("read the number of its schema: %w", err))
	}
	if have != 0 {
		return otherSchema(have)
	}
	return s.transact(ctx, func(tx *batch) error {
		// Another process may have been first: only the transaction knows.
		if err := tx.one(ctx, "PRAGMA user_version", nil, &have); err != nil {
			return fmt.Errorf("read the number of its schema: %w", err)
		}
		if have != 0 {
			return otherSchema(have)
		}
		if err := tx.script(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d", number())); err != nil {
			return fmt.Errorf("make its tables: %w", err)
		}
		return nil
	})
}

// inOneState runs the work on one state of the record, and blocks no writer.
func (s *Store) inOneState(ctx context.Context, work func(*batch) error) error {
	return s.use(ctx, func(b *batch) error { return s.transaction(ctx, b, "BEGIN", work) })
}

// openPoll is how often a database is tried again that another process is making.
const openPoll = 10 * time.Millisecond

// version reads the number of the database's schema, 0 of an empty one. While another process makes the database,
// SQLite says at once that it is locked instead of waiting: then it is asked again.
func (s *Store) version(ctx context.Context) (have int, err error) {
	deadline := time.Now().Add(lockPatience)
	for {
		err = s.one(ctx, "PRAGMA user_version", nil, &have)
		if codeOf(err) != codes.SQLITE_BUSY || time.Now().After(deadline) {
			return have, err
		}
		if proc.Pause(ctx, openPoll); ctx.Err() != nil {
			return have, ctx.Err()
		}
	}
}

// transact runs the work in one transaction and commits it if the work has no error. Processes that write take turns.
func (s *Store) transact(ctx context.Context, work func(*batch) error) error {
	return s.inTransaction(ctx, false, work)
}

// inTransaction is within, hurried or not. A hurried commit does not wait for the disk: see record.Change.
func (s *Store) inTransaction(ctx context.Context, hurried bool, work func(*batch) error) error {
	return s.use(ctx, func(b *batch) error {
		if err := b.hurry(ctx, hurried); err != nil {
			return s.explain(fmt.Errorf("begin: %w", err))
		}
		defer s.writers.wait(ctx)()
		return s.transaction(ctx, b, "BEGIN IMMEDIATE", work)
	})
}

func (s *Store) transaction(ctx context.Context, b *batch, begin string, work func(*batch) error) error {
	begun := false
	committing, err := b.transact(ctx, begin, func(b *batch) error {
		begun = true
		return work(b)
	})
	switch {
	case err == nil:
		return nil
	case !begun:
		return s.explain(fmt.Errorf("begin: %w", err))
	case committing:
		return s.explain(fmt.Errorf("commit: %w", err))
	}
	return s.explain(err)
}

// one reads one row. An answer without a row is sql.ErrNoRows.
func (s *Store) one(ctx context.Context, query string, args []any, into ...any) error {
	return s.use(ctx, func(b *batch) error { return b.one(ctx, query, args, into...) })
}

// rows runs a query and calls visit for each row.
func (s *Store) rows(ctx context.Context, query string, args []any, visit func(scan func(...any) error) error) error {
	return s.use(ctx, func(b *batch) error { return s.explain(b.each(ctx, query, args, visit)) })
}

// write runs one statement that changes the record, and waits for the disk unless it is hurried.
func (s *Store) write(ctx context.Context, hurried bool, query string, args ...any) (changed int64, err error) {
	err = s.inTransaction(ctx, hurried, func(tx *batch) error {
		done, err := tx.ExecContext(ctx, query, args...)
		if err == nil {
			changed, err = done.RowsAffected()
		}
		return err
	})
	return changed, err
}

// DataVersion is a number that changes when another process has committed. It is read again and again by those
// who wait.
func (s *Store) DataVersion(ctx context.Context) (int64, error) {
	var v int64
	if err := s.one(ctx, "PRAGMA data_version", nil, &v); err != nil {
		return 0, fmt.Errorf("look for changes of the record: %w", err)
	}
	return v, nil
}

// Writes is a number that changes when any process has written to the record, this one as well.
func (s *Store) Writes(ctx context.Context) (int64, error) {
	var number int64
	// Each of the two only ever grows: what others committed, and how many rows this connection has changed.
	query := "SELECT data_version + total_changes() FROM pragma_data_version"
	if err := s.one(ctx, query, nil, &number); err != nil {
		return 0, fmt.Errorf("look for changes of the record: %w", s.explain(err))
	}
	return number, nil
}

// SaveWorkflow keeps the text of a workflow under its digest, so that tasks stay under the rules they were made under.
func (s *Store) SaveWorkflow(ctx context.Context, ref task.WorkflowRef, text []byte) error {
	_, err := s.write(ctx, false, "INSERT OR IGNORE INTO workflows (digest, name, version, text) VALUES (?, ?, ?, ?)",
		ref.Digest, ref.Name, ref.Version, text)
	if err != nil {
		return fmt.Errorf("keep workflow %q: %w", ref.Name, err)
	}
	return nil
}

// Workflow is the text that was kept under a digest.
func (s *Store) Workflow(ctx context.Context, digest string) ([]byte, error) {
	var text []byte
	err := s.one(ctx, "SELECT text FROM workflows WHERE digest = ?", []any{digest}, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, task.Notef(task.ErrNotFound, "cannot find the workflow with the digest %q in the record", digest)
	}
	if err != nil {
		return nil, fmt.Errorf("load workflow %q: %w", digest, err)
	}
	return text, nil
}

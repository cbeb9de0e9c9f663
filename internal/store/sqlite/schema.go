package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// number is the schema's digest as far as PRAGMA user_version has room for it: 31 bits, none of them set in an empty
// database.
func number() int {
	sum := sha256.Sum256([]byte(schema))
	return int(binary.BigEndian.Uint32(sum[:]) & 0x7fff_ffff)
}

var errOther = errors.New("another Orange made it")

// IsOther reports whether an error comes from a record with another schema than this program's.
func IsOther(err error) bool { return errors.Is(err, errOther) }

// otherSchema is the error about a record with the schema of a number; nil where that is this program's.
func otherSchema(have int) error {
	if have == number() {
		return nil
	}
	return fmt.Errorf("%w: the number of its schema is %d, this program's is %d, and nothing was changed; finish "+
		"its tasks with that program, or run %q, which keeps it and makes a new record from the tasks' folders",
		errOther, have, number(), "orange doctor --rebuild")
}

// schema makes the tables of an empty record. There is one: a record with another one is another program's.
//
// The table changes numbers what happens to all tasks in the order of the commits: an event has its number of the
// task's history in seq, a change of a task without an event has 0, and the end of a task -1, with the project and the
// branch, which are recorded nowhere else. The database keeps that table by itself, so that no writer can forget it.
// The greatest number is never deleted, because the end of a task is written before its events go: so no number is
// given twice.
//
// history_bytes is how many bytes a task's history has as a file, one line feed a line, so that history.jsonl need not
// be read to be known as whole. starts has the verdicts that were there when the agent of a task's present status was
// started last. refusals has how often its agents were refused in that status, outside the history.
// calls has for an hour which call asked for an event, so that a call which broke off is answered when it is repeated.
const schema = `
CREATE TABLE workflows (
	digest  TEXT PRIMARY KEY,
	name    TEXT NOT NULL,
	version INTEGER NOT NULL,
	text    BLOB NOT NULL
);
CREATE TABLE tasks (
	id TEXT PRIMARY KEY, project TEXT NOT NULL, branch TEXT NOT NULL, summary TEXT NOT NULL,
	harness TEXT NOT NULL, review_harness TEXT NOT NULL, effort TEXT NOT NULL, review_effort TEXT NOT NULL,
	model TEXT NOT NULL, review_model TEXT NOT NULL,
	status TEXT NOT NULL, previous TEXT NOT NULL, counters TEXT NOT NULL,
	workspace TEXT NOT NULL, session TEXT NOT NULL, pushed TEXT NOT NULL, attention TEXT NOT NULL,
	queued_for TEXT NOT NULL, waits_for TEXT NOT NULL,
	workflow TEXT NOT NULL, workflow_version INTEGER NOT NULL, workflow_digest TEXT NOT NULL,
	live INTEGER NOT NULL, pr_url TEXT NOT NULL, pr_state TEXT NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL, entered_at TEXT NOT NULL, stalled_at TEXT NOT NULL,
	overdue INTEGER NOT NULL, subject TEXT NOT NULL,
	version INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, history_bytes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX one_live_task_a_branch ON tasks (project, branch) WHERE live = 1;
CREATE INDEX tasks_by_project ON tasks (project, created_at);
CREATE INDEX queued_tasks ON tasks (project, updated_at) WHERE queued_for != '';
CREATE INDEX waiting_tasks ON tasks (project) WHERE waits_for != '';
CREATE INDEX tasks_by_workspace ON tasks (workspace) WHERE workspace != '';
CREATE TABLE events (
	task TEXT NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL,
	PRIMARY KEY (task, seq)
) WITHOUT ROWID;
CREATE TABLE hooks (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	task TEXT NOT NULL, event INTEGER NOT NULL, place INTEGER NOT NULL, hook TEXT NOT NULL,
	state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
	next_try TEXT NOT NULL DEFAULT '', started_at TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '',
	UNIQUE (task, event, place)
);
CREATE INDEX owed_hooks ON hooks (task, id) WHERE state IN ('pending', 'failed');
CREATE TABLE spent (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, seq INTEGER NOT NULL,
	PRIMARY KEY (task, source, digest)
) WITHOUT ROWID;
CREATE TABLE entries (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,
	PRIMARY KEY (task, source)
) WITHOUT ROWID;
CREATE TABLE starts (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,
	PRIMARY KEY (task, source)
) WITHOUT ROWID;
CREATE TABLE leases (
	workspace TEXT PRIMARY KEY, project TEXT NOT NULL, task TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
CREATE TABLE seats (
	hash TEXT PRIMARY KEY, task TEXT NOT NULL, role TEXT NOT NULL, hook INTEGER NOT NULL,
	pid INTEGER NOT NULL, began TEXT NOT NULL, start TEXT NOT NULL DEFAULT '{}', ended INTEGER NOT NULL
);
CREATE INDEX open_seats ON seats (task) WHERE ended = 0;
CREATE INDEX living_seats ON seats (pid) WHERE ended = 0;
CREATE INDEX seats_by_task ON seats (task);
CREATE TABLE waiters (
	task TEXT NOT NULL, role TEXT NOT NULL, pid INTEGER NOT NULL, began TEXT NOT NULL,
	PRIMARY KEY (task, role, pid)
) WITHOUT ROWID;
CREATE TABLE notices (
	task TEXT NOT NULL, role TEXT NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL,
	PRIMARY KEY (task, role)
) WITHOUT ROWID;
CREATE TABLE renderings (
	task TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL,
	PRIMARY KEY (task, field, value)
) WITHOUT ROWID;
CREATE TABLE refusals (
	task TEXT PRIMARY KEY, line TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE calls (
	call TEXT NOT NULL, task TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL,
	PRIMARY KEY (call, task, seq)
) WITHOUT ROWID;
CREATE INDEX calls_by_time ON calls (at);
CREATE TABLE changes (
	number INTEGER PRIMARY KEY,
	task TEXT NOT NULL, seq INTEGER NOT NULL, project TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT ''
);
CREATE TRIGGER event_happens AFTER INSERT ON events BEGIN
	INSERT INTO changes (task, seq) VALUES (NEW.task, NEW.seq);
END;
CREATE TRIGGER task_appears AFTER INSERT ON tasks WHEN NEW.seq = 0 BEGIN
	INSERT INTO changes (task, seq) VALUES (NEW.id, 0);
END;
CREATE TRIGGER task_changes AFTER UPDATE ON tasks WHEN NEW.seq = OLD.seq BEGIN
	INSERT INTO changes (task, seq) VALUES (NEW.id, 0);
END;
CREATE TRIGGER task_ends AFTER DELETE ON tasks BEGIN
	INSERT INTO changes (task, seq, project, branch) VALUES (OLD.id, -1, OLD.project, OLD.branch);
	DELETE FROM changes WHERE task = OLD.id AND seq >= 0;
END;
`

package sqlite

// migrations bring a database from one version to the next. A step that has shipped is never changed.
func migrations() []string {
	return []string{version1, version2, version3, version4, version5, version6, version7, version8}
}

// version8 knows which tasks a task waits for, before it starts by itself.
const version8 = `
ALTER TABLE tasks ADD COLUMN waits_for TEXT NOT NULL DEFAULT '';
CREATE INDEX waiting_tasks ON tasks (project) WHERE waits_for != '';
`

// version7 knows which models a task's agents shall use.
const version7 = `
ALTER TABLE tasks ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN review_model TEXT NOT NULL DEFAULT '';
`

// version6 knows how many bytes a task's history has as a file, one line feed a line, so that history.jsonl need not be
// read to be known as whole.
const version6 = `
ALTER TABLE tasks ADD COLUMN history_bytes INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER task_changes;
UPDATE tasks SET history_bytes = (SELECT coalesce(sum(octet_length(line) + 1), 0) FROM events WHERE task = tasks.id);
CREATE TRIGGER task_changes AFTER UPDATE ON tasks WHEN NEW.seq = OLD.seq BEGIN
	INSERT INTO changes (task, seq) VALUES (NEW.id, 0);
END;
`

// version5 knows what evidence is about: of a task the commit that it represents, of a seat what its agent found
// when it was started, and the verdicts that were there when the agent of a task's present status was started
// last.
const version5 = `
ALTER TABLE tasks ADD COLUMN subject TEXT NOT NULL DEFAULT '{}';
ALTER TABLE seats ADD COLUMN start TEXT NOT NULL DEFAULT '{}';
CREATE TABLE starts (
	task TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,
	PRIMARY KEY (task, source)
) WITHOUT ROWID;
`

// version4 numbers what happens to all tasks in the order of the commits: an event has its number of the task's
// history in seq, a change of a task without an event has 0, and the end of a task -1, with the project and the
// branch, which are recorded nowhere else.
//
// The database keeps the table by itself, so that no writer can forget it: not one of an earlier version that is
// still at work either. The greatest number is never deleted, because the end of a task is written before its
// events go: so no number is given twice. The events of before are numbered by their times; a clock that was set
// back does not change the order within a task.
const version4 = `
CREATE TABLE changes (
	number INTEGER PRIMARY KEY,
	task TEXT NOT NULL, seq INTEGER NOT NULL, project TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT ''
);
INSERT INTO changes (task, seq) SELECT task, seq FROM (
	SELECT task, seq, max(CASE WHEN json_valid(line) THEN coalesce(json_extract(line, '$.timestamp'), '') ELSE '' END)
		OVER (PARTITION BY task ORDER BY seq) AS at FROM events
) ORDER BY at, task, seq;
INSERT INTO changes (task, seq) SELECT id, 0 FROM tasks WHERE seq = 0;
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

// version3 knows how late a task is.
const version3 = `
ALTER TABLE tasks ADD COLUMN overdue INTEGER NOT NULL DEFAULT 0;
`

// version2 knows agents that live and do nothing.
const version2 = `
ALTER TABLE tasks ADD COLUMN stalled_at TEXT NOT NULL DEFAULT '';
CREATE INDEX open_seats ON seats (task) WHERE ended = 0;
`

const version1 = `
CREATE TABLE workflows (
	digest  TEXT PRIMARY KEY,
	name    TEXT NOT NULL,
	version INTEGER NOT NULL,
	text    BLOB NOT NULL
);
CREATE TABLE tasks (
	id TEXT PRIMARY KEY, project TEXT NOT NULL, branch TEXT NOT NULL, summary TEXT NOT NULL,
	harness TEXT NOT NULL, review_harness TEXT NOT NULL, effort TEXT NOT NULL, review_effort TEXT NOT NULL,
	status TEXT NOT NULL, previous TEXT NOT NULL, counters TEXT NOT NULL,
	workspace TEXT NOT NULL, session TEXT NOT NULL, pushed TEXT NOT NULL, attention TEXT NOT NULL,
	queued_for TEXT NOT NULL,
	workflow TEXT NOT NULL, workflow_version INTEGER NOT NULL, workflow_digest TEXT NOT NULL,
	live INTEGER NOT NULL, pr_url TEXT NOT NULL, pr_state TEXT NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL, entered_at TEXT NOT NULL,
	version INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX one_live_task_a_branch ON tasks (project, branch) WHERE live = 1;
CREATE INDEX tasks_by_project ON tasks (project, created_at);
CREATE INDEX queued_tasks ON tasks (project, updated_at) WHERE queued_for != '';
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
CREATE TABLE leases (
	workspace TEXT PRIMARY KEY, project TEXT NOT NULL, task TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
CREATE TABLE seats (
	hash TEXT PRIMARY KEY, task TEXT NOT NULL, role TEXT NOT NULL, hook INTEGER NOT NULL,
	pid INTEGER NOT NULL, began TEXT NOT NULL, ended INTEGER NOT NULL
);
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
`

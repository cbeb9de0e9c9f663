package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

const columns = `id, project, branch, summary, harness, review_harness, effort, review_effort, status, previous,
	counters, workspace, session, pushed, attention, queued_for, workflow, workflow_version, workflow_digest, live,
	pr_url, pr_state,
	created_at, updated_at, entered_at, stalled_at, overdue, subject, version, seq, hash`

// noSubject is the subject of a task that has none, as it is written.
const noSubject = "{}"

// values are a task's columns, in their order.
func values(t task.Task) ([]any, error) {
	if t.Counters == nil {
		t.Counters = task.Counters{}
	}
	counters, err := json.Marshal(t.Counters)
	if err != nil {
		return nil, fmt.Errorf("write counters: %w", err)
	}
	subject, err := json.Marshal(t.Subject)
	if err != nil {
		return nil, fmt.Errorf("write subject: %w", err)
	}
	return []any{
		t.ID, t.Project, t.Branch, t.Summary, t.Harness, t.ReviewHarness, t.Effort, t.ReviewEffort,
		string(t.Status), string(t.Previous), string(counters),
		t.Workspace, t.Session, t.Pushed, t.Attention, string(t.QueuedFor), t.Workflow.Name, t.Workflow.Version,
		t.Workflow.Digest, t.Live, t.PRURL, t.PRState,
		task.FormatTime(t.CreatedAt), task.FormatTime(t.UpdatedAt), task.FormatTime(t.EnteredAt),
		since(t.StalledAt), t.Overdue, string(subject), t.Version, t.Seq, t.Hash,
	}, nil
}

// since is a time that may never have come: then it is empty.
func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return task.FormatTime(t)
}

// reader reads tasks. What many of them have in common it keeps once.
type reader struct {
	words    map[string]string
	counters map[string]task.Counters
}

func newReader() *reader {
	return &reader{words: map[string]string{}, counters: map[string]task.Counters{}}
}

// share makes one text of all that are the same.
func (r *reader) share(words ...*string) {
	for _, word := range words {
		one, known := r.words[*word]
		if !known {
			one = *word
			r.words[one] = one
		}
		*word = one
	}
}

// count reads a task's counters. They are values, so that tasks which count alike may have the same ones.
func (r *reader) count(text string) (task.Counters, error) {
	if known, found := r.counters[text]; found {
		return known, nil
	}
	var c task.Counters
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	r.counters[text] = c
	return c, nil
}

func scanTask(scan func(...any) error) (task.Task, error) { return newReader().task(scan) }

// task names the task whose row it cannot read: the id comes first.
func (r *reader) task(scan func(...any) error) (t task.Task, err error) {
	defer func() {
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			t, err = task.Task{}, fmt.Errorf("read the row of task %q: %w", t.ID, err)
		}
	}()
	var counters, created, updated, entered, stalled, subject string
	err = scan(&t.ID, &t.Project, &t.Branch, &t.Summary, &t.Harness, &t.ReviewHarness, &t.Effort, &t.ReviewEffort,
		&t.Status, &t.Previous, &counters,
		&t.Workspace, &t.Session, &t.Pushed, &t.Attention, &t.QueuedFor, &t.Workflow.Name, &t.Workflow.Version,
		&t.Workflow.Digest, &t.Live, &t.PRURL, &t.PRState,
		&created, &updated, &entered, &stalled, &t.Overdue, &subject, &t.Version, &t.Seq, &t.Hash)
	if err != nil {
		return t, err
	}
	r.share(&t.Project, &t.Harness, &t.ReviewHarness, &t.Effort, &t.ReviewEffort, (*string)(&t.Status),
		(*string)(&t.Previous),
		&t.Workflow.Name, &t.Workflow.Digest, &t.PRState)
	if t.Counters, err = r.count(counters); err != nil {
		return t, err
	}
	if subject != noSubject {
		if err := json.Unmarshal([]byte(subject), &t.Subject); err != nil {
			return t, fmt.Errorf("read subject: %w", err)
		}
	}
	for _, pair := range []struct {
		text string
		into *time.Time
	}{{created, &t.CreatedAt}, {updated, &t.UpdatedAt}, {entered, &t.EnteredAt}, {stalled, &t.StalledAt}} {
		if pair.text == "" {
			continue
		}
		if *pair.into, err = time.Parse(task.TimeFormat, pair.text); err != nil {
			return t, fmt.Errorf("read time: %w", err)
		}
	}
	return t, nil
}

// briefColumns are the columns of a brief look. The driver takes about as long for a value as SQLite takes for a
// row: words, in which no control character can be, come as one value.
const briefColumns = `id || char(31) || project || char(31) || status || char(31) || branch || char(31) || session
	|| char(31) || queued_for || char(31) || workflow || char(31) || workflow_digest || char(31) || stalled_at
	|| char(31) || overdue, nullif(attention, ''), summary`

// briefRow is a row of a brief look as it comes.
type briefRow struct {
	words, summary string
	attention      sql.NullString
}

// task is what a list shows.
func (r briefRow) task() (t task.Task, err error) {
	t.Summary, t.Attention = r.summary, r.attention.String
	words, stalled, overdue := r.words, "", ""
	for _, into := range []*string{&t.ID, &t.Project, (*string)(&t.Status), &t.Branch, &t.Session,
		(*string)(&t.QueuedFor), &t.Workflow.Name, &t.Workflow.Digest, &stalled, &overdue} {
		*into, words, _ = strings.Cut(words, "\x1f")
	}
	if t.Overdue, err = strconv.Atoi(overdue); err == nil && stalled != "" {
		t.StalledAt, err = time.Parse(task.TimeFormat, stalled)
	}
	if err != nil {
		return task.Task{}, fmt.Errorf("read the row of task %q: %w", t.ID, err)
	}
	return t, nil
}

// briefly runs a question for rows of a brief look. The tasks, which are large, are made when their number is known.
func (s *Store) briefly(ctx context.Context, query string, args []any) ([]task.Task, error) {
	var rows []briefRow
	err := s.rows(ctx, query, args, func(scan func(...any) error) error {
		var r briefRow
		err := scan(&r.words, &r.attention, &r.summary)
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]task.Task, len(rows))
	for i, r := range rows {
		if out[i], err = r.task(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// wholly runs a question for whole rows. Tasks are large: a slice that grows would copy each of them several times, and
// leave as much behind as the tasks need themselves.
func (s *Store) wholly(ctx context.Context, query string, args []any) ([]task.Task, error) {
	const first, largest = 4, 1024
	all, last := newReader(), make([]task.Task, 0, first)
	var full [][]task.Task
	err := s.rows(ctx, query, args, func(scan func(...any) error) error {
		t, err := all.task(scan)
		if len(last) == cap(last) {
			full = append(full, last)
			last = make([]task.Task, 0, min(2*cap(last), largest))
		}
		last = append(last, t)
		return err
	})
	return slices.Concat(append(full, last)...), err
}

// Load reads everything that is known of one task. An unknown id is task.ErrNotFound.
func (s *Store) Load(ctx context.Context, id string) (record.Snapshot, error) {
	var snapshot record.Snapshot
	err := s.reading(ctx, func(tx *batch) error {
		var err error
		snapshot, err = load(ctx, tx, id)
		return err
	})
	if err != nil {
		return record.Snapshot{}, fmt.Errorf("load task %q: %w", id, err)
	}
	return snapshot, nil
}

func load(ctx context.Context, tx *batch, id string) (record.Snapshot, error) {
	t, err := loadTask(ctx, tx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return record.Snapshot{}, task.Notef(task.ErrNotFound, "there is no task %q", id)
	}
	if err != nil {
		return record.Snapshot{}, err
	}
	snapshot := record.Snapshot{Task: t}
	snapshot.Owed, err = hooks(ctx, tx, "task = ? AND state IN ('pending', 'failed')", id)
	if err != nil {
		return record.Snapshot{}, err
	}
	// All three in one question: who waits for a move waits for each of them.
	query := `SELECT 0, source, digest, seq FROM spent WHERE task = ?
		UNION ALL SELECT 1, source, digest, 0 FROM entries WHERE task = ?
		UNION ALL SELECT 2, source, digest, 0 FROM starts WHERE task = ? ORDER BY 4, 2`
	err = tx.each(ctx, query, []any{id, id, id}, func(scan func(...any) error) error {
		var kind int
		var found task.Spent
		err := scan(&kind, &found.Source, &found.Digest, &found.Seq)
		addEvidence(&snapshot, kind, found)
		return err
	})
	return snapshot, err
}

// addEvidence adds evidence of one of three kinds to what is on record of its task.
func addEvidence(s *record.Snapshot, kind int, found task.Spent) {
	const spent, entry = 0, 1
	switch kind {
	case spent:
		s.Spent = append(s.Spent, found)
	case entry:
		s.Entry = append(s.Entry, found.Evidence)
	default:
		s.Start = append(s.Start, found.Evidence)
	}
}

// loadTask reads the row of one task. Where there is none the error is sql.ErrNoRows.
func loadTask(ctx context.Context, tx *batch, id string) (task.Task, error) {
	return scanTask(func(into ...any) error {
		return tx.one(ctx, "SELECT "+columns+" FROM tasks WHERE id = ?", []any{id}, into...)
	})
}

// fewChanges are looked at for tasks that ended lately: callers poll for them, and pay for those alone.
const fewChanges = 300

// List finds tasks: live ones first, the newest first among them; queued ones in the order of their waiting; in any
// order where memory is to be spared.
func (s *Store) List(ctx context.Context, f record.Filter) ([]task.Task, error) {
	var where []string
	var args []any
	add := func(condition string, arg ...any) {
		where = append(where, condition)
		args = append(args, arg...)
	}
	switch {
	case f.Project != "" && f.Brief:
		// The index of projects would fetch the rows one by one, from all over the table: most homes have few projects,
		// and then it is quicker to go over all rows.
		add("+project = ?", f.Project)
	case f.Project != "":
		add("project = ?", f.Project)
	}
	if f.Status != "" {
		add("status = ?", string(f.Status))
	}
	if f.Branch != "" {
		add("branch = ?", f.Branch)
	}
	if f.Prefix != "" {
		// A range is found in the index; ids are ASCII, so none with the prefix comes behind its end.
		add("id >= ? AND id < ?", f.Prefix, f.Prefix+"\U0010FFFF")
	}
	if f.Live {
		add("live = 1")
	}
	if f.Over {
		add("workspace != '' AND live = 0")
	}
	if !f.EndedSince.IsZero() {
		add("id IN (SELECT task FROM changes WHERE number > (SELECT max(number) FROM changes) - ?) AND live = "+
			"0 AND updated_at >= ?",
			fewChanges, task.FormatTime(f.EndedSince))
	}
	order := "live DESC, created_at DESC, id"
	if f.Queued {
		add("queued_for != ''")
		order = "updated_at, id"
	}
	wanted := columns
	if f.Brief {
		wanted = briefColumns
	}
	query := "SELECT " + wanted + " FROM tasks"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	if !f.Sparing {
		query += " ORDER BY " + order
	}
	if f.Most > 0 {
		query += " LIMIT ?"
		args = append(args, f.Most)
	}
	var out []task.Task
	var err error
	if f.Brief {
		out, err = s.briefly(ctx, query, args)
	} else {
		out, err = s.wholly(ctx, query, args)
	}
	if err == nil && f.Sparing {
		err = s.use(ctx, func(b *batch) error { return b.script(ctx, "PRAGMA shrink_memory") })
	}
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return out, nil
}

// Events is a task's history from the event after the given number on.
func (s *Store) Events(ctx context.Context, id string, after int) ([]history.Event, error) {
	var out []history.Event
	err := s.rows(ctx, "SELECT line FROM events WHERE task = ? AND seq > ? ORDER BY seq", []any{id, after},
		func(scan func(...any) error) error {
			var line string
			if err := scan(&line); err != nil {
				return err
			}
			var e history.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				return err
			}
			out = append(out, e)
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("load history of task %q: %w", id, err)
	}
	return out, nil
}

// Lines is a task's history as the very bytes that its hashes cover, one a line.
func (s *Store) Lines(ctx context.Context, id string) ([]string, error) {
	lines, _, err := s.Tail(ctx, id, 0)
	return lines, err
}

// Tail is the end of a task's history, the lines after an event, and how many bytes the whole history has as a file,
// one line feed a line.
func (s *Store) Tail(ctx context.Context, id string, after int) (lines []string, bytes int64, err error) {
	err = s.reading(ctx, func(tx *batch) error {
		err := tx.one(ctx, "SELECT history_bytes FROM tasks WHERE id = ?", []any{id}, &bytes)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		query := "SELECT line FROM events WHERE task = ? AND seq > ? ORDER BY seq"
		return tx.each(ctx, query, []any{id, after}, func(scan func(...any) error) error {
			var line string
			err := scan(&line)
			lines = append(lines, line)
			return err
		})
	})
	if err != nil {
		return nil, 0, fmt.Errorf("load history of task %q: %w", id, err)
	}
	return lines, bytes, nil
}

// Holders reports which tasks have the workspaces of a project, or of all where none is named.
func (s *Store) Holders(ctx context.Context, project string) ([]record.Holder, error) {
	var out []record.Holder
	err := s.rows(
		ctx, `SELECT l.workspace, l.task, coalesce(t.branch, ''), coalesce(t.status, '') FROM leases l
		LEFT JOIN tasks t ON t.id = l.task
		WHERE l.project = ? OR ? = '' ORDER BY l.workspace`, []any{project, project},
		func(scan func(...any) error) error {
			var h record.Holder
			err := scan(&h.Workspace, &h.Task, &h.Branch, &h.Status)
			out = append(out, h)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	return out, nil
}

// Delete forgets a task, but for the fact that it ended: followers of the record see that. Its folder and its
// branch are not touched.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.within(ctx, func(tx *batch) error {
		for _, table := range []string{"events", "hooks", "spent", "entries", "starts", "leases", "seats",
			"waiters", "notices", "renderings"} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE task = ?", id); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM tasks WHERE id = ?", id)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete task %q: %w", id, err)
	}
	return nil
}

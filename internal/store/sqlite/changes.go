package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// Changed is the number of the newest change of any task: as long as it stays the same, every task's row and
// history do too, whichever process writes. It is one question that looks at one entry, however many tasks there
// are. Attempts to perform a hook, seats and waiters have no part in it until something of a task follows from
// them.
func (s *Store) Changed(ctx context.Context) (int64, error) {
	var number int64
	if err := s.one(ctx, newest, nil, &number); err != nil {
		return 0, fmt.Errorf("look for changes of the record: %w", s.explain(err))
	}
	return number, nil
}

const newest = "SELECT coalesce(max(number), 0) FROM changes"

// EventsSince reports what happened to all tasks behind a cursor, in the order in which it was committed, and the
// cursor to go on with: 0 begins at the first event that is on record, and Changed answers the one that leaves
// out all that has happened so far. Who always goes on with that cursor hears of every event once, those of one
// task in their order, and of a change while it is asked either now or the next time. It has heard of everything
// when the cursor stays where it was; a cursor that moves may still come with nothing to tell, since not more
// than limit changes are looked at, and a task may change without an event.
//
// A task that was deleted has no events any more: a later reader sees its end alone. One that was brought back is
// reported from its first event on. One question, whatever the limit.
func (s *Store) EventsSince(ctx context.Context, cursor int64, limit int) ([]history.Happening, int64, error) {
	var out []history.Happening
	err := s.rows(
		ctx, `SELECT c.number, c.task, c.seq, coalesce(t.project, c.project), coalesce(t.branch, c.branch), e.line
		FROM changes c LEFT JOIN events e ON e.task = c.task AND e.seq = c.seq
		LEFT JOIN tasks t ON t.id = c.task AND c.seq >= 0
		WHERE c.number > ? ORDER BY c.number LIMIT ?`, []any{cursor, limit}, func(scan func(...any) error) error {
			var h history.Happening
			var seq int
			var line sql.NullString
			if err := scan(&cursor, &h.Task, &seq, &h.Project, &h.Branch, &line); err != nil {
				return err
			}
			h.Cursor, h.Deleted = cursor, seq < 0
			if line.Valid {
				if err := json.Unmarshal([]byte(line.String), &h.Event); err != nil {
					return fmt.Errorf("event %d of task %q: %w", seq, h.Task, err)
				}
			}
			if line.Valid || h.Deleted {
				out = append(out, h)
			}
			return nil
		})
	if err != nil {
		return nil, 0, fmt.Errorf("load what happened: %w", err)
	}
	return out, cursor, nil
}

// TasksSince are the tasks whose row has changed behind a cursor, as they are now, the ids of those that were
// deleted, and the cursor to go on with. It is the same cursor that EventsSince and Changed have; all of it is
// one state of the record. Three questions, however many tasks there are; they cost as much as the changes behind
// the cursor.
func (s *Store) TasksSince(ctx context.Context,
	cursor int64) (changed []task.Task, gone []string, next int64, err error) {
	err = s.inOneState(ctx, func(tx *batch) error {
		if err := tx.one(ctx, newest, nil, &next); err != nil || next == cursor {
			return err
		}
		query := "SELECT " + columns + " FROM tasks WHERE id IN (SELECT task FROM changes WHERE number > ?) ORDER BY id"
		err := tx.each(ctx, query, []any{cursor}, func(scan func(...any) error) error {
			one, err := scanTask(scan)
			changed = append(changed, one)
			return err
		})
		if err != nil {
			return err
		}
		query = `SELECT DISTINCT task FROM changes c WHERE number > ? AND seq < 0
			AND NOT EXISTS (SELECT 1 FROM tasks WHERE id = c.task) ORDER BY task`
		gone, err = tx.texts(ctx, query, cursor)
		return err
	})
	if err != nil {
		return nil, nil, 0, fmt.Errorf("load the tasks that changed: %w", err)
	}
	return changed, gone, next, nil
}

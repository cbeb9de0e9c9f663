package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	codes "modernc.org/sqlite/lib"

	"orange/internal/rules/record"
)

// errDamagedRow is a row that has something in it that this program does not write.
var errDamagedRow = errors.New("the record is damaged")

// IsDamaged reports whether an error comes from a database file that is none, that is not as the library wrote it, or
// that has a row of a task which cannot be read.
func IsDamaged(err error) bool {
	if errors.Is(err, errDamagedRow) || errors.Is(err, errForeign) {
		return true
	}
	code := codeOf(err)
	return code == codes.SQLITE_CORRUPT || code == codes.SQLITE_NOTADB
}

// Check lists what is wrong with the database file itself and with the rows of tasks; nothing when it is whole. Of rows
// that cannot be read it names the first.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var out []string
	err := s.rows(ctx, "PRAGMA integrity_check(20)", nil, func(scan func(...any) error) error {
		var line string
		err := scan(&line)
		if line != "ok" {
			out = append(out, strings.Split(line, "\n")...)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		_, err = s.List(ctx, record.Filter{})
	}
	if IsDamaged(err) {
		return append(out, err.Error()), nil
	}
	if err != nil {
		return nil, fmt.Errorf("check the record: %w", err)
	}
	return out, nil
}

// AllLines calls visit with the history of every task, the bytes of one event each, task by task.
// The record is being read meanwhile: visit must not ask it anything.
func (s *Store) AllLines(ctx context.Context, visit func(id string, lines []string) error) error {
	var id string
	var lines []string
	err := s.rows(ctx, "SELECT task, line FROM events ORDER BY task, seq", nil, func(scan func(...any) error) error {
		var next, line string
		if err := scan(&next, &line); err != nil {
			return err
		}
		if next != id && id != "" {
			if err := visit(id, lines); err != nil {
				return err
			}
			lines = nil
		}
		id, lines = next, append(lines, line)
		return nil
	})
	if err == nil && id != "" {
		err = visit(id, lines)
	}
	if err != nil {
		return fmt.Errorf("load the histories: %w", err)
	}
	return nil
}

// IDs are the ids of all tasks, of one project where one is named, in their order. Of their rows nothing else is read.
func (s *Store) IDs(ctx context.Context, project string) ([]string, error) {
	return s.ids(ctx, "SELECT id FROM tasks WHERE project = ? OR ? = '' ORDER BY id", project, project)
}

// Strays are the ids of tasks that the record has events or changes of, and no row: deleting a task deletes those too.
func (s *Store) Strays(ctx context.Context) ([]string, error) {
	return s.ids(ctx, `WITH RECURSIVE past (task) AS (
			SELECT min(task) FROM events UNION ALL
			SELECT (SELECT min(task) FROM events WHERE events.task > past.task) FROM past WHERE past.task IS NOT NULL
		)
		SELECT task FROM past WHERE task IS NOT NULL AND task NOT IN (SELECT id FROM tasks)
		UNION SELECT task FROM changes WHERE seq >= 0 AND task NOT IN (SELECT id FROM tasks) ORDER BY 1`)
}

// ids are the answers of a question for the ids of tasks.
func (s *Store) ids(ctx context.Context, query string, args ...any) (out []string, err error) {
	err = s.use(ctx, func(b *batch) error {
		out, err = b.texts(ctx, query, args...)
		return s.explain(err)
	})
	if err != nil {
		return nil, fmt.Errorf("look for tasks: %w", err)
	}
	return out, nil
}

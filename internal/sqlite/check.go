package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"orange/internal/task"
)

// IsDamaged says whether an error comes from a database file that is none, or that is not as the library wrote it.
func IsDamaged(err error) bool {
	var from *sqlite.Error
	if !errors.As(err, &from) {
		return false
	}
	const primary = 0xff // an extended code has its primary one in the lowest byte
	code := from.Code() & primary
	return code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB
}

// Check lists what is wrong with the database file itself; nothing when it is whole.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var out []string
	err := s.rows(ctx, "PRAGMA quick_check(20)", nil, func(scan func(...any) error) error {
		var line string
		err := scan(&line)
		if line != "ok" {
			out = append(out, strings.Split(line, "\n")...)
		}
		return err
	})
	if IsDamaged(err) {
		return append(out, err.Error()), nil
	}
	if err != nil {
		return nil, fmt.Errorf("check the record: %w", err)
	}
	return out, nil
}

// Owed lists the hooks that are still owed, of all tasks.
func (s *Store) Owed(ctx context.Context) ([]task.OwedHook, error) {
	var out []task.OwedHook
	err := s.within(ctx, func(tx *batch) error {
		var err error
		out, err = hooks(ctx, tx, "state IN ('pending', 'failed')")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for owed hooks: %w", err)
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

package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"orange/internal/rules/history"
)

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

// Called are the numbers of the events of a task that a call has asked for.
func (s *Store) Called(ctx context.Context, call, id string) (seqs []int, err error) {
	err = s.rows(ctx, "SELECT seq FROM calls WHERE call = ? AND task = ? ORDER BY seq", []any{call, id},
		func(scan func(...any) error) error {
			var seq int
			err := scan(&seq)
			seqs = append(seqs, seq)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("look for what a call has come to: %w", err)
	}
	return seqs, nil
}

// Lines is a task's history as the very bytes that its hashes cover, one a line.
func (s *Store) Lines(ctx context.Context, id string) ([]string, error) {
	lines, _, err := s.Tail(ctx, id, 0)
	return lines, err
}

// Tail is the end of a task's history, the lines after an event, and how many bytes the whole history has as a file,
// one line feed a line.
func (s *Store) Tail(ctx context.Context, id string, after int) (lines []string, bytes int64, err error) {
	err = s.inOneState(ctx, func(tx *batch) error {
		err := tx.one(ctx, "SELECT history_bytes FROM tasks WHERE id = ?", []any{id}, &bytes)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		query := "SELECT line FROM events WHERE task = ? AND seq > ? ORDER BY seq"
		lines, err = tx.texts(ctx, query, id, after)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("load history of task %q: %w", id, err)
	}
	return lines, bytes, nil
}
